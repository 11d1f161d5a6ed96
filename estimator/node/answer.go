package node

import (
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// answer predicts from an arrival and publishes, or counts why not. Where a newer one
// waits already the beginning of the horizon is all that it gets: the newer one must
// not be late for it.
func (n *Node) answer(nc *nats.Conn, a *arrival) {
	n.change()
	_, now := n.cfg.Clock()
	k := &n.task
	*k = task{a: a, due: now, fresh: true}
	if n.cfg.Deadline > 0 {
		k.rung = n.engine.craft.rungs.choose(a.at + int64(n.cfg.Deadline) - now)
	}
	if waiting, _ := n.box.left(); waiting > 0 {
		k.rung = max(k.rung, n.engine.craft.rungs.beginning(k.age()))
	}
	if r, cause := n.serve(nc, k, now); r != wire.OK {
		n.tally.refused(r, cause)
	} else {
		n.tally.use()
	}
}

// serve makes the prediction of a task and publishes it, began being the time now,
// and learns from its state. It returns why nothing was published, and what that
// is known by, which may be nil.
func (n *Node) serve(nc *nats.Conn, k *task, began int64) (wire.Reason, error) {
	e := n.engine
	k.contested = n.rivals.contested.Load()
	r, cause := n.make(k), error(nil)
	made := r
	if made == wire.OK {
		r, cause = n.publish(nc, k, began)
	}
	n.recorder.task(k, made, &e.out)
	e.learn(k)
	e.look()
	n.tell()
	return r, cause
}

// make makes the message of a task.
func (n *Node) make(k *task) wire.Reason {
	d, r := n.engine.predict(k)
	unix, end := n.cfg.Clock()
	if k.end = end; !n.cfg.RobotClock {
		k.unix = unix
	}
	if r == wire.OK {
		n.buf, r = n.engine.finish(n.buf[:0], k, d)
	}
	return r
}

// publish hands the message of a task to the link.
func (n *Node) publish(nc *nats.Conn, k *task, began int64) (wire.Reason, error) {
	if !nc.IsConnected() || (k.tick == 0 && epoch(nc) != k.a.epoch) {
		return wire.Disconnected, nil
	}
	_, encoded := n.cfg.Clock()
	if err := nc.Publish(n.subject, n.buf); err != nil {
		return n.unsent(nc, err)
	}
	_, sent := n.cfg.Clock()
	n.spent(k, sent-began)
	n.tally.sent(sent-k.from(), n.engine.out.Flags, k.end-began, encoded-k.end, sent-encoded)
	return wire.OK, nil
}

// spent notes what a task has cost, ns. A tick with a new state builds the bridge
// too, which is kept apart: the ticks after it have no such cost.
func (n *Node) spent(k *task, ns int64) {
	l := n.engine.craft.rungs
	if k.fresh && k.tick > 0 {
		n.bridging.add(max(float64(ns)-l[k.rung].cost.mean, 1))
		l.fade(k.rung)
		return
	}
	l.spent(k.rung, ns)
}

// unsent tells why the link did not take a prediction.
func (n *Node) unsent(nc *nats.Conn, err error) (wire.Reason, error) {
	switch {
	case errors.Is(err, nats.ErrReconnectBufExceeded):
		return wire.Disconnected, nil
	case errors.Is(err, nats.ErrMaxPayload):
		return wire.Unsent, fmt.Errorf("a prediction of %d bytes, and the server takes %d: ask for fewer points", len(n.buf), nc.MaxPayload())
	}
	return wire.Unsent, err
}
