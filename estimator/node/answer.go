package node

import (
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// answer predicts from an arrival and publishes, or counts why not.
func (n *Node) answer(nc *nats.Conn, a *arrival) {
	s := &a.state
	q := estimator.Query{X0: s.X, P0: orNil(s.P0), U: orNil(s.U), Plan: orNil(s.Plan)}
	if !n.predictor.Predict(n.dst, &q) {
		n.tally.refused(wire.NonFinite, nil)
		return
	}
	unix, steady := n.cfg.Clock()
	elapsed := steady - a.at
	validity := int64(n.cfg.Validity)
	if elapsed > validity || (!n.cfg.RobotClock && unix > s.T+validity) {
		n.tally.refused(wire.Expired, nil)
		return
	}
	o := &n.out
	o.Seq, o.T, o.ValidUntil = s.Seq, s.T, s.T+validity
	o.Inputs, o.OOD = n.dst.Readout.String(), n.dst.OOD
	o.Flags = n.flags(a, elapsed)
	n.buf = o.Append(n.buf[:0])
	if !nc.IsConnected() || epoch(nc) != a.epoch {
		n.tally.refused(wire.Disconnected, nil)
		return
	}
	if err := nc.Publish(n.subject, n.buf); err != nil {
		n.unsent(nc, err)
		return
	}
	_, steady = n.cfg.Clock()
	n.tally.sent(steady-a.at, o.Flags&wire.Late != 0)
}

// flags returns the flags of the prediction in dst, elapsed ns after its state
// came.
func (n *Node) flags(a *arrival, elapsed int64) wire.Flags {
	var f wire.Flags
	deadline := int64(n.cfg.Deadline)
	if deadline == 0 {
		deadline = a.period
	}
	if deadline > 0 && elapsed > deadline {
		f |= wire.Late
	}
	if n.dst.OutOfDistribution {
		f |= wire.OutOfDistribution
	}
	if n.rivals.contested.Load() {
		f |= wire.Contested
	}
	if n.m.Provenance.Partial != "" {
		f |= wire.Partial
	}
	if len(a.state.P0) > 0 && n.m.Displacement {
		f |= wire.CarriedCovariance
	}
	return f
}

// unsent counts a prediction that the link did not take.
func (n *Node) unsent(nc *nats.Conn, err error) {
	switch {
	case errors.Is(err, nats.ErrReconnectBufExceeded):
		n.tally.refused(wire.Disconnected, nil)
	case errors.Is(err, nats.ErrMaxPayload):
		n.tally.refused(wire.Unsent, fmt.Errorf("a prediction of %d bytes, and the server takes %d: ask for fewer points", len(n.buf), nc.MaxPayload()))
	default:
		n.tally.refused(wire.Unsent, err)
	}
}

// orNil makes an absent vector nil, which is how a query says so.
func orNil(v []float64) []float64 {
	if len(v) == 0 {
		return nil
	}
	return v
}
