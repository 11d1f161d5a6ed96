package main

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// planner looks at every prediction.
type planner struct {
	clock *clock

	mu        sync.Mutex
	answers   map[uint64]bool
	models    map[string]int
	good      int
	stale     int
	dropped   int // past their valid_until: a planner does not use them
	nonfinite int
	stamp     func(seq uint64) (t int64, ok bool) // when a state was measured, from who measured it
	replaced  map[string]uint64                   // by instance: states for which the status says why there is no answer
	seen      chan<- uint64                       // nil, or who waits for answers
	read      wire.Prediction
	status    wire.Status
}

func newPlanner(nc *nats.Conn, c *clock) (*planner, error) {
	p := &planner{clock: c, answers: map[uint64]bool{}, models: map[string]int{}, replaced: map[string]uint64{}}
	if _, err := nc.Subscribe(wire.PredictSubject(vehicle), func(m *nats.Msg) { p.prediction(m.Data) }); err != nil {
		return nil, err
	}
	_, err := nc.Subscribe(wire.StatusSubject(vehicle), func(m *nats.Msg) { p.heard(m.Data) })
	return p, err
}

// watch lets the planner compare the times of predictions with those of a sender.
func (p *planner) watch(r *sender) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stamp = r.stamp
}

func (p *planner) prediction(data []byte) {
	now := p.clock.unix()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.read.Decode(data) != nil {
		p.nonfinite++
		return
	}
	if now > p.read.ValidUntil {
		p.dropped++
		return
	}
	if !p.honest() {
		p.stale++
		return
	}
	for _, v := range [][]float64{p.read.Mean, p.read.Std, p.read.ObsStd, p.read.Factor, {p.read.OOD}} {
		for _, x := range v {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				p.nonfinite++
				return
			}
		}
	}
	for _, x := range append(p.read.Std, p.read.ObsStd...) {
		if x < 0 {
			p.nonfinite++
			return
		}
	}
	p.answers[p.read.Seq] = true
	p.good++
	if p.seen != nil {
		p.seen <- p.read.Seq
	}
	p.models[p.read.Model]++
}

// honest says whether a prediction is as old as it says, and promises no more than
// it holds.
func (p *planner) honest() bool {
	q := &p.read
	horizon := int64(q.Horizon[len(q.Horizon)-1] * 1e9)
	if q.ValidUntil > q.T+horizon {
		return false
	}
	if p.stamp == nil {
		return true
	}
	t, ok := p.stamp(q.Seq)
	if !ok {
		return true // of a sender before the present one
	}
	const rounding = int64(time.Millisecond)
	d := q.T - int64(q.Age*1e9) - t
	return d < rounding && d > -rounding
}

// heard notes for how many states a status says that a newer one came first, which
// is what a busy computer does to them.
func (p *planner) heard(data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.status.Decode(data) != nil {
		return
	}
	for _, r := range p.status.Reasons {
		if r.Reason == wire.Replaced.String() {
			p.replaced[p.status.Instance] = r.Count
		}
	}
}

// firstAnswered returns when the first answered state was sent of those sent after
// a time.
func (p *planner) firstAnswered(r *sender, after time.Time) (first time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for seq := range p.answers {
		if at, sent := r.sentAt(seq); sent && at.After(after) && (!ok || at.Before(first)) {
			first, ok = at, true
		}
	}
	return first, ok
}

func (p *planner) answered(seq uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.answers[seq]
}

// forget forgets answers, as the sender its states.
func (p *planner) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.answers)
}

// by returns how many answers a model has given.
func (p *planner) by(model string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.models[model]
}

// reasons tells what the last status says about states without an answer.
func (p *planner) reasons() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var parts []string
	for _, r := range p.status.Reasons {
		parts = append(parts, fmt.Sprintf("%d %s", r.Count, r.Reason))
	}
	return fmt.Sprintf("%s and %d missed", strings.Join(parts, ", "), p.status.Missed)
}

// count returns how many predictions there was nothing wrong with.
func (p *planner) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.good
}

func (p *planner) explained() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, c := range p.replaced {
		n += int(c)
	}
	return n
}

func (p *planner) lies() (stale, nonfinite, dropped int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stale, p.nonfinite, p.dropped
}
