package attribution

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Times. Predictions over two fifths of the horizon, in whole intervals between samples, start up to twenty times in it. As long as they
// start before a change, what is measured after it contradicts all that was measured before.
const (
	horizonShare = 0.4
	starts       = 20
	memory       = 1.5 // s: onsets are sought so far back; over longer times the errors of models add up to more than faults
	longest      = memory / 2
)

// parts of a prediction, between which the signature of a fault of an input that begins in it is computed.
const parts = 4

// apart is how many moments onsets are apart. So many moments have the same signatures of offsets and the same recent ones: what a map makes of its
// history hardly depends on the state.
const apart = 5

// moment is one prediction over the short time.
type moment struct {
	start, end float64     // s, in the segment
	keep       []float64   // of each span of the past, see whitening: what its mean keeps of itself
	z          []float64   // K: measured less predicted, over the standard deviation; NaN = not measured
	deviation  []float64   // K: standard deviations
	lasting    [][]float64 // signature of each fault that lasts: K, in standard deviations
	partial    [][]float64 // of each fault of an input: (parts−1)×K, if it begins after all but one, two, … parts of the prediction
	recent     [][]float64 // of each fault, less lasting: rows×K, if it shows in the start and in none, one, … of the newest rows of history but the last
}

// spans are those of the past that is regressed on, in times that are predicted over.
var spans = [...]float64{0.1, 0.5, 2, 8}

// kept returns what the mean over each span keeps of itself after so many times that are predicted over.
func kept(passed float64) []float64 {
	out := make([]float64, len(spans))
	for i, s := range spans {
		out[i] = math.Exp(-passed / s)
	}
	return out
}

// moments predicts a flight, as it was commanded and measured, and for each fault.
func moments(ctx context.Context, m *model.Model, all []Fault, f *window.Flight) iter.Seq2[*moment, error] {
	return func(yield func(*moment, error) bool) {
		flights := []window.Flight{*f}
		p, err := newPredictor(m, all, flights)
		if err != nil {
			yield(nil, err)
			return
		}
		last := math.NaN()
		for w := range replay.Each(flights, window.Cut(flights, p.h, p.h/starts), []float64{p.h}) {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			w.Query(p.q, m, model.Plan, p.rows)
			if !p.fast.Predict(p.nominal, p.q) {
				yield(nil, fmt.Errorf("segment %q at %.3f s: a prediction is not finite", f.Name, f.T[w.Start]))
				return
			}
			if m.History.Rows() > 0 && p.nominal.NoHistory {
				continue
			}
			start := f.InSegment(w.Start)
			passed := start - last
			if math.IsNaN(last) {
				passed = p.h / starts
			}
			p.add(w, start, passed)
			last = start
			if len(p.out) == apart && !p.flush(yield) {
				return
			}
		}
		p.flush(yield)
	}
}

// predictor predicts windows as they were commanded and measured, and as they would be with faults.
type predictor struct {
	m          *model.Model
	all        []Fault
	rows       int // of a plan
	h          float64
	fast       *estimator.Fast
	nominal    *estimator.Prediction
	q, changed *estimator.Query

	out       []moment // until the questions are answered
	asked     []signature
	batch     *estimator.Batch
	questions estimator.Questions
	answers   estimator.Predictions
}

// signature is one that a question was asked for.
type signature struct {
	dst, less []float64 // K; less is subtracted, nil = none
	fault     *Fault
	of        []float64 // K, the nominal prediction
	deviation []float64 // K
}

func newPredictor(m *model.Model, all []Fault, flights []window.Flight) (*predictor, error) {
	interval := window.Interval(flights)
	h := math.Max(1, math.Round(math.Min(horizonShare*m.Horizon, longest)/interval)) * interval // between samples nothing is measured
	if h > m.Horizon {
		return nil, fmt.Errorf("segment %q has a sample every %.3g s, and the model predicts up to %g s: log more often", flights[0].Name, interval, m.Horizon)
	}
	fast, err := estimator.NewFast(m, []float64{h})
	if err != nil {
		return nil, err
	}
	p := &predictor{m: m, all: all, rows: window.PlanRows(flights, m.Horizon), h: h, fast: fast, nominal: fast.NewPrediction(), q: &estimator.Query{}}
	if p.batch, err = fast.Batch([]float64{h}, 1); err != nil {
		return nil, err
	}
	p.questions = estimator.NewQuestions(m, p.rows, m.History.Rows())
	p.changed = &estimator.Query{X0: make([]float64, m.K), U: make([]float64, m.P), Plan: make([]float64, p.rows*m.P)}
	return p, nil
}

