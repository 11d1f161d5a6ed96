package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
)

func sim(args ...string) (code int, out, errs string) {
	root := command()
	var o, e bytes.Buffer
	root.SetOut(&o)
	root.SetErr(&e)
	root.SetArgs(args)
	code = cli.Run(context.Background(), root)
	return code, o.String(), e.String()
}

func TestEverySystemIsRecordedAndListed(t *testing.T) {
	_, list, _ := sim("list")
	for _, name := range plant.Names() {
		if !strings.Contains(list, "\n"+name+": ") && !strings.HasPrefix(list, name+": ") {
			t.Errorf("%s is not listed", name)
		}
		dir := t.TempDir()
		path, truth := filepath.Join(dir, "a.msgpack"), filepath.Join(dir, "b.msgpack")
		code, out, errs := sim("record", "--system", name, "--out", path, "--truth", truth, "--duration", "1s",
			"--segments", "2", "--fault", "dropout=0.1", "--plan-horizon", "200ms")
		if code != cli.Done || !strings.HasPrefix(out, path+": "+name+", 2 x 1 s at 200 Hz, ") {
			t.Fatalf("%s: exit %d, %s %s", name, code, out, errs)
		}
		log, err := flightlog.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		exact, err := flightlog.ReadFile(truth)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := plant.Named(name)
		if len(log.Segments) != 2 || len(exact.Segments[1].T) != 201 || len(log.Channels) != len(p.Channels()) {
			t.Errorf("%s: %d segments, %d exact samples", name, len(log.Segments), len(exact.Segments[1].T))
		}
	}
}

func TestFlagsReachTheFlight(t *testing.T) {
	dir := t.TempDir()
	record := func(args ...string) *flightlog.Log {
		t.Helper()
		path := filepath.Join(dir, "a.msgpack")
		if code, _, errs := sim(append([]string{"record", "--system", "pendulum", "--out", path}, args...)...); code != cli.Done {
			t.Fatalf("%v: exit %d: %s", args, code, errs)
		}
		log, err := flightlog.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return log
	}
	log := record("--points", "101", "--duration", "2s", "--noise", "0", "--x0", "omega=1.5", "--vehicle", "p7")
	s := log.Segments[0]
	if len(s.T) != 101 || s.T[1] != 20e6 || s.T[100] != 2e9 || !slices.Equal(s.X[:2], []float64{0, 1.5}) || log.Vehicle != "p7" {
		t.Errorf("%d points, first at %v, vehicle %s", len(s.T), s.X[:2], log.Vehicle)
	}
	log = record("--duration", "100ms", "--noise", "0.5,theta=0.3", "--x0", "0.1,0.2", "--rate", "50")
	if n := []float64{log.Channels[0].Noise, log.Channels[1].Noise}; !slices.Equal(n, []float64{0.3, 0.025}) {
		t.Errorf("noise %v", n)
	}
	if s := log.Segments[0]; !slices.Equal(s.X0, []float64{0.1, 0.2}) || len(s.T) != 6 {
		t.Errorf("begins at %v, %d samples", s.X0, len(s.T))
	}
	light := record("--duration", "1s", "--noise", "0", "--param", "m=0.1", "--param", "b=0.2", "--seed", "3")
	usual := record("--duration", "1s", "--noise", "0", "--seed", "3")
	if slices.Equal(light.Segments[0].X, usual.Segments[0].X) || !slices.Equal(light.Segments[0].U, usual.Segments[0].U) {
		t.Error("another mass must change the states and not the torque")
	}
	if !strings.Contains(light.Source, "seed 3") || !strings.Contains(light.Source, "m=0.1, b=0.2") {
		t.Errorf("source %q", light.Source)
	}
	windy := record("--duration", "1s", "--noise", "0", "--seed", "3", "--fault", "wind=0.1")
	if slices.Equal(windy.Segments[0].X, usual.Segments[0].X) {
		t.Error("wind does nothing")
	}
}

