package main

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// The robots in Go and in C send states that an estimator reads, numbered, at their rate, with the time of the measurement.
func TestRobotsSendStates(t *testing.T) {
	if os.Getenv("DGM_SLOW") == "" {
		t.Skip("builds the examples; DGM_SLOW=1 runs it")
	}
	dir := t.TempDir()
	t.Run("go", func(t *testing.T) {
		program := filepath.Join(dir, "robot-go")
		build(t, "go", "build", "-o", program, ".")
		checkRobot(t, program)
	})
	t.Run("c", func(t *testing.T) {
		const includes = "#include <nats/nats.h>\n#include <msgpack.h>\n"
		if b, err := exec.Command("sh", "-c", "printf '"+includes+"' | cc -E - -o /dev/null").CombinedOutput(); err != nil {
			t.Skipf("needs cc, libnats-dev and libmsgpack-dev: %v: %s", err, b)
		}
		program := filepath.Join(dir, "robot-c")
		build(t, "cc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "../robot-c/robot.c", "-o", program, "-lnats", "-lmsgpackc", "-lm")
		checkRobot(t, program)
	})
}

func build(t *testing.T, name string, args ...string) {
	t.Helper()
	if b, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, b)
	}
}

func checkRobot(t *testing.T, program string) {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.Shutdown()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	sub, err := nc.SubscribeSync(wire.StateSubject("v7"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	robot := exec.CommandContext(ctx, program, s.ClientURL(), "v7")
	if err := robot.Start(); err != nil {
		t.Fatal(err)
	}
	defer robot.Wait()
	defer cancel()
	var first, last wire.State
	for i := range 40 {
		m, err := sub.NextMsg(10 * time.Second)
		if err != nil {
			t.Fatalf("state %d: %v", i, err)
		}
		last = wire.State{}
		if err := last.Decode(m.Data, 1, 0); err != nil {
			t.Fatalf("state %d: %v", i, err)
		}
		if age := time.Since(time.Unix(0, last.T)); age < 0 || age > 5*time.Second {
			t.Fatalf("state %d was measured %v ago", i, age)
		}
		if math.Abs(last.X[0]-math.Pi) > 1.5 {
			t.Fatalf("state %d has the angle %v", i, last.X[0])
		}
		if i == 0 {
			first = last
		}
	}
	if got := last.Seq - first.Seq; got != 39 {
		t.Errorf("40 states are numbered %d to %d", first.Seq, last.Seq)
	}
}
