package prediction

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/internal/intake"
	"github.com/dgm-robotics/dgm/estimator/node/journal"
	"github.com/dgm-robotics/dgm/estimator/trust"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Shadow is a model that predicts beside the one in use and is not published: what it would have
// predicted is compared with what was measured, and so is what was published, over the same
// windows. A window begins with a prediction of the whole horizon and lasts that long; the next
// one begins after it.
//
// The engine, on the goroutine of the worker, copies the query, the prediction and the
// measurements of a window. Score then predicts and compares on another goroutine, which owns the
// window until it is done; what comes meanwhile is left out.
type Shadow struct {
	Model *model.Model

	until   []float64 // B, s: ends of the buckets of the horizon
	places  []section // B, of the buckets
	rows    []int     // R, ascending: rows of what is published that the places use
	total   int       // rows that are published
	rollout *rollout  // at the times of the rows
	dst     *estimator.Prediction
	past    *past
	period  []float64 // K, of channels that are angles
	stage   atomic.Int32
	next    atomic.Int64 // ns, steady: no window begins before it

	// Of the window.
	begin     int64 // ns
	query     estimator.Query
	memory    estimator.Query // of the query
	mean, std []float64       // R×K, as published
	ages      []float64       // B, s, of the last measurement in each bucket; 0 = none
	measured  []float64       // B×K
	off       [2][]float64    // B×K, errors of what was published and of the shadow
	deviation [2][]float64    // B×K

	mu         sync.Mutex
	comparison *trust.Comparison
	skipped    uint64 // windows without a score
}

// section is a part of the horizon, at the end of a bucket, in which a measurement counts. Both
// predictions are interpolated in it alike.
type section struct {
	first, last int     // of rows; −1 = the start
	from, until float64 // s
}

// Stages of a window.
const (
	idle = iota
	open // the worker's
	full // of Score
)

// fractions of the horizon at which buckets end, as those of the trust monitor do.
var fractions = [...]float64{0.1, 0.25, 0.5, 1}

const (
	mostPlan    = 4096 // numbers of a plan that is copied; a window with a longer one is left out
	shadowShare = 20   // a shadow predicts for at most one part in so many of the time
)

// The reasons why a model is no shadow.
var (
	errHorizon = errors.New("the shadow's horizon is shorter than half of what is predicted")
	errSlow    = errors.New("a prediction of the shadow takes longer than its horizon: train a smaller model")
)

// NewShadow makes a shadow of what the model in use predicts at its times, s, where states come
// every period, ns, 0 = not known.
func NewShadow(s *journal.Settings, m, flown *model.Model, flownTimes []float64, period int64) (*Shadow, error) {
	m = Private(m)
	if err := m.Check(); err != nil {
		return nil, err
	}
	if err := Replaceable(m, flown); err != nil {
		return nil, err
	}
	last := flownTimes[len(flownTimes)-1]
	if m.Horizon < last/2 {
		return nil, fmt.Errorf("%w: %g s, and predictions reach %g s", errHorizon, m.Horizon, last)
	}
	r := &Shadow{Model: m, past: newPast(m), total: len(flownTimes), period: make([]float64, m.K)}
	times := r.divide(flownTimes, min(last, m.Horizon*(1+1e-9)), 1.5*seconds(period))
	var err error
	if r.rollout, err = newRollout(&Predictors{Model: m, Plain: !s.Fast}, times, false); err == nil {
		err = r.rollout.verify()
	}
	if err != nil {
		return nil, err
	}
	r.dst = r.rollout.newPrediction(times)
	for k, c := range m.Channels[:m.K] {
		r.period[k] = c.Period
	}
	T, n := len(r.rows)*m.K, len(r.until)*m.K
	r.mean, r.std, r.ages, r.measured = make([]float64, T), make([]float64, T), make([]float64, len(r.until)), make([]float64, n)
	for i := range r.off {
		r.off[i], r.deviation[i] = make([]float64, n), make([]float64, n)
	}
	r.memory = estimator.Query{X0: make([]float64, m.K), P0: make([]float64, m.K*m.K), U: make([]float64, m.P), Plan: make([]float64, mostPlan)}
	r.comparison = trust.NewComparison(n)
	q := estimator.Query{X0: r.memory.X0, History: r.past.still(r.memory.X0)}
	r.rollout.predict(r.dst, &q) // finds its memory
	began := time.Now()
	r.rollout.predict(r.dst, &q)
	if took := time.Since(began).Seconds(); took > last {
		return nil, fmt.Errorf("%w: %.3g s for a horizon of %.3g s", errSlow, took, last)
	}
	return r, nil
}

// divide sets buckets and rows by the times, s, of what is published up to last, with room for a
// measurement before the end of each bucket, and returns the times of the rows.
func (r *Shadow) divide(published []float64, last, room float64) (times []float64) {
	for len(published) > 1 && published[len(published)-1] > last {
		published = published[:len(published)-1]
	}
	end := 0
	for _, f := range fractions {
		for published[end] < f*published[len(published)-1]*(1-1e-9) {
			end++
		}
		if n := len(r.places); n > 0 && r.places[n-1].last == end {
			continue
		}
		s := section{first: end - 1, last: end, until: published[end]}
		for s.first >= 0 && published[s.first] > s.until-room {
			s.first--
		}
		if s.first >= 0 {
			s.from = published[s.first]
		}
		r.places, r.until = append(r.places, s), append(r.until, s.until)
		r.rows = append(r.rows, s.last)
		if s.first >= 0 {
			r.rows = append(r.rows, s.first)
		}
	}
	slices.Sort(r.rows)
	r.rows = slices.Compact(r.rows)
	for i := range r.places {
		s := &r.places[i]
		s.last = slices.Index(r.rows, s.last)
		s.first = slices.Index(r.rows, s.first) // −1 stays
	}
	for _, row := range r.rows {
		times = append(times, published[row])
	}
	return times
}