func TestWrongUsageAndFailures(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "a.msgpack")
	cases := []struct {
		args string
		code int
		part string
	}{
		{"record --out X", cli.Wrong, `"system" not set`},
		{"record --system pendulum", cli.Wrong, `"out" not set`},
		{"record --system pendulumm --out X", cli.Wrong, "known are quadrotor, planar-quadrotor, pendulum, cartpole, lotka-volterra, lorenz, double-pendulum, quadrotor-paper"},
		{"record --system pendulum --out X --rate 0", cli.Wrong, "--rate 0"},
		{"record --system pendulum --out X --rate NaN", cli.Wrong, "--rate NaN"},
		{"record --system pendulum --out X --duration 1ms", cli.Wrong, "1 samples"},
		{"record --system pendulum --out X --duration -1s", cli.Wrong, "--duration -1s"},
		{"record --system pendulum --out X --duration 720h --rate 100000", cli.Wrong, "can be recorded"},
		{"record --system pendulum --out X --points 1", cli.Wrong, "--points 1"},
		{"record --system pendulum --out X --points 10 --rate 5", cli.Wrong, "rate points"},
		{"record --system pendulum --out X --vehicle ü", cli.Wrong, "--vehicle: vehicle \"ü\": 'ü' cannot be part of a subject"},
		{"record --system pendulum --out X --vehicle a/b", cli.Wrong, "--vehicle"},
		{"record --system pendulum --out X --segments 0", cli.Wrong, "--segments 0"},
		{"record --system pendulum --out X --x0 1", cli.Wrong, "1 values for the 2 states theta, omega"},
		{"record --system pendulum --out X --x0 phi=1", cli.Wrong, `"phi" is unknown, known are theta, omega`},
		{"record --system pendulum --out X --x0 theta=x", cli.Wrong, `"x" is not a number`},
		{"record --system pendulum --out X --x0 Inf,0", cli.Wrong, `"Inf" is not a number`},
		{"record --system pendulum --out X --noise -1", cli.Wrong, "must be a factor"},
		{"record --system pendulum --out X --noise theta=-1", cli.Wrong, "theta is negative"},
		{"record --system pendulum --out X --param q=1", cli.Wrong, `constant "q" is unknown, known are g, m, l, b`},
		{"record --system pendulum --out X --param m", cli.Wrong, "is not a number"},
		{"record --system pendulum --out X --fault gremlin=1", cli.Wrong, `dgm-sim: --fault "gremlin" is unknown; known are delay, bias, spike, freeze, jitter, clock-jump, dropout, wind, payload, worn, late (see`},
		{"record --system pendulum --out X --fault bias=1", cli.Wrong, "dgm-sim: --fault bias=1: name the state it is for; write bias=0.05@theta or bias=0.05:10s@theta (from 10 s on) (see"},
		{"record --system pendulum --out X --fault wind=x", cli.Wrong, "write wind=0.5 or wind=0.5:2s (gusts"},
		{"record --system pendulum --out X --seed -1", cli.Wrong, "--seed -1 is not a whole number from 0 on"},
		{"record --system pendulum --out X --fault wind=-1", cli.Wrong, "wind=-1"},
		{"record --system lorenz --out X --fault wind=1", cli.Wrong, "no disturbance for wind"},
		{"record --system lorenz --out X --fault payload=1", cli.Wrong, "payload=1: system lorenz cannot carry a payload"},
		{"record --system lorenz --out X --fault worn=1", cli.Wrong, "no inputs that can wear"},
		{"record --system pendulum --out X --fault worn=0.2@F1", cli.Wrong, `input "F1" is unknown, known are torque; write worn=`},
		{"record --system pendulum --out X --fault payload=-1", cli.Wrong, "write payload="},
		{"record --system pendulum --out X --plan-horizon -1s", cli.Wrong, "horizon must be positive"},
		{"record --system pendulum --out X --plan-horizon 1000h", cli.Wrong, "--plan-horizon 1000h0m0s must be at most 1m0s"},
		{"record --system pendulum --out X --truth X", cli.Wrong, "written twice"},
		{"record --system pendulum --out X/a", cli.Failed, "cannot be written"},
		{"record --system pendulum --out X --truth X/a", cli.Failed, "cannot be written"},
		{"record --system pendulum --out X --param m=0", cli.Failed, "no longer finite"},
		{"live --system pendulum", cli.Wrong, `"vehicle" not set`},
		{"live --system pendulum --vehicle a.b", cli.Wrong, `"a.b"`},
		{"live --system submarine --vehicle a", cli.Wrong, "known are quadrotor"},
		{"live --system pendulum --vehicle a --duration -1s", cli.Wrong, "--duration"},
		{"live --system pendulum --vehicle a --nats nats://127.0.0.1:x", cli.Failed, "NATS at nats://127.0.0.1:x"},
		{"live --system pendulum --vehicle a --nats nats://127.0.0.1:1 --duration 50ms", cli.Failed, "no server answered"},
	}
	for _, c := range cases {
		code, stdout, errs := sim(strings.Fields(strings.ReplaceAll(c.args, "X", out))...)
		lines := strings.Split(strings.TrimSpace(errs), "\n")
		if code != c.code || !strings.Contains(lines[len(lines)-1], c.part) || stdout != "" {
			t.Errorf("%s: exit %d, %q, want %d, %q", c.args, code, errs, c.code, c.part)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("%s: left %v behind", c.args, left)
		}
	}
}

func TestLive(t *testing.T) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.Shutdown()
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not come up")
	}
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	sub, err := nc.SubscribeSync(wire.StateSubject("pend1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	code, out, errs := sim("live", "--system", "pendulum", "--vehicle", "pend1", "--nats", s.ClientURL(), "--rate", "100", "--duration", "200ms")
	if code != cli.Done || !strings.HasPrefix(out, "pend1: ") ||
		!strings.Contains(errs, "pendulum as dgm.state.pend1 at 100 Hz: states theta omega, inputs torque, a plan of 50 rows over 1s") {
		t.Fatalf("exit %d, %q, %q", code, out, errs)
	}
	// A machine that stands still for a moment may skip some, never reorder them.
	sent, _ := strconv.Atoi(strings.Fields(out)[1])
	if sent < 1 || sent > 20 {
		t.Fatalf("%d states sent", sent)
	}
	var state wire.State
	next := uint64(0)
	for range sent {
		m, err := sub.NextMsg(time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if err := state.Decode(m.Data, 2, 1); err != nil || state.Seq < next || len(state.Plan) != 50 {
			t.Fatalf("%+v %v", state, err)
		}
		next = state.Seq + 1
	}
}
