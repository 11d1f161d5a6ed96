package node

import (
	"runtime/metrics"
	"slices"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/node/trust"
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
	n.maxPayload.Store(nc.MaxPayload())
	n.compose(nc.Stats().Reconnects)
	n.statuses = n.status.Append(n.statuses[:0])
	n.lastStatus.Store(slices.Clone(n.statuses))
	_ = nc.Publish(wire.StatusSubject(n.cfg.Vehicle), n.statuses)
}

// compose fills in the status.
func (n *Node) compose(reconnects uint64) {
	unix, steady := n.cfg.Clock()
	s, t := &n.status, &n.tally
	s.Model, s.Swaps, s.Refused = n.Model(), n.models.count.Load(), ""
	if text := n.models.refused.Load(); text != nil {
		s.Refused = *text
	}
	s.Recording, s.Unrecorded = "", 0
	if n.recorder != nil {
		s.Recording, s.Unrecorded = "on", n.recorder.w.Lost()
		if err := n.recorder.w.Err(); err != nil {
			s.Recording = shorten(err.Error())
		}
	}
	n.found(s)
	n.flooded()
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
	s.Phases = s.Phases[:0]
	for i := range t.phases {
		p := wire.Phase{Name: phaseNames[i]}
		p.P50, p.P99, p.Max = t.phases[i].take(&n.scratch)
		s.Phases = append(s.Phases, p)
	}
	s.Ticks, s.Used, s.Shortened, s.Widened = t.ticks, t.used, t.shortened, t.widened
	s.ClockOffset, s.Delay = t.offset, float64(t.delay)*1e-9
	s.Reasons = t.list(s.Reasons[:0], &t.reasons)
	s.Silent = t.list(s.Silent[:0], &t.silent)
	t.mu.Unlock()
	s.Memory, s.Goroutines = n.process.read()
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

// list appends the reasons that occurred to dst, with the lock held.
func (t *tally) list(dst []wire.ReasonCount, counts *[wire.Reasons]uint64) []wire.ReasonCount {
	for r, count := range counts {
		if count == 0 {
			continue
		}
		reason := wire.ReasonCount{Reason: wire.Reason(r).String(), Count: count, Text: wire.Reason(r).Sentence()}
		if err := t.last[r]; err != nil {
			reason.Last = shorten(err.Error())
		}
		dst = append(dst, reason)
	}
	return dst
}

// found fills in what the worker has found.
func (n *Node) found(s *wire.Status) {
	f := &n.findings
	f.mu.Lock()
	defer f.mu.Unlock()
	s.Health, s.Miscalibrated = f.health, 0
	r := &f.report
	if !f.known {
		*r = trust.Report{}
	}
	s.Miscalibrated = uint64(r.Alarms)
	for _, v := range [...]struct {
		dst *[]float64
		src []float64
	}{
		{&s.Buckets, r.Buckets}, {&s.Checks, r.Checks}, {&s.Coverage, r.Coverage},
		{&s.Recalibrated, r.Recalibrated}, {&s.Nees, r.Nees}, {&s.Factor, r.Factor},
	} {
		*v.dst = append((*v.dst)[:0], v.src...)
	}
}

// flooded takes into the tally what the client library dropped unread.
func (n *Node) flooded() {
	if n.states == nil {
		return
	}
	dropped, err := n.states.Dropped()
	if err != nil || dropped < 0 {
		return // the subscription has ended
	}
	t := &n.tally
	t.mu.Lock()
	t.received += uint64(dropped) - t.reasons[wire.Flooded]
	t.reasons[wire.Flooded] = uint64(dropped)
	t.mu.Unlock()
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

// processReader reads how large the process is.
type processReader struct{ samples [3]metrics.Sample }

// read returns the bytes that the runtime has from the operating system and has
// not given back, and the goroutines.
func (p *processReader) read() (memory, goroutines uint64) {
	s := &p.samples
	s[0].Name, s[1].Name, s[2].Name = "/memory/classes/total:bytes", "/memory/classes/heap/released:bytes", "/sched/goroutines:goroutines"
	metrics.Read(s[:])
	for i := range s {
		if s[i].Value.Kind() != metrics.KindUint64 {
			return 0, 0
		}
	}
	return s[0].Value.Uint64() - s[1].Value.Uint64(), s[2].Value.Uint64()
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
