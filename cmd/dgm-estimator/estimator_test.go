package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// A connection that closes while JetStream begins to watch it leaves the library waiting
// for a channel that is never made: nothing here could end that.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/nats-io/nats%2ego.(*js).resetPendingAcksOnReconnect"))
}

const patience = time.Minute

// buffer may be written and read at once.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) { b.mu.Lock(); defer b.mu.Unlock(); return b.b.Write(p) }
func (b *buffer) String() string              { b.mu.Lock(); defer b.mu.Unlock(); return b.b.String() }

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// modelFile writes a small model and returns its path.
func modelFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "flight.dgm")
	if err := model.WriteFile(path, artificial.New(artificial.Size{K: 2, P: 1, Features: 10, Points: 4, Horizon: 1}, 1)); err != nil {
		t.Fatal(err)
	}
	return path
}

// startServer starts a server on the loopback.
func startServer(t *testing.T, port int) *server.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, NoLog: true, NoSigs: true, NoFastProducerStall: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server does not start")
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s
}

// natsServer starts a server on the loopback and a client that sends a state of
// vehicle pend1 every 10 ms.
func natsServer(t *testing.T) (url string, client *nats.Conn) {
	t.Helper()
	return statesServer(t, 0.1)
}

// statesServer is natsServer for a vehicle with other inputs.
func statesServer(t *testing.T, u ...float64) (url string, client *nats.Conn) {
	t.Helper()
	s := startServer(t, server.RANDOM_PORT)
	client, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for seq := uint64(1); ; seq++ {
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
				st := wire.State{Seq: seq, T: time.Now().UnixNano(), X: []float64{0.5, -0.25}, U: u}
				_ = client.Publish(wire.StateSubject("pend1"), st.Append(nil))
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-done })
	return s.ClientURL(), client
}

// estimate runs the command until stop, which returns its exit code.
func estimate(t *testing.T, out, messages io.Writer, args ...string) (stop func() int) {
	t.Helper()
	root := command()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(messages)
	ctx, cancel := context.WithCancel(context.Background())
	code := make(chan int, 1)
	go func() { code <- cli.Run(ctx, root) }()
	var once sync.Once
	got := -1
	stop = func() int {
		once.Do(func() {
			cancel()
			select {
			case got = <-code:
			case <-time.After(patience):
				t.Error("the command does not end")
			}
		})
		return got
	}
	t.Cleanup(func() { stop() })
	return stop
}

func TestServesUntilInterrupted(t *testing.T) {
	url, client := natsServer(t)
	predictions := make(chan []byte, 10000)
	if _, err := client.Subscribe("dgm.predict.pend1", func(m *nats.Msg) { predictions <- m.Data }); err != nil {
		t.Fatal(err)
	}
	var out, messages buffer
	stop := estimate(t, &out, &messages, "--model", modelFile(t), "--vehicle", "pend1", "--nats", url, "--times", "0.1s,250ms")
	var p wire.Prediction
	for whole := 0; whole < 5; {
		select {
		case b := <-predictions:
			if err := p.Decode(b); err != nil {
				t.Fatal(err)
			}
			if p.Flags&wire.Shortened == 0 { // else the computer is busy
				whole++
			}
		case <-time.After(patience):
			t.Fatalf("no prediction; it logs %s", messages.String())
		}
	}
	if p.Vehicle != "pend1" || len(p.Horizon) != 2 || p.Horizon[1] != 0.25 || len(p.Mean) != 4 || p.ValidUntil-p.T != 250e6 {
		t.Errorf("predicted %+v", p)
	}
	if err := errors.Join(client.Publish("dgm.state.pend1", []byte("no map")), client.Flush()); err != nil {
		t.Fatal(err)
	}
	if code := stop(); code != cli.Done {
		t.Errorf("exit code %d: %s", code, messages.String())
	}
	if !strings.Contains(out.String(), "were answered; not used: 1 malformed") || !strings.Contains(messages.String(), "2 states and 1 input, 2 points up to 0.25 s") {
		t.Errorf("logged %q and %q", out.String(), messages.String())
	}
}

