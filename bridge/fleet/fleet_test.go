package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// hangs, in the environment, makes this process a worker of the server at that address whose
// training does not end.
const hangs = "FLEET_TEST_WORKER_OF"

func TestMain(m *testing.M) {
	url := os.Getenv(hangs)
	if url == "" {
		os.Exit(m.Run())
	}
	nc, err := nats.Connect(url)
	if err != nil {
		panic(err)
	}
	w, err := open(context.Background(), nc)
	if err != nil {
		panic(err)
	}
	w.Name = "hanging"
	w.Train = func(ctx context.Context, _ Training) (Model, error) {
		fmt.Println("training")
		select {}
	}
	_ = w.Run(context.Background())
}

// eventually waits for up to a minute until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not after a minute: %s", what)
		}
	}
}

// closed waits for up to a minute until a channel is closed.
func closed(t *testing.T, c <-chan bool, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatalf("not after a minute: %s", what)
	}
}

// lease of jobs in tests.
const lease = 400 * time.Millisecond

// serve starts a server with an empty fleet.
func serve(t *testing.T, s Settings) *server.Server {
	t.Helper()
	ns := startServer(t, &server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true,
	})
	s.Lease = lease
	if err := Setup(t.Context(), connect(t, ns), s); err != nil {
		t.Fatal(err)
	}
	return ns
}

// startServer starts a server for a test.
func startServer(t *testing.T, o *server.Options) *server.Server {
	t.Helper()
	ns, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	ns.Start()
	t.Cleanup(func() { ns.Shutdown(); ns.WaitForShutdown() })
	if !ns.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not start")
	}
	return ns
}

func connect(t *testing.T, ns *server.Server) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(ns.ClientURL(), nats.MaxReconnects(-1), nats.ReconnectBufSize(-1), nats.ReconnectWait(20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// open returns a worker without a name and a training.
func open(ctx context.Context, nc *nats.Conn) (*Worker, error) {
	l, e1 := OpenLogs(ctx, nc)
	q, e2 := OpenQueue(ctx, nc)
	m, e3 := OpenModels(ctx, nc)
	return &Worker{Version: "test", Logs: l, Queue: q, Models: m, Log: func(string) {}}, errors.Join(e1, e2, e3)
}

func client(t *testing.T, ns *server.Server) *Worker {
	t.Helper()
	w, err := open(t.Context(), connect(t, ns))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// start runs a worker; the function returned stops it and waits.
func start(t *testing.T, ns *server.Server, name string, train func(context.Context, Training) (Model, error)) (stop func()) {
	t.Helper()
	w := client(t, ns)
	w.Name, w.Train, w.Dir, w.Log = name, train, t.TempDir(), func(line string) { t.Log(line) }
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = w.Run(ctx) })
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	t.Cleanup(stop)
	return stop
}

// writeLog writes a log of one state; the samples differ with the seed.
func writeLog(t *testing.T, vehicle string, samples, seed int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), fmt.Sprintf("%s-%d.msgpack", vehicle, seed))
	f, err := flightlog.CreateFile(path, flightlog.Header{Vehicle: vehicle, Channels: []channel.Channel{{Name: "angle", Unit: "rad", Role: channel.State}}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	if err := f.BeginSegment("one", nil); err != nil {
		t.Fatal(err)
	}
	for i := range samples {
		if err := f.Sample(int64(i+1)*10e6, []float64{float64(seed) + float64(i)}, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	return path
}

// submitted uploads a log and queues a job on it.
func submitted(t *testing.T, c *Worker, vehicle string) Job {
	t.Helper()
	log, _, err := c.Logs.Upload(t.Context(), writeLog(t, vehicle, 50, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	j := NewJob(vehicle, []string{log.ID}, "horizon = \"1s\"\n", "v1")
	s, err := c.Queue.Submit(t.Context(), j, false)
	if err != nil || s.State != Queued {
		t.Fatalf("%+v, %v", s, err)
	}
	return j
}
