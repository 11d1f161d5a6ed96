package node

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/node/internal/prediction"
	"github.com/dgm-robotics/dgm/estimator/trust"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// What was learned about the intervals of a model is there again after a restart,
// for that model only; a file that is damaged or cannot be written costs nothing
// else.
func TestTrustStateIsRestoredAfterARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trust")
	last := func(n *Node, c *clock, states int) *wire.Prediction {
		t.Helper()
		var p wire.Prediction
		c.pass(1000 * ms) // any seq goes
		for i := range uint64(states) {
			c.pass(50 * ms)
			// Far off what the model expects, so that factors grow.
			s := wire.State{Seq: i + 1, T: c.unix, X: []float64{3 * math.Sin(float64(i)), 3 * math.Cos(float64(i)*1.7)}}
			n.intake.Receive(s.Append(nil), 0)
			task := prediction.Task{Arrival: n.intake.Mailbox.Get(), Fresh: true, Due: c.steady, Clock: n.cfg.Clock}
			m, r := n.worker.engine.Step(&task)
			if r != wire.OK {
				t.Fatal(r)
			}
			n.worker.engine.Learn(&task)
			p = m.Prediction
		}
		return &p
	}
	n, c, _, _ := offline(t, Config{TrustFile: path})
	if p := last(n, c, 400); p.Factor[len(p.Factor)-1] < 2 || p.Flags&wire.Miscalibrated == 0 {
		t.Fatalf("the intervals were fooled by little: %v", p.Factor)
	}
	n.status.snapshot.request(true)
	n.status.snapshot.update(n.worker.engine, n.cfg.Clock)
	n.keepStates()

	again, c, _, _ := offline(t, Config{TrustFile: path})
	if p := last(again, c, 1); p.Factor[len(p.Factor)-1] < 2 || p.Flags&wire.Miscalibrated == 0 {
		t.Errorf("after a restart: factor %v, flags %b", p.Factor, p.Flags)
	}
	if err := again.Swap(otherPendulum(5)); err != nil {
		t.Fatal(err)
	}
	again.worker.useNext()
	if p := last(again, c, 1); p.Factor[0] != 1 || p.Flags&wire.Miscalibrated != 0 {
		t.Errorf("another model: factor %v, flags %b", p.Factor, p.Flags)
	}

	if err := os.WriteFile(path, []byte("damage"), 0o600); err != nil {
		t.Fatal(err)
	}
	damaged, c, _, _ := offline(t, Config{TrustFile: path})
	if p := last(damaged, c, 1); p.Factor[0] != 1 {
		t.Errorf("from a damaged file: factor %v", p.Factor)
	}
	var logged lines
	nowhere, _, _, _ := offline(t, Config{TrustFile: filepath.Join(path, "no", "folder"), Log: logged.add})
	for range 2 {
		nowhere.status.snapshot.request(true)
		nowhere.status.snapshot.update(nowhere.worker.engine, nowhere.cfg.Clock)
		nowhere.keepStates()
	}
	if len(logged.lines) != 1 || !strings.Contains(logged.lines[0], "are not saved") {
		t.Errorf("logged %q", logged.lines)
	}
}

// The alarms of a model are not reported under the name of the next one.
func TestTrustIsOfTheModelInUse(t *testing.T) {
	n, err := New(Config{Vehicle: "v1"}, pendulum())
	if err != nil {
		t.Fatal(err)
	}
	n.worker.snapshot.report.Model = n.Model()
	n.worker.snapshot.report.Trust = trust.Report{Alarms: 3, Checks: []float64{7}}
	if s := n.compose(0); s.Miscalibrated != 3 || len(s.Checks) != 1 {
		t.Errorf("%d alarms", s.Miscalibrated)
	}
	if err := n.Swap(otherPendulum(2)); err != nil {
		t.Fatal(err)
	}
	if s := n.compose(0); s.Miscalibrated != 0 || len(s.Checks) != 0 {
		t.Errorf("%d alarms of the model before", s.Miscalibrated)
	}
}