func TestExitCodes(t *testing.T) {
	good := modelFile(t)
	missing := filepath.Join(t.TempDir(), "missing")
	broken := filepath.Join(t.TempDir(), "broken.toml")
	if err := os.WriteFile(broken, []byte("modle = 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	trusting := filepath.Join(t.TempDir(), "trusting.toml")
	writeFile(t, trusting, fmt.Appendf(nil, "model = %q\ntrust_file = %q\n", good, good))
	b, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	flipped := filepath.Join(t.TempDir(), "flipped.dgm")
	if err := os.WriteFile(flipped, b, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		part string
	}{
		"nothing":          {nil, cli.Wrong, "no model given"},
		"unknown flag":     {[]string{"--modle", "a"}, cli.Wrong, "--modle"},
		"an argument":      {[]string{"a"}, cli.Wrong, "a"},
		"vehicle":          {[]string{"--model", good, "--vehicle", "a.b"}, cli.Wrong, "cannot be part of a subject"},
		"points and times": {[]string{"--model", good, "--points", "3", "--times", "1s"}, cli.Wrong, "choose one"},
		"clock":            {[]string{"--model", good, "--clock", "moon"}, cli.Wrong, "clock"},
		"no such model":    {[]string{"--model", missing}, cli.Failed, missing},
		"flipped bit":      {[]string{"--model", flipped}, cli.Failed, flipped},
		"beyond horizon":   {[]string{"--model", good, "--times", "5s"}, cli.Failed, "outside the model's horizon"},
		"no such config":   {[]string{"--config", missing}, cli.Failed, missing},
		"broken config":    {[]string{"--config", broken}, cli.Failed, "unknown key \"modle\""},
		"record is model":  {[]string{"--model", good, "--record", good}, cli.Wrong, "is read and would be replaced"},
		"record folder":    {[]string{"--model", good, "--record", filepath.Join(missing, "out.msgpack")}, cli.Failed, "record: " + filepath.Join(missing, "out.msgpack") + ": cannot be written"},
		"trust is model":   {[]string{"--config", trusting}, cli.Wrong, "is read and would be replaced"},
		"no credentials":   {[]string{"--model", good, "--creds", missing}, cli.Failed, missing},
		"key alone":        {[]string{"--model", good, "--tls-key", missing}, cli.Failed, "needs its key"},
		"print-config":     {[]string{"--print-config"}, cli.Done, ""},
	} {
		var out, messages bytes.Buffer
		root := command()
		root.SetArgs(c.args)
		root.SetOut(&out)
		root.SetErr(&messages)
		code := cli.Run(context.Background(), root)
		if code != c.code || !strings.Contains(messages.String(), c.part) || strings.Count(messages.String(), "\n") > 1 {
			t.Errorf("%s: code %d, logged %q", name, code, messages.String())
		}
		if c.code == cli.Done && out.String() != template {
			t.Errorf("%s printed %q", name, out.String())
		}
	}
}

func TestServerIsAwaited(t *testing.T) {
	var out, messages buffer
	stop := estimate(t, &out, &messages, "--model", modelFile(t), "--vehicle", "pend1", "--nats", "nats://127.0.0.1:1")
	eventually(t, "logs that it tries again", func() bool { return strings.Contains(messages.String(), "trying again") })
	if code := stop(); code != cli.Done {
		t.Errorf("exit code %d", code)
	}
}

// The program as it is started in earnest: as a process, ended by SIGTERM, with a
// planner in Go beside it.
func TestProcessesAndPlanners(t *testing.T) {
	if os.Getenv("DGM_SLOW") == "" {
		t.Skip("programs as processes are built first; DGM_SLOW=1 runs it")
	}
	url, client := natsServer(t)
	build := func(pkg string) string {
		bin := filepath.Join(t.TempDir(), "program")
		if out, err := exec.Command("go", "build", "-o", bin, pkg).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", pkg, err, out)
		}
		return bin
	}
	var messages, out buffer
	cmd := exec.Command(build("."), "--model", modelFile(t), "--vehicle", "pend1", "--nats", url)
	cmd.Stdout, cmd.Stderr = &out, &messages
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	statuses := make(chan *nats.Msg, 10000)
	if _, err := client.ChanSubscribe(wire.AllStatuses, statuses); err != nil {
		t.Fatal(err)
	}
	printed, answered := []string{"pend1 x0 in 1 s: ", "pend1 x1 in 1 s: ", " ± "}, []string{"input goes on, in 1 s: ", "input ends halfway, in 1 s: ", " ± "}
	t.Run("go", func(t *testing.T) {
		prints(t, exec.Command(build("../../examples/planner-go"), url), printed)
		whatIf, mpc := build("../../examples/whatif-go"), build("../../examples/mpc-go")
		for _, program := range []string{whatIf, mpc} {
			out, err := exec.Command(program, "nobody", url).CombinedOutput()
			if want := `no estimator answers for the vehicle "nobody"; dgm-estimator status --nats ` + url; err == nil || !strings.Contains(string(out), want) {
				t.Errorf("%v, no %q in %q", err, want, out)
			}
		}
		prints(t, exec.Command(whatIf, "pend1", url), answered)
		prints(t, exec.Command(mpc, "pend1", url), []string{"at [", "]: command [", "], in 1 s at ["})
	})
	t.Run("python", func(t *testing.T) {
		name := cmp.Or(os.Getenv("DGM_PYTHON"), "python3")
		python := func(args ...string) *exec.Cmd {
			c := exec.Command(name, args...)
			c.Env = append(os.Environ(), "PYTHONPATH=../../python", "PYTHONDONTWRITEBYTECODE=1")
			return c
		}
		if out, err := python("-c", "import nats, msgpack").CombinedOutput(); err != nil {
			t.Skipf("planner in Python: python3 with nats-py and msgpack is not here: %v %s", err, out)
		}
		prints(t, python("../../examples/planner-python/planner.py", url), printed)
		if out, err := python("-c", "import numpy").CombinedOutput(); err != nil {
			t.Skipf("whatif-python and the planner of PROTOCOL.md: python3 with numpy is not here: %v %s", err, out)
		}
		prints(t, python("../../examples/whatif-python/whatif.py", "pend1", url), answered)
		for _, args := range [][]string{{"nobody", url}, {}} {
			out, err := python(append([]string{"../../examples/whatif-python/whatif.py"}, args...)...).CombinedOutput()
			if err == nil || !strings.Contains(string(out), "dgm-estimator status lists") || strings.Contains(string(out), "Traceback") {
				t.Errorf("%v: %v, %s", args, err, out)
			}
		}
		page, err := os.ReadFile("../../estimator/wire/PROTOCOL.md")
		if err != nil {
			t.Fatal(err)
		}
		_, program, _ := strings.Cut(string(page), "```python planner\n")
		program, _, _ = strings.Cut(program, "```")
		prints(t, python("-c", program, "pend1", url), []string{"at the end of the horizon: [[", "× channels: (20, 4, 2)"})
	})
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v: %s", err, messages.String())
	}
	if !strings.Contains(out.String(), "pend1: ") {
		t.Errorf("logged %q", out.String())
	}
	if err := client.Flush(); err != nil { // the last status was published before the process ended
		t.Fatal(err)
	}
	var last wire.Status
	for len(statuses) > 0 {
		if err := last.Decode((<-statuses).Data); err != nil {
			t.Fatal(err)
		}
	}
	sum := last.Published
	for _, r := range last.Reasons {
		sum += r.Count
	}
	if last.Published == 0 || sum != last.Received {
		t.Errorf("the last status accounts for %d of %d states: %+v", sum, last.Received, last)
	}
}

// prints runs a program until it has printed all parts.
func prints(t *testing.T, cmd *exec.Cmd, parts []string) {
	t.Helper()
	var out buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	end := time.Now().Add(patience)
	for slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(out.String(), part) }) {
		if time.Now().After(end) {
			t.Fatalf("it logs %q", out.String())
		}
		time.Sleep(5 * time.Millisecond)
	}
}
