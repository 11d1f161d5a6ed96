package node

import (
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// take decides about a state that came in an epoch of the link: it goes to the
// mailbox or is counted for what is wrong with it.
func (n *Node) take(data []byte, epoch uint64) {
	unix, steady := n.cfg.Clock()
	n.tally.came()
	a := n.box.blank()
	s := &a.state
	if err := s.Decode(data, n.K, n.P); err != nil {
		n.tally.bad(err)
		return
	}
	if err := n.believe.Check(s); err != nil {
		n.tally.bad(err)
		return
	}
	if err := n.order.check(s.Seq, s.T, unix, steady); err != nil {
		n.tally.bad(err)
		return
	}
	n.order.take(s.Seq, s.T, steady)
	if n.order.restart {
		n.offset.any = false // with another clock, perhaps
	}
	a.age = n.offset.take(s.T, unix, steady)
	if n.order.shared {
		a.age = max(unix-s.T, 0)
	}
	if a.age > silentFrom*int64(n.cfg.AgeLimit) {
		n.tally.refused(wire.TooOld, nil)
		return
	}
	a.at, a.epoch, a.period = steady, epoch, int64(n.order.period)
	_, now := n.cfg.Clock()
	n.tally.took(steady, n.order.missed, a.age, n.offset.seconds(), now-steady)
	for range n.box.put() {
		n.tally.refused(wire.Replaced, nil)
	}
}

// hear takes another estimator's status, or this one's own.
func (n *Node) hear(data []byte) {
	_, steady := n.cfg.Clock()
	if name := n.rivals.hear(data, steady); name != "" {
		// Anybody may have written the name.
		n.cfg.Log(fmt.Sprintf("another estimator, instance %.64q, answers for vehicle %s: stop one of them", name, n.cfg.Vehicle))
	}
}
