package node

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/estimator/node/loopback"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// The node against a server that runs as a process of its own, built from the
// server's module, killed without warning and started again.
func TestServerInAnotherProcess(t *testing.T) {
	if os.Getenv("DGM_SLOW") == "" {
		t.Skip("nats-server in a second process is built first; DGM_SLOW=1 runs it")
	}
	bin := filepath.Join(t.TempDir(), "nats-server")
	if out, err := exec.Command("go", "build", "-o", bin, "github.com/nats-io/nats-server/v2").CombinedOutput(); err != nil {
		t.Skipf("nats-server in a second process: it cannot be built here: %v: %s", err, out)
	}
	port := itoa(loopback.ReservedPort(t))
	launch := func() (kill func()) {
		ctx, cancel := context.WithCancel(context.Background())
		cmd := exec.CommandContext(ctx, bin, "-a", "127.0.0.1", "-p", port)
		if err := cmd.Start(); err != nil {
			cancel()
			t.Fatal(err)
		}
		return func() { cancel(); _ = cmd.Wait() }
	}
	kill := launch()
	defer func() { kill() }()
	url := "nats://127.0.0.1:" + port
	nc := connect(t, url, nil)
	run(t, nc, Config{Clock: SystemClock()}, pendulum())
	client := connect(t, url, nil)
	predictions := listen(t, client, wire.AllPredictions)
	robot(t, client)
	for range 50 {
		predictions.prediction()
	}
	kill()
	eventually(t, "the loss is noticed", func() bool { return !nc.IsConnected() && !client.IsConnected() })
	for len(predictions.msgs) > 0 {
		<-predictions.msgs
	}
	back := time.Now().UnixNano()
	kill = launch()
	for range 50 {
		if p := predictions.prediction(); p.T < back {
			t.Errorf("a prediction for a state %v before the server was back", time.Duration(back-p.T))
		}
	}
}