// ShadowMemory returns about how many bytes NewShadow allocates for predictors of a model.
func ShadowMemory(m *model.Model) int64 { return estimator.Memory(m, 2*len(fractions)) }

// take adds an arrival to the history that the shadow reads.
func (r *Shadow) take(a *intake.Arrival) {
	if r != nil {
		r.past.add(&a.State)
	}
}

// learn adds a state, and begins a window with the prediction that was made, if there is one. It
// reports whether a window is full and waits for Score.
func (r *Shadow) learn(e *Engine, t *Task) (ready bool) {
	if r == nil {
		return false
	}
	if r.stage.Load() == open && t.Fresh {
		r.observe(t.Arrival.State.T, compared(t.Arrival))
		if r.stage.Load() == full {
			return true
		}
	}
	if d := e.made; d != nil && t.Level == 0 && len(d.Times) == r.total && r.stage.Load() == idle && e.message.Ready >= r.next.Load() {
		r.start(e, d)
	}
	return false
}

// start begins a window with a prediction.
func (r *Shadow) start(e *Engine, d *estimator.Prediction) {
	q, m := &e.query, &r.memory
	if len(q.Plan) > mostPlan {
		return
	}
	r.begin = e.message.T
	r.query = *q
	r.query.X0, r.query.P0 = copied(m.X0, q.X0), copied(m.P0, q.P0)
	r.query.U, r.query.Plan = copied(m.U, q.U), copied(m.Plan, q.Plan)
	r.query.History = r.past.fill(r.past.stream, r.begin, r.query.X0)
	K := r.Model.K
	for i, row := range r.rows {
		copy(r.mean[i*K:], d.Mean[row*K:][:K])
		copy(r.std[i*K:], d.ObsStd[row*K:][:K])
	}
	clear(r.ages)
	r.stage.Store(open)
}

// copied copies v to memory, nil where it is nil.
func copied(memory, v []float64) []float64 {
	if v == nil {
		return nil
	}
	return memory[:copy(memory, v)]
}

// observe keeps a measurement at t, ns, for the bucket that it ends. The window is full when the
// last bucket has passed, and dropped when time goes back.
func (r *Shadow) observe(t int64, x []float64) {
	age := seconds(t - r.begin)
	if age < 0 {
		r.stage.Store(idle)
		return
	}
	for b, s := range r.places {
		if age > s.from && age <= s.until*(1+slack) {
			r.ages[b] = age
			copy(r.measured[b*len(x):], x)
		}
	}
	if last := r.until[len(r.until)-1]; age >= last*(1-slack) {
		r.stage.Store(full)
	}
}

// slack is the share of a time by which stamps of a regular clock may be off.
const slack = 1e-3

// Score predicts and compares a full window. The clock shows the time, ns.
func (r *Shadow) Score(clock func() (unix, steady int64)) {
	_, began := clock()
	ok := r.compare()
	r.mu.Lock()
	if !ok || !r.comparison.Add(r.off, r.deviation) {
		r.skipped++
	}
	r.mu.Unlock()
	_, now := clock()
	r.next.Store(now + shadowShare*(now-began))
	r.stage.Store(idle)
}

// Drop leaves out a full window.
func (r *Shadow) Drop() { r.stage.Store(idle) }

// compare fills in errors and standard deviations of the window. ok is false where a measurement
// is missing, or nothing is predicted.
func (r *Shadow) compare() (ok bool) {
	if slices.Contains(r.ages, 0) || !r.rollout.predict(r.dst, &r.query) {
		return false
	}
	K := r.Model.K
	for b, age := range r.ages {
		s := r.places[b]
		share := min((age-s.from)/(s.until-s.from), 1)
		for k := range K {
			i := b*K + k
			for j, p := range [...]struct{ mean, std []float64 }{{r.mean, r.std}, {r.dst.Mean, r.dst.ObsStd}} {
				mean, std := p.mean[s.last*K+k], p.std[s.last*K+k]
				before, stdBefore := r.query.X0[k], std
				if s.first >= 0 {
					before, stdBefore = p.mean[s.first*K+k], p.std[s.first*K+k]
				}
				r.off[j][i] = r.wrapped(k, r.measured[i]-before-share*r.wrapped(k, mean-before))
				r.deviation[j][i] = stdBefore + share*(std-stdBefore)
			}
		}
	}
	return true
}

// wrapped returns a difference of channel k, of an angle the shorter way round.
func (r *Shadow) wrapped(k int, d float64) float64 {
	if turn := r.period[k]; turn > 0 {
		d -= turn * math.Round(d/turn)
	}
	return d
}

// Report writes what was found to dst, in its memory. It may be called from any goroutine.
func (r *Shadow) Report(dst *wire.LoadedModel) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.comparison
	dst.Model, dst.Windows, dst.Skipped = r.Model.ID, uint64(c.Windows), r.skipped
	dst.Difference, dst.DifferenceStd = c.Mean, c.Std
	dst.Buckets = append(dst.Buckets[:0], r.until...)
	dst.FlownCoverage, dst.Coverage = append(dst.FlownCoverage[:0], c.Covered[0]...), append(dst.Coverage[:0], c.Covered[1]...)
	dst.FlownCRPS, dst.CRPS = append(dst.FlownCRPS[:0], c.CRPS[0]...), append(dst.CRPS[:0], c.CRPS[1]...)
}
