// Package reporting counts what became of states and composes the status: counters,
// latencies, peer instances, and what the process needs.
package reporting

import "github.com/dgm-robotics/dgm/estimator/wire"

// Reporter composes statuses. It is for one goroutine.
type Reporter struct {
	Status wire.Status

	validity float64 // s
	counters *Counters
	peers    *Peers
	process  *process
	scratch  [4096]int64
	began    int64 // ns, steady
	before   interval
	counted  map[string]growth // by the name of a counter
}

// growth is a count, and the steady time, ns, at which a status first had it.
type growth struct {
	count uint64
	at    int64
}

// age returns for how long, s, a counter has not grown at a steady time, ns.
func (r *Reporter) age(name string, count uint64, steady int64) float64 {
	g := r.counted[name]
	if g.count != count {
		g = growth{count, steady}
		r.counted[name] = g
	}
	return float64(steady-g.at) * 1e-9
}

// ages sets how long ago each counter grew.
func (r *Reporter) ages(steady int64) {
	s := &r.Status
	s.Ages = s.Ages[:0]
	for _, c := range [...]struct {
		name  string
		count uint64
	}{{"late", s.Late}, {"no_history", s.NoHistory}, {"plans_unused", s.PlansUnused}, {"plans_held", s.PlansHeld}, {"plans_cut", s.PlansCut}, {"unknown_keys", s.UnknownKeys}, {"filter_resets", s.FilterResets}} {
		if c.count > 0 {
			s.Ages = append(s.Ages, wire.CounterAge{Name: c.name, Age: r.age(c.name, c.count, steady)})
		}
	}
	for i := range s.Reasons {
		s.Reasons[i].Age = r.age("reason "+s.Reasons[i].Reason, s.Reasons[i].Count, steady)
	}
	for i := range s.Silent {
		s.Silent[i].Age = r.age("silent "+s.Silent[i].Reason, s.Silent[i].Count, steady)
	}
}

// interval is what was counted when the last status was made.
type interval struct {
	at                  int64 // ns, steady
	received, published uint64
	allocs              uint64
}

// New returns a reporter whose statuses have the fields of s that never change. Input
// that is older than validity, s, is stale.
func New(s wire.Status, validity float64, c *Counters, p *Peers) *Reporter {
	return &Reporter{Status: s, validity: validity, counters: c, peers: p, process: newProcess(), counted: map[string]growth{}}
}

// Begin sets the steady time from which the uptime counts, ns.
func (r *Reporter) Begin(steady int64) { r.began, r.before = steady, interval{at: steady} }

// Compose fills in what this package knows of the status at a steady time, ns.
func (r *Reporter) Compose(steady int64) {
	s := &r.Status
	s.Uptime = float64(steady-r.began) * 1e-9
	var allocs uint64
	s.Memory, s.Goroutines, allocs = r.process.read()
	r.addCounters(steady)
	r.ages(steady)
	s.Others = r.peers.report(s.Others[:0], steady)
	now := interval{at: steady, received: s.Received, published: s.Published, allocs: allocs}
	s.StateRate, s.PredictRate, s.Allocs = 0, 0, 0
	if dt := float64(now.at-r.before.at) * 1e-9; dt > 0 {
		s.StateRate = float64(now.received-r.before.received) / dt
		s.PredictRate = float64(now.published-r.before.published) / dt
	}
	if sent := now.published - r.before.published; sent > 0 {
		s.Allocs = float64(now.allocs-r.before.allocs) / float64(sent)
	}
	r.before = now
}

func (r *Reporter) addCounters(steady int64) {
	s, c := &r.Status, r.counters
	c.mu.Lock()
	defer c.mu.Unlock()
	n := &c.counts
	s.Received, s.Published, s.Late, s.Missed = n.Received, n.Published, n.Late, n.Missed
	s.Input, s.InputAge = wire.InputNone, -1
	if n.Any {
		s.Input, s.InputAge = wire.InputLive, float64(max(steady-n.At, 0))*1e-9 // a state may have come since steady was read
		if s.InputAge > r.validity {
			s.Input = wire.InputStale
		}
	}
	s.UnknownKeys, s.UnknownKey = n.UnknownKeys, c.key
	s.InputReason, s.InputRefused = "", 0
	if most, states := c.mostRefused(); states > 0 {
		s.InputReason, s.InputRefused = most.String(), states
	}
	s.LatencyP50, s.LatencyP99, s.LatencyMax = c.total.reset(&r.scratch)
	s.Phases = s.Phases[:0]
	for i := range c.phases {
		p := wire.Phase{Name: phaseNames[i]}
		p.P50, p.P99, p.Max = c.phases[i].reset(&r.scratch)
		s.Phases = append(s.Phases, p)
	}
	s.Ticks, s.Used, s.Shortened, s.Widened = n.Ticks, n.Used, n.Shortened, n.Widened
	s.NoHistory, s.PlansUnused, s.PlansHeld, s.PlansCut = n.NoHistory, n.PlansUnused, n.PlansHeld, n.PlansCut
	s.Adapted = n.Adapted
	s.ClockOffset, s.Delay = n.Offset, float64(n.Delay)*1e-9
	s.Reasons = c.list(s.Reasons[:0], &n.Reasons)
	s.Silent = c.list(s.Silent[:0], &n.Silent)
}
