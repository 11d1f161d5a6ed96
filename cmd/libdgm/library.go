//go:build cgo

// Command libdgm is a library for other languages: predictions of a model file in the
// process of a planner. Its functions are in dgm.h.
//
//	go build -buildmode=c-shared -o libdgm.so ./cmd/libdgm
package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model"
)

func main() {}

func open(path string) (*loaded, error) {
	m, err := model.ReadFile(path)
	if err != nil {
		return nil, fail(codeFile, "%v", err)
	}
	fast, err := estimator.NewFast(m, nil)
	if err != nil {
		return nil, fail(codeFile, "%s: %v", path, err)
	}
	return &loaded{m: m, fast: fast}, nil
}

// times returns the model's own.
func (l *loaded) times() []float64 { return l.fast.NewPrediction().Times }

// can returns the bits of what may be wanted.
func (l *loaded) can() uint64 {
	can := uint64(wantAll)
	if !l.m.Displacement {
		can &^= wantJacobian
	}
	if l.m.P == 0 {
		can &^= wantInputs
	}
	return can
}

// find returns the place of a set in sets; −1 = it is not kept.
func (l *loaded) find(times []float64, workers int) int {
	return slices.IndexFunc(l.sets, func(s *predictors) bool { return s.workers == workers && slices.Equal(s.times, times) })
}

// acquire returns a predictor for the times, nil being the model's own, that no other call
// has.
func (l *loaded) acquire(times []float64, workers int) (*predictor, error) {
	l.lock.Lock()
	if i := l.find(times, workers); i >= 0 && len(l.sets[i].free) > 0 {
		defer l.lock.Unlock()
		set := l.sets[i]
		p := set.free[len(set.free)-1]
		set.free = set.free[:len(set.free)-1]
		return p, nil
	}
	l.lock.Unlock()
	at := times
	if len(at) == 0 {
		at = l.times()
	}
	batch, err := l.fast.Batch(at, workers)
	if err != nil {
		return nil, fail(codeWrong, "times: %v", err)
	}
	return &predictor{times: slices.Clone(times), workers: workers, batch: batch}, nil
}

// release keeps a predictor for the next call, in place of those of the set that was used least
// recently.
func (l *loaded) release(p *predictor) {
	p.dst = estimator.Predictions{} // the caller's memory
	l.lock.Lock()
	defer l.lock.Unlock()
	i := l.find(p.times, p.workers)
	if i < 0 {
		i = min(len(l.sets), mostSets-1)
		l.sets = append(l.sets[:i], &predictors{times: p.times, workers: p.workers})
	}
	set := l.sets[i]
	copy(l.sets[1:i+1], l.sets[:i])
	l.sets[0] = set
	set.free = append(set.free, p)
}

// query is a dgm_query.
type query struct {
	want                          uint64
	states, p0, u, plans, history []float64
	planRows, historyRows         int
	planStep                      float64
	times                         []float64
	samples                       int
	seed                          uint64
	workers                       int
	meanAdjoint, stdAdjoint       []float64
	limits                        estimator.Limits
}

// answer is a dgm_answer; nil is absent.
type answer struct {
	mean, std, obsStd, jacobian, samples, inputJacobian, covariance, tube, ood, half50 []float64
	startGradient, planGradient, violation, violationWhole                             []float64
	flags                                                                              []uint32
}

// mostNumbers bounds the vectors of queries and answers.
const mostNumbers = math.MaxInt32

