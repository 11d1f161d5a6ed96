package node

import (
	"runtime/metrics"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// interval is what was counted when the last status was made.
type interval struct {
	at                  int64 // ns, steady
	received, published uint64
	allocs              uint64
}

// report publishes a status. While the link is down there is nobody to tell.
func (n *Node) report(nc *nats.Conn) {
	n.compose(nc.Stats().Reconnects)
	n.statuses = n.status.Append(n.statuses[:0])
	_ = nc.Publish(wire.StatusSubject(n.cfg.Vehicle), n.statuses)
}

// compose fills in the status.
func (n *Node) compose(reconnects uint64) {
	unix, steady := n.cfg.Clock()
	s, t := &n.status, &n.tally
	s.T, s.Uptime, s.Reconnects = unix, float64(steady-n.began)*1e-9, reconnects
	now := interval{at: steady, allocs: n.allocs.read()}
	t.mu.Lock()
	now.received, now.published = t.received, t.published
	s.Received, s.Published, s.Late, s.Missed = t.received, t.published, t.late, t.missed
	s.Input, s.InputAge = wire.InputNone, -1
	if t.taken {
		s.Input, s.InputAge = wire.InputLive, float64(steady-t.takenAt)*1e-9
		if s.InputAge > n.cfg.Validity.Seconds() {
			s.Input = wire.InputStale
		}
	}
	s.LatencyP50, s.LatencyP99, s.LatencyMax = t.latency.take(&n.scratch)
	s.Reasons = s.Reasons[:0]
	for r, count := range t.reasons {
		if count == 0 {
			continue
		}
		reason := wire.ReasonCount{Reason: wire.Reason(r).String(), Count: count, Text: wire.Reason(r).Sentence()}
		if err := t.last[r]; err != nil {
			reason.Last = shorten(err.Error())
		}
		s.Reasons = append(s.Reasons, reason)
	}
	t.mu.Unlock()
	s.Others = n.rivals.report(s.Others[:0], steady)
	s.StateRate, s.PredictRate, s.Allocs = 0, 0, 0
	if dt := float64(steady-n.before.at) * 1e-9; dt > 0 {
		s.StateRate = float64(now.received-n.before.received) / dt
		s.PredictRate = float64(now.published-n.before.published) / dt
	}
	if sent := now.published - n.before.published; sent > 0 {
		s.Allocs = float64(now.allocs-n.before.allocs) / float64(sent)
	}
	n.before = now
}

// shorten keeps a text within what a status may hold; a field's name comes from
// the sender and may be long.
func shorten(text string) string {
	const most = 240
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

// allocCounter reads how many objects the process has allocated.
type allocCounter struct{ sample [1]metrics.Sample }

func (c *allocCounter) read() uint64 {
	c.sample[0].Name = "/gc/heap/allocs:objects"
	metrics.Read(c.sample[:])
	if c.sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return c.sample[0].Value.Uint64()
}
