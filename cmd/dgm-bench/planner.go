package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// planner checks every prediction.
type planner struct {
	clock *clock

	mu      sync.Mutex
	answers map[uint64]time.Time // when they came
	late    map[uint64]bool      // states whose answer came after its valid_until
	models  map[string]int
	counts  counted
	robot   *sender           // (optional) whose states are predicted
	unread  map[string]uint64 // by instance: states for which the status reports that a newer one came first, or that they waited too long
	seen    chan<- uint64     // (optional) gets the states that were answered
	read    wire.Prediction
	status  wire.Status
}

// counted are numbers of predictions.
type counted struct {
	good      int
	stale     int // older than they claim, or claim to hold too long
	dropped   int // past their valid_until: a planner does not use them
	nonfinite int
}

func newPlanner(nc *nats.Conn, vehicle string, c *clock) (*planner, error) {
	p := &planner{clock: c, answers: map[uint64]time.Time{}, late: map[uint64]bool{}, models: map[string]int{}, unread: map[string]uint64{}}
	if _, err := nc.Subscribe(wire.PredictSubject(vehicle), func(m *nats.Msg) { p.prediction(m.Data) }); err != nil {
		return nil, err
	}
	if _, err := nc.Subscribe(wire.StatusSubject(vehicle), func(m *nats.Msg) { p.statusMessage(m.Data) }); err != nil {
		return nil, err
	}
	if !nc.IsConnected() {
		return p, nil
	}
	return p, nc.Flush() // a state that is sent from now on is answered to a server that knows the planner
}

// watch makes the planner compare the times of predictions with those of a sender.
func (p *planner) watch(r *sender) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.robot = r
}

// report returns a channel that gets the states that were answered.
func (p *planner) report() <-chan uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	answers := make(chan uint64, 1024)
	p.seen = answers
	return answers
}

func (p *planner) prediction(data []byte) {
	came, now := time.Now(), p.clock.unix()
	p.mu.Lock()
	defer p.mu.Unlock()
	q := &p.read
	switch {
	case q.Decode(data) != nil:
		p.counts.nonfinite++
	case now > q.ValidUntil:
		p.counts.dropped++
		p.late[q.Seq] = true
	case !p.current():
		p.counts.stale++
	case slices.ContainsFunc(slices.Concat(q.Mean, q.Std, q.ObsStd, q.Factor, []float64{q.OOD}), notFinite), slices.ContainsFunc(slices.Concat(q.Std, q.ObsStd), negative):
		p.counts.nonfinite++
	default:
		p.answers[q.Seq] = came
		p.counts.good++
		p.models[q.Model]++
		if p.seen != nil {
			p.seen <- q.Seq
		}
	}
}

func notFinite(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }
func negative(x float64) bool  { return x < 0 }

// current reports whether a prediction is as old as it claims, and claims to hold no longer
// than its horizon.
func (p *planner) current() bool {
	q := &p.read
	horizon := int64(q.Horizon[len(q.Horizon)-1] * 1e9)
	if q.ValidUntil > q.T+horizon {
		return false
	}
	if p.robot == nil {
		return true
	}
	sent, ok := p.robot.find(q.Seq)
	if !ok {
		return true // of a sender before the present one
	}
	const rounding = int64(time.Millisecond)
	d := q.T - int64(q.Age*1e9) - sent.t
	return d < rounding && d > -rounding
}

// statusMessage notes for how many states a status reports that a newer one came first, or that
// they waited for so long that no prediction was left: which is what a busy computer does to them.
func (p *planner) statusMessage(data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.status.Decode(data) != nil {
		return
	}
	n := uint64(0)
	for _, r := range p.status.Reasons {
		if r.Reason == wire.Replaced.String() || r.Reason == wire.Old.String() {
			n += r.Count
		}
	}
	p.unread[p.status.Instance] = n
}

// firstAnswered returns when the first answered state was sent of those sent after
// a time.
func (p *planner) firstAnswered(r *sender, after time.Time) (first time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for seq := range p.answers {
		if s, sent := r.find(seq); sent && s.at.After(after) && (!ok || s.at.Before(first)) {
			first, ok = s.at, true
		}
	}
	return first, ok
}

// takeAnswer reports whether a state was answered, in time or not, and forgets its answer.
func (p *planner) takeAnswer(seq uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	answered := !p.answers[seq].IsZero() || p.late[seq]
	delete(p.answers, seq)
	delete(p.late, seq)
	return answered
}

// lastAnswered returns when the last state was sent of those that are answered.
func (p *planner) lastAnswered(r *sender) (last time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for seq := range p.answers {
		if s, sent := r.find(seq); sent && s.at.After(last) {
			last = s.at
		}
	}
	return last
}

// latencies returns the times from the states sent between two times to their answers,
// ascending, and how many states have none.
func (p *planner) latencies(r *sender, from, to time.Time) (came []time.Duration, missing int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for seq, s := range r.sent() {
		switch answer := p.answers[seq]; {
		case s.at.Before(from) || !s.at.Before(to):
		case answer.IsZero():
			missing++
		default:
			came = append(came, answer.Sub(s.at))
		}
	}
	slices.Sort(came)
	return came, missing
}

// forget forgets answers, as the sender its states.
func (p *planner) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.answers)
}

// thin keeps the memory of a long day small.
func (p *planner) thin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.answers) <= 1000 {
		return
	}
	for seq := range p.answers {
		if seq+500 < p.read.Seq {
			delete(p.answers, seq)
		}
	}
}

// by returns how many answers a model has given.
func (p *planner) by(model string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.models[model]
}

// lastStatus returns the last status; its slices are those of the next one, too.
func (p *planner) lastStatus() wire.Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status
}

// came returns how many predictions have come.
func (p *planner) came() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts.good + p.counts.stale + p.counts.dropped + p.counts.nonfinite
}

// count returns the numbers of predictions, and what the last status reports about states
// without an answer.
func (p *planner) count() (n counted, reasons string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var parts []string
	for _, r := range p.status.Reasons {
		parts = append(parts, fmt.Sprintf("%d %s", r.Count, r.Reason))
	}
	return p.counts, fmt.Sprintf("%s and %d missed", strings.Join(parts, ", "), p.status.Missed)
}

// explained returns for how many states statuses report that a newer one came first, or that they waited too long.
func (p *planner) explained() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, c := range p.unread {
		n += int(c)
	}
	return n
}