// predict is dgm_predict.
func (l *loaded) predict(q *query, a *answer) error {
	switch {
	case q.want == 0:
		return fail(codeWrong, "want: nothing is wanted")
	case q.want&^wantAll != 0:
		return fail(codeUnsupported, "want: this library knows none of the bits %#x", q.want&^wantAll)
	case q.want&^l.can() != 0:
		return fail(codeUnsupported, "want: a model without inputs, or whose predictions do not start at the state, has no Jacobian by them: bits %#x", q.want&^l.can())
	case len(q.u) > 0 && len(q.plans) > 0:
		return fail(codeWrong, "u: comes with plans, which have the input from the state on: give one of them; inputs before the state are part of the history")
	case (q.planRows == 0) != (len(q.plans) == 0):
		return fail(codeWrong, "plan_rows: is %d, and the plans have %d numbers", q.planRows, len(q.plans))
	case (q.historyRows == 0) != (len(q.history) == 0):
		return fail(codeWrong, "history_rows: is %d, and the history has %d numbers", q.historyRows, len(q.history))
	case len(a.half50) > 0 && q.want == wantMean:
		return fail(codeWrong, "half50: is not computed for the mean alone")
	case len(a.tube) > 0 && q.want == wantMean:
		return fail(codeWrong, "tube: is not computed for the mean alone")
	case len(a.startGradient)+len(a.planGradient) > 0 && q.want&wantAdjoint == 0, len(q.meanAdjoint)+len(q.stdAdjoint) > 0 && q.want&wantAdjoint == 0:
		return fail(codeWrong, "want: has no DGM_ADJOINT, which adjoints and gradients are for")
	case q.samples == 0 && q.want&wantSamples != 0, q.samples > 0 && q.want&(wantSamples|wantViolated) == 0:
		return fail(codeWrong, "samples: is %d; it must be above 0 where samples are wanted, else 0", q.samples)
	case (len(q.limits.HalfSpaces)+len(q.limits.Boxes) > 0) != (q.want&wantViolated != 0), len(a.violationWhole) > 0 && q.want&wantViolated == 0:
		return fail(codeWrong, "half_spaces: they, or boxes, come with DGM_VIOLATION and not without it")
	}
	if err := q.limits.Check(l.m.K); err != nil {
		return err
	}
	T := cmp.Or(len(q.times), l.m.Points)
	questions := estimator.NewQuestions(l.m, q.planRows, q.historyRows)
	if q.want&wantAdjoint != 0 {
		questions.MeanAdjoint.X, questions.StdAdjoint.X = q.meanAdjoint, q.stdAdjoint
		questions.MeanAdjoint.Size, questions.StdAdjoint.Size = T*l.m.K, T*l.m.K
	}
	questions.States.X, questions.P0.X, questions.U.X, questions.Plans.X, questions.History.X = q.states, q.p0, q.u, q.plans, q.history
	questions.PlanStep = q.planStep
	n, err := questions.Count(l.m)
	if err != nil {
		return err
	}
	if err := a.fits(q, n, T, l.m.K, max(questions.Plans.Size, l.m.P)); err != nil {
		return err
	}
	workers := runtime.GOMAXPROCS(0)
	if q.workers > 0 {
		workers = min(q.workers, workers)
	}
	p, err := l.acquire(q.times, min(n, workers))
	if err != nil {
		return err
	}
	defer l.release(p)
	l.correct(p)
	if err := p.predict(&questions, q, a, n); err != nil {
		return err
	}
	if q.want&drawing != 0 {
		return l.sample(p, &questions, q, a, n)
	}
	return nil
}

// drawing are the bits of what is found from trajectories.
const drawing = wantSamples | wantViolated

// fits returns an error if the memory of an answer to n questions does not fit.
func (a *answer) fits(q *query, n, times, K, inputs int) error {
	size := times * K
	limits := q.limits.Count(K)
	if n > mostNumbers/max(size*max(K, inputs, limits), 1)/max(q.samples, 1) {
		return fail(codeWrong, "states: an answer to %d questions is too large", n)
	}
	for _, f := range [...]struct {
		name     string
		bit      uint64
		got      int
		required int
	}{
		{"mean", wantMean, len(a.mean), n * size},
		{"std", wantStd, len(a.std), n * size},
		{"obs_std", wantObsStd, len(a.obsStd), n * size},
		{"jacobian", wantJacobian, len(a.jacobian), n * size * K},
		{"samples", wantSamples, len(a.samples), n * q.samples * size},
		{"input_jacobian", wantInputs, len(a.inputJacobian), n * size * inputs},
		{"covariance", wantCov, len(a.covariance), n * size * K},
		{"start_gradient", 0, len(a.startGradient), n * K},
		{"plan_gradient", 0, len(a.planGradient), n * inputs},
		{"violation", wantViolated, len(a.violation), n * limits * times},
		{"violation_whole", 0, len(a.violationWhole), n},
		{"ood", 0, len(a.ood), n},
		{"half50", 0, len(a.half50), n},
		{"tube", 0, len(a.tube), n * len(model.TubeLevels)},
		{"flags", 0, len(a.flags), n},
	} {
		absent := f.bit == 0 && f.got == 0
		if q.want&f.bit == f.bit && !absent && f.got != f.required {
			return fail(codeWrong, "%s: has room for %d numbers, the answer has %d: %d questions, %d times, %d states", f.name, f.got, f.required, n, times, K)
		}
	}
	return nil
}

