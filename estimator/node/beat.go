package node

import (
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/node/realtime"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// beat predicts at a fixed rate until stop is closed. Ticks are due at multiples of
// the period after the start, so that the rate does not drift; one that could not
// begin before the next was due is counted and left out.
func (n *Node) beat(nc *nats.Conn, stop <-chan struct{}) {
	_, start := n.cfg.Clock()
	sleeper := realtime.NewSleeper(start, n.cfg.Priority)
	defer sleeper.Close()
	due := func(i int64) int64 { return start + int64(float64(i)*1e9/n.cfg.Rate) }
	for i := int64(1); ; i++ {
		sleeper.Until(due(i))
		select {
		case <-stop:
			if n.box.get() != nil {
				n.tally.refused(wire.Replaced, nil) // by none: this is the end
			}
			return
		default:
		}
		_, now := n.cfg.Clock()
		skipped := uint64(0)
		for due(i+1) <= now {
			i++
			skipped++
		}
		if skipped > 0 {
			n.tally.ticked(skipped)
			n.tally.quiet(wire.Overrun, skipped, nil)
		}
		n.tick(nc, uint64(i), due(i))
	}
}

// tick makes the prediction that is due, from the newest state.
func (n *Node) tick(nc *nats.Conn, number uint64, due int64) {
	n.change()
	_, now := n.cfg.Clock()
	n.tally.ticked(1)
	a := n.box.get()
	fresh := a != nil
	if fresh {
		n.newest = a
		n.tally.use()
	}
	if n.newest == nil {
		n.tally.quiet(wire.NoInput, 1, nil)
		return
	}
	k := &n.task
	*k = task{a: n.newest, tick: number, due: due, fresh: fresh}
	left := due + n.cfg.deadline(0) - now
	if fresh {
		left -= int64(n.bridging.expected())
	}
	k.rung = n.engine.craft.rungs.choose(left)
	if r, cause := n.serve(nc, k, now); r != wire.OK {
		n.tally.quiet(r, 1, cause)
	}
}
