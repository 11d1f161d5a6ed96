// Package reporting counts what became of states and composes the status: counters,
// latencies, peer instances, and what the process needs.
package reporting

import (
	"github.com/dgm-robotics/dgm/estimator/node/internal/trust"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Config names what is reported on.
type Config struct {
	Vehicle, Instance string
	Rate              float64 // Hz; 0 = an answer to each state
	Validity          float64 // s, age beyond which the input is stale
}

// Reporter composes statuses. It is for one goroutine.
type Reporter struct {
	cfg      Config
	counters *Counters
	peers    *Peers
	process  *process
	status   wire.Status
	scratch  [4096]int64
	began    int64 // ns, steady
	before   interval
}

// interval is what was counted when the last status was made.
type interval struct {
	at                  int64 // ns, steady
	received, published uint64
	allocs              uint64
}

// New returns a reporter.
func New(cfg Config, c *Counters, p *Peers) *Reporter {
	r := &Reporter{cfg: cfg, counters: c, peers: p, process: newProcess()}
	r.status = wire.Status{Vehicle: cfg.Vehicle, Instance: cfg.Instance, Mode: wire.ModeAnswer, Rate: cfg.Rate}
	if cfg.Rate > 0 {
		r.status.Mode = wire.ModeRate
	}
	return r
}

// Begin sets the steady time from which the uptime counts, ns.
func (r *Reporter) Begin(steady int64) { r.began, r.before = steady, interval{at: steady} }

// Facts are what a status contains that others know.
type Facts struct {
	Unix, Steady int64 // ns, now
	Model        string
	Swaps        uint64
	Refused      string // why the last model was refused; "" = it was not
	Recording    string // "on", or why it ended; "" = nothing is recorded
	Unrecorded   uint64
	Reconnects   uint64
	Dropped      uint64       // states that the client library dropped unread
	Consistency  float64      // score of the early consistency check, −1 = none
	Trust        trust.Report // empty = no monitor
}

// Compose returns the status of this moment. It belongs to the reporter.
func (r *Reporter) Compose(f *Facts) *wire.Status {
	s := &r.status
	s.T, s.Uptime, s.Reconnects = f.Unix, float64(f.Steady-r.began)*1e-9, f.Reconnects
	s.Model, s.Swaps, s.Refused = f.Model, f.Swaps, f.Refused
	s.Recording, s.Unrecorded = f.Recording, f.Unrecorded
	t := &f.Trust
	s.Health, s.Miscalibrated = f.Consistency, uint64(t.Alarms)
	s.Buckets, s.Checks, s.Coverage, s.Recalibrated, s.Nees, s.Factor = t.Buckets, t.Checks, t.Coverage, t.Recalibrated, t.Nees, t.Factor
	var allocs uint64
	s.Memory, s.Goroutines, allocs = r.process.read()
	r.counters.drop(f.Dropped)
	r.addCounters(f.Steady)
	s.Others = r.peers.report(s.Others[:0], f.Steady)
	now := interval{at: f.Steady, received: s.Received, published: s.Published, allocs: allocs}
	s.StateRate, s.PredictRate, s.Allocs = 0, 0, 0
	if dt := float64(now.at-r.before.at) * 1e-9; dt > 0 {
		s.StateRate = float64(now.received-r.before.received) / dt
		s.PredictRate = float64(now.published-r.before.published) / dt
	}
	if sent := now.published - r.before.published; sent > 0 {
		s.Allocs = float64(now.allocs-r.before.allocs) / float64(sent)
	}
	r.before = now
	return s
}

// addCounters fills in what was counted.
func (r *Reporter) addCounters(steady int64) {
	s, c := &r.status, r.counters
	c.mu.Lock()
	defer c.mu.Unlock()
	n := &c.counts
	s.Received, s.Published, s.Late, s.Missed = n.Received, n.Published, n.Late, n.Missed
	s.Input, s.InputAge = wire.InputNone, -1
	if n.Any {
		s.Input, s.InputAge = wire.InputLive, float64(steady-n.At)*1e-9
		if s.InputAge > r.cfg.Validity {
			s.Input = wire.InputStale
		}
	}
	s.LatencyP50, s.LatencyP99, s.LatencyMax = c.total.reset(&r.scratch)
	s.Phases = s.Phases[:0]
	for i := range c.phases {
		p := wire.Phase{Name: phaseNames[i]}
		p.P50, p.P99, p.Max = c.phases[i].reset(&r.scratch)
		s.Phases = append(s.Phases, p)
	}
	s.Ticks, s.Used, s.Shortened, s.Widened = n.Ticks, n.Used, n.Shortened, n.Widened
	s.ClockOffset, s.Delay = n.Offset, float64(n.Delay)*1e-9
	s.Reasons = c.list(s.Reasons[:0], &n.Reasons)
	s.Silent = c.list(s.Silent[:0], &n.Silent)
}