// add adds the moment of the nominal prediction, so long after the one before, and asks for the signatures of all faults.
func (p *predictor) add(w *replay.Window, start, passed float64) {
	K, R, J := p.m.K, p.m.History.Rows(), len(p.all)
	m := moment{start: start, end: start + p.h, keep: kept(passed / p.h), deviation: slices.Clone(p.nominal.ObsStd), z: make([]float64, K)}
	for k, y := range w.Measured {
		m.z[k] = (y + w.X0[k] - p.nominal.Mean[k]) / p.nominal.ObsStd[k]
	}
	m.lasting, m.partial, m.recent = make([][]float64, J), make([][]float64, J), make([][]float64, J)
	for j := range p.all {
		f := &p.all[j]
		s := signature{fault: f, of: slices.Clone(p.nominal.Mean), deviation: m.deviation}
		first := len(p.out) == 0
		if !first {
			m.lasting[j], m.recent[j] = p.out[0].lasting[j], p.out[0].recent[j]
			if f.Kind == Offset {
				continue
			}
		}
		f.change(p.changed, p.q, w, p.m)
		m.lasting[j] = make([]float64, K)
		s.dst = m.lasting[j]
		p.ask(s, R, 1)
		if f.Kind != Offset {
			m.partial[j] = make([]float64, (parts-1)*K)
			for i := 1; i < parts; i++ {
				s.dst = m.partial[j][(i-1)*K : i*K]
				p.ask(s, 0, float64(i)/parts)
			}
		}
		if first {
			m.recent[j] = make([]float64, R*K)
			for r := range R {
				s.dst, s.less = m.recent[j][r*K:(r+1)*K], m.lasting[j]
				p.ask(s, r, 1)
			}
		}
	}
	p.out = append(p.out, m)
}

// ask adds the question for a signature of the fault that changed is of, if it shows in so many rows of history, and in the last share of the prediction.
func (p *predictor) ask(s signature, rows int, share float64) {
	a, q, c := &p.questions, p.q, p.changed
	a.States.X = append(a.States.X, c.X0...)
	if share < 1 {
		a.U.X = append(a.U.X, q.U...)
	} else {
		a.U.X = append(a.U.X, c.U...)
	}
	begins := (1 - share) * p.h / p.m.Horizon * float64(p.rows) // in rows of the plan
	for i, v := range q.Plan {
		of := math.Min(math.Max(float64(i/p.m.P+1)-begins, 0), 1)
		a.Plans.X = append(a.Plans.X, v+of*(c.Plan[i]-v))
	}
	at := rows * (p.m.K + p.m.P)
	a.History.X = append(append(a.History.X, c.History[:at]...), q.History[at:]...)
	p.asked = append(p.asked, s)
}

// flush answers the questions, and yields the moments.
func (p *predictor) flush(yield func(*moment, error) bool) bool {
	K, a := p.m.K, &p.questions
	if n := len(p.asked); n > 0 {
		p.answers.Mean = slices.Grow(p.answers.Mean[:0], n*K)[:n*K]
		if err := p.batch.Predict(&p.answers, a); err != nil {
			yield(nil, fmt.Errorf("at %.3f s: a signature: %w", p.out[0].start, err))
			return false
		}
		for i, s := range p.asked {
			s.fault.left(s.dst, p.answers.Mean[i*K:(i+1)*K], s.of)
			floats.Div(s.dst, s.deviation)
			if s.less != nil {
				floats.Sub(s.dst, s.less)
			}
		}
	}
	for i := range p.out {
		if !yield(&p.out[i], nil) {
			return false
		}
	}
	p.out, p.asked = nil, p.asked[:0]
	for _, rows := range []*estimator.Rows{&a.States, &a.U, &a.Plans, &a.History} {
		rows.X = rows.X[:0]
	}
	return true
}
