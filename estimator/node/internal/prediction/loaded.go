package prediction

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/adapt"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/journal"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Loaded is a model made ready to predict: all that changes when another model is
// used. It is made on any goroutine and then used by one.
type Loaded struct {
	Model  *model.Model
	Times  []float64 // s
	Ladder Ladder
	Pace   Pace
	File   []byte // the model's, where predictions are recorded
	Trust  []byte // state of the trust monitor when it was last in use; nil = none

	AdaptNote  string // why nothing is learned in flight; "" = something is, or that is switched off
	Adaptation []byte // what was learned before; nil = nothing
	Unix       int64  // ns, when that was restored

	levels      []level // of the horizon, as in Ladder
	past        *past
	propagator  *propagator // nil where each state is answered
	consistency *consistency
	adaptation  *adaptation // nil = nothing is learned
	estimate    *estimate   // nil = all states are measured
	adaptKind   string
}

// level predicts the first points of the horizon: all of it, its first half, its
// first quarter, and so on.
type level struct {
	rollout *rollout
	dst     *estimator.Prediction
}

const mostLevels = 6

// verifyBuild verifies this program once.
var verifyBuild = sync.OnceValue(estimator.VerifyBuild)

// Load allocates the memory for a model and verifies its predictors: the program by the
// reference models, and each level of the horizon by the plain predictor. record keeps the
// bytes of the model's file.
func Load(s *journal.Settings, m *model.Model, record bool) (*Loaded, error) {
	m = Private(m)
	if err := m.Check(); err != nil { // completes what follows from other fields
		return nil, err
	}
	r := &Loaded{Times: s.Times}
	if r.Times == nil {
		r.Times = m.EqualTimes(m.Points)
	}
	var verified checks
	defer verified.Wait()
	verified.start(verifyBuild)
	var err error
	if record {
		if r.File, m, err = reread(m); err != nil {
			return nil, fmt.Errorf("recording: %w", err)
		}
	}
	r.Model, r.past = m, newPast(m)
	of := &Predictors{Model: m, Plain: !s.Fast}
	if r.adaptation, r.AdaptNote, err = newAdaptation(s.Adapt, of); err != nil {
		return nil, err
	}
	if r.adaptation != nil {
		r.adaptKind = r.adaptation.filter.State().Kind
	}
	for n := len(r.Times); n > 0 && len(r.levels) < mostLevels; n /= 2 {
		p, err := newRollout(of, r.Times[:n], s.Chain)
		if err != nil {
			return nil, err
		}
		r.levels = append(r.levels, level{rollout: p, dst: p.newPrediction(r.Times[:n])})
		r.Ladder.Ends = append(r.Ladder.Ends, r.Times[n-1])
	}
	if len(r.levels) > 0 {
		verified.start(func() error { return verifyLevels(r.levels) })
	}
	r.Ladder.Costs = make([]Cost, len(r.levels))
	if s.Rate > 0 {
		if !m.Displacement {
			return nil, errors.New("the model does not start its predictions at the state, so that no state can be propagated to a tick: train one of windows, or answer each state")
		}
		if r.propagator, err = newPropagator(of, min(SilentAfter*time.Duration(s.AgeLimit).Seconds(), m.Horizon)); err != nil {
			return nil, err
		}
	}
	r.consistency = newConsistency(of, r.Times)
	if r.estimate, err = newEstimate(m); err != nil {
		return nil, err
	}
	if err := verified.result(); err != nil {
		return nil, err
	}
	return r, nil
}

// checks run beside one another, and beside what is made ready meanwhile.
type checks struct {
	sync.WaitGroup
	first sync.Once
	err   error
}

// start starts a check.
func (c *checks) start(check func() error) {
	c.Go(func() {
		if err := check(); err != nil {
			c.first.Do(func() { c.err = err })
		}
	})
}

// result returns the first error of all checks that were started.
func (c *checks) result() error {
	c.Wait()
	return c.err
}

// reread returns the bytes of a model's file, and the model that they hold: a file
// rounds some numbers, and the recorded model must be the one that predicts.
func reread(m *model.Model) ([]byte, *model.Model, error) {
	b, err := m.Encode()
	if err != nil {
		return nil, nil, err
	}
	m, err = model.Decode(b)
	return b, m, err
}

// Private returns a model of which nothing is shared that checking it writes: what
// follows from other fields is filled in by whoever makes a predictor, and several
// goroutines do.
func Private(m *model.Model) *model.Model {
	own := *m
	own.Members, own.Refits = slices.Clone(m.Members), slices.Clone(m.Refits)
	return &own
}

// Replaceable returns an error if a model cannot replace another while states come.
func Replaceable(m, before *model.Model) error {
	a, b := wire.Layout(m.Channels), wire.Layout(before.Channels)
	if m.K != before.K || m.P != before.P || a != b {
		return fmt.Errorf("the model has %d states and %d inputs with layout %s, the one in use has %d and %d with layout %s: it is for another vehicle, or its channels are in another order",
			m.K, m.P, a, before.K, before.P, b)
	}
	return nil
}

// Memory returns about how many bytes Load allocates for predictors of a model.
func Memory(s *journal.Settings, m *model.Model) int64 {
	times := len(s.Times)
	if times == 0 {
		times = m.Points
	}
	points := []int{2} // of the consistency check
	for n := times; n > 0 && len(points) <= mostLevels; n /= 2 {
		points = append(points, n)
	}
	if adapts(s.Adapt) {
		points = append(points, slices.Repeat([]int{1}, adapt.Buckets)...)
	}
	return estimator.Memory(m, points...)
}

// warmings is how often each level is predicted by Warm. The least of the times counts: what
// else the computer does adds to them.
const warmings = 3

// Warm predicts from the model's mean inputs with every predictor, so that memory is
// there and the first costs are known: ns of a prediction of the whole horizon, and of the
// shortest level. With covariance, and at a fixed rate, the state has one: that takes many times
// as long where there are many states.
func (r *Loaded) Warm(clock func() (unix, steady int64), covariance bool) (whole, shortest int64) {
	q := estimator.Query{X0: make([]float64, r.Model.K)}
	if len(r.Model.Checks) > 0 {
		q.X0 = r.Model.Checks[0].X0
	}
	q.History = r.past.still(q.X0)
	if m := r.Model; covariance || r.propagator != nil {
		q.P0 = make([]float64, m.K*m.K)
		for k, v := range m.Sensor {
			q.P0[k*m.K+k] = v + 1e-6*m.Scale[k]*m.Scale[k]
		}
	}
	least := func(do func()) float64 {
		least := int64(math.MaxInt64)
		for range warmings { // the first one finds its memory
			_, began := clock()
			do()
			_, now := clock()
			least = min(least, now-began)
		}
		return float64(least)
	}
	for i := range r.levels {
		l := &r.levels[i]
		r.Ladder.Costs[i] = Cost{Mean: least(func() { l.rollout.predict(l.dst, &q) })}
	}
	propagation := 0.
	if r.propagator != nil {
		propagation = least(func() { r.propagator.start(&q, r.Model.Sensor) })
	}
	costs := r.Ladder.Costs
	r.Pace = NewPace(r.Ladder.Ends, costs, propagation)
	return int64(costs[0].Mean), int64(costs[len(costs)-1].Mean)
}