// wanted returns x if a bit is wanted.
func (q *query) wanted(bit uint64, x []float64) []float64 {
	if q.want&bit == 0 {
		return nil
	}
	return x
}

// sized returns memory of n numbers, that of x where it suffices.
func sized[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	return x[:n]
}

// predict writes what the batch computes.
func (p *predictor) predict(questions *estimator.Questions, q *query, a *answer, n int) error {
	d := &p.dst
	*d = estimator.Predictions{
		Mean: q.wanted(wantMean, a.mean), Std: q.wanted(wantStd, a.std), ObsStd: q.wanted(wantObsStd, a.obsStd),
		Jacobian: q.wanted(wantJacobian, a.jacobian), InputJacobian: q.wanted(wantInputs, a.inputJacobian), Covariance: q.wanted(wantCov, a.covariance),
		Half50: a.half50, Tube: a.tube,
	}
	if q.want&drawing != 0 {
		size := n * len(p.batch.Times()) * p.batch.Model().K
		if d.Mean == nil {
			p.mean = sized(p.mean, size)
			d.Mean = p.mean
		}
		if d.Std == nil {
			p.std = sized(p.std, size)
			d.Std = p.std
		}
	}
	if q.want&wantAdjoint != 0 {
		d.StartGradient, d.PlanGradient = a.startGradient, a.planGradient
	}
	p.ood, p.noHistory = sized(p.ood, n), sized(p.noHistory, n)
	d.OOD, d.NoHistory = p.ood, p.noHistory
	if err := p.batch.Predict(d, questions); err != nil {
		return err
	}
	copy(a.ood, p.ood)
	for i := range a.flags {
		a.flags[i] = 0
		if p.ood[i] > 1 {
			a.flags[i] |= flagOutOfDistribution
		}
		if p.noHistory[i] {
			a.flags[i] |= flagNoHistory
		}
	}
	return nil
}

// sample draws trajectories and counts violations, the same as the query service for the same seed.
func (l *loaded) sample(p *predictor, questions *estimator.Questions, q *query, a *answer, n int) (err error) {
	if p.trajectories == nil {
		if p.trajectories, err = l.fast.Trajectories(p.batch.Times()); err != nil {
			return err
		}
	}
	size := len(p.dst.Mean) / n
	for i := range n {
		question := questions.At(i)
		d := estimator.Prediction{Mean: p.dst.Mean[i*size : (i+1)*size], Std: p.dst.Std[i*size : (i+1)*size]}
		if !p.trajectories.Start(&d, &question) {
			return fail(codeNotFinite, "states: the samples of question %d are not finite; are state, inputs and plan plausible?", i)
		}
		if q.want&wantViolated != 0 {
			each := len(a.violation) / n
			whole := p.trajectories.Violation(a.violation[i*each:(i+1)*each], &q.limits, cmp.Or(q.samples, estimator.ViolationDraws), rand.New(rand.NewPCG(q.seed, uint64(i)<<32)).NormFloat64)
			if len(a.violationWhole) > 0 {
				a.violationWhole[i] = whole
			}
		}
		for j := 0; j < q.samples && q.want&wantSamples != 0; j++ {
			at := (i*q.samples + j) * size
			p.trajectories.Draw(a.samples[at:at+size], rand.New(rand.NewPCG(q.seed, uint64(i)<<32|uint64(j))).NormFloat64)
		}
	}
	return nil
}

// resample is dgm_history.
func (l *loaded) resample(state, t, x, u, rows []float64) (used int, err error) {
	K, P := l.m.K, l.m.P
	b := history.NewBuffer(l.m.Channels[:K], P, l.m.History)
	if len(rows) < b.Rows()*(K+P) {
		return 0, fail(codeWrong, "rows: has room for %d numbers, and the model reads %d rows of %d", len(rows), b.Rows(), K+P)
	}
	for i, at := range t {
		if !(at <= 0 && at > -1e9) || i > 0 && at <= t[i-1] {
			return 0, fail(codeWrong, "t: must ascend to at most 0 s, and %g s is at place %d", at, i)
		}
	}
	b.AddSamples(t, x, u)
	return b.Fill(rows[:b.Rows()*(K+P)], 0, state), nil
}
