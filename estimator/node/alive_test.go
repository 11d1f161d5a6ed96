package node

import (
	"testing"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

func TestAliveOnlyWhileWorkIsDone(t *testing.T) {
	n, c, nc, _ := offline(t, Config{})
	for range 2 {
		if !n.Alive() {
			t.Error("without work to do it is not alive")
		}
	}
	c.arrive(n, 1, 0, 0.1, 0.2)
	if !n.Alive() {
		t.Error("a state that has just come is no sign of death")
	}
	if n.Alive() {
		t.Error("a state waits for long, and it reports that it is alive")
	}
	n.worker.answer(nc, n.intake.Mailbox.Get())
	c.pass(10 * ms)
	c.arrive(n, 2, 0, 0.1, 0.2)
	if !n.Alive() {
		t.Error("it has answered, and another state waits")
	}
	for seq := range uint64(2 * burst) { // nobody answers, and newer ones come
		c.pass(10 * ms)
		c.arrive(n, 3+seq, 0, 0.1, 0.2)
		if n.Alive() {
			t.Errorf("no answer since state 1, %d came, and it reports that it is alive", 2+seq)
		}
	}

	n, c, nc, _ = offline(t, Config{Rate: 100})
	if n.Alive() {
		t.Error("alive without a tick")
	}
	n.worker.tick(nc, 1, c.steady)
	if first, second := n.Alive(), n.Alive(); !first || second {
		t.Error("one tick is one sign")
	}
	n.worker.tick(nc, 2, c.steady)
	n.counters.Tick(1)
	n.counters.Skip(wire.Overrun, 1, nil)
	if !n.Alive() {
		t.Error("half of the ticks were made")
	}
	n.worker.tick(nc, 3, c.steady)
	n.counters.Tick(2)
	n.counters.Skip(wire.Overrun, 2, nil)
	if n.Alive() {
		t.Error("most ticks were missed, and it reports that it is alive")
	}
}
