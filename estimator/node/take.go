package node

import "github.com/dgm-robotics/dgm/estimator/wire"

// take decides about a state that came in an epoch of the link: it goes to the
// mailbox or is counted for what is wrong with it.
func (n *Node) take(data []byte, epoch uint64) {
	unix, steady := n.cfg.Clock()
	n.tally.came()
	a := n.box.blank()
	s := &a.state
	if err := s.Decode(data, n.m.K, n.m.P); err != nil {
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
	n.tally.took(steady, n.order.missed)
	a.at, a.epoch, a.period = steady, epoch, int64(n.order.period)
	if n.box.put() {
		n.tally.refused(wire.Replaced, nil)
	}
}

// hear takes another estimator's status, or this one's own.
func (n *Node) hear(data []byte) {
	_, steady := n.cfg.Clock()
	if name := n.rivals.hear(data, steady); name != "" {
		n.cfg.Log("another estimator, instance " + name + ", answers for vehicle " + n.cfg.Vehicle + ": stop one of them")
	}
}
