package main

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/adapt"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/ode"
	"github.com/dgm-robotics/dgm/examples/mpc-go/planning"
)

// predictor is a model that plans are made on, and what it learns of the flight.
type predictor interface {
	// observe is told the command u (P) that is held from t, ns, on at the measured state x (K).
	observe(t int64, x, u []float64)
	// predict is a planning.Model for the measured state at time t, ns.
	predict(t int64) planning.Model
}

// learned predicts by a trained model.
type learned struct {
	fast    *estimator.Fast
	derived *estimator.Prediction
	bare    *estimator.Prediction
	past    *history.Buffer // nil reads nothing
	rows    []float64
	filter  *adapt.Filter // (optional) what adapts the model
	query   estimator.Query
	size    int // of a row of the history
}

// newLearned returns predictions of a model at the ends of so many rows of a plan.
func newLearned(m *model.Model, rows int, adapting bool) (*learned, error) {
	fast, err := estimator.NewFast(m, times(rows))
	if err != nil {
		return nil, err
	}
	l := &learned{
		fast: fast, derived: fast.NewPrediction().WithInputJacobian(rows * m.P), bare: fast.NewPrediction(),
		past: history.NewBuffer(channel.Select(m.Channels, channel.State), m.P, m.History), size: m.K + m.P,
	}
	l.rows = make([]float64, l.past.Rows()*l.size)
	if adapting {
		l.filter, err = adapt.New(m, func(times []float64) (adapt.Predictor, error) { return fast.For(times) })
	}
	return l, err
}

// times returns the ends of so many rows, s.
func times(rows int) (t []float64) {
	for i := range rows {
		t = append(t, float64(i+1)*row)
	}
	return t
}

func (l *learned) observe(t int64, x, u []float64) {
	l.past.Add(t, x, u)
	if l.filter != nil {
		l.filter.Observed(t, x, u)
	}
}

func (l *learned) predict(t int64) planning.Model {
	return func(dst *planning.Prediction, x, plan []float64) bool {
		l.query = estimator.Query{X0: x, Plan: plan, PlanStep: row, History: l.rows[:l.past.Fill(l.rows, t, x)*l.size]}
		d := l.bare
		if len(dst.ByPlan) > 0 {
			d = l.derived
		}
		q := &l.query
		if l.filter != nil {
			q = l.filter.Effective(q)
		}
		if !l.fast.Predict(d, q) || l.filter != nil && !l.filter.Correct(d, &l.query) {
			return false
		}
		copy(dst.Mean, d.Mean)
		copy(dst.Std, d.Std)
		copy(dst.ByPlan, d.InputJacobian)
		return true
	}
}

// means returns the predictions of many plans at time t, ns.
func (l *learned) means(b *estimator.Batch, t int64) planning.Batch {
	m := l.fast.Model()
	return func(mean []float64, x, plans []float64) bool {
		rows := l.past.Fill(l.rows, t, x)
		q := estimator.NewQuestions(m, len(b.Times()), rows)
		q.States.X, q.Plans.X, q.PlanStep, q.History.X = x, plans, row, l.rows[:rows*l.size]
		return b.Predict(&estimator.Predictions{Mean: mean}, &q) == nil
	}
}

// stepper predicts tick by tick: tick moves the state x on by one.
type stepper struct {
	tick func(x, u []float64)
	K, P int
}

// next writes the state after a row.
func (s *stepper) next(dst, x, u []float64) {
	copy(dst, x)
	for range perRow {
		s.tick(dst, u)
	}
}

func (s *stepper) observe(int64, []float64, []float64) {}

// predict rolls the rows out. Derivatives are central differences of a row, chained.
func (s *stepper) predict(int64) planning.Model {
	K, P := s.K, s.P
	w := make([]float64, K+P)
	up, down := make([]float64, K), make([]float64, K)
	by := make([]float64, K*(K+P)) // of a row, by state and command
	return func(dst *planning.Prediction, x, plan []float64) bool {
		n := len(plan)
		clear(dst.Std)
		clear(dst.ByPlan)
		for t := range len(dst.Mean) / K {
			if t > 0 {
				x = dst.Mean[(t-1)*K : t*K]
			}
			u := plan[min(t*P, n-P):][:P]
			s.next(dst.Mean[t*K:(t+1)*K], x, u)
			if len(dst.ByPlan) == 0 {
				continue
			}
			copy(w, x)
			copy(w[K:], u)
			for i, v := range w {
				const h = 1e-5
				w[i] = v + h
				s.next(up, w[:K], w[K:])
				w[i] = v - h
				s.next(down, w[:K], w[K:])
				w[i] = v
				for k := range K {
					by[k*(K+P)+i] = (up[k] - down[k]) / (2 * h)
				}
			}
			s.chain(dst.ByPlan, by, t, n)
		}
		return finite(dst.Mean)
	}
}

// chain writes the derivatives after row t from those before it.
func (s *stepper) chain(byPlan, by []float64, t, n int) {
	K, P := s.K, s.P
	for k := range K {
		row := byPlan[(t*K+k)*n : (t*K+k+1)*n]
		for c := 0; c < K && t > 0; c++ {
			a := by[k*(K+P)+c]
			before := byPlan[((t-1)*K+c)*n : ((t-1)*K+c)*n+t*P]
			for i, v := range before {
				row[i] += a * v
			}
		}
		copy(row[t*P:(t+1)*P], by[k*(K+P)+K:(k+1)*(K+P)])
	}
}

func finite(v []float64) bool {
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// truth is the plant itself, without noise.
func truth() *stepper {
	p := &vehicle
	r, params := ode.NewRK4(len(p.X0)), p.Values()
	return &stepper{K: len(p.X0), P: len(p.U0), tick: func(x, u []float64) {
		r.Advance(func(dst []float64, _ float64, x []float64) { p.F(dst, x, u, params) }, x, 0, tick, 1)
	}}
}

// holdVelocity moves each position by its velocity.
func holdVelocity() *stepper {
	return &stepper{K: len(vehicle.X0), P: len(vehicle.U0), tick: func(x, _ []float64) {
		for _, k := range []int{0, 2, 4} {
			x[k] += tick * x[k+1]
		}
	}}
}

// linear fits x' = x + W (x, u, 1) to a recording by least squares, with 10⁻⁴ of each column's
// sum of squares added to the diagonal.
func linear(log *flightlog.Log) (*stepper, error) {
	K, P := len(vehicle.X0), len(vehicle.U0)
	C := K + P + 1
	var rows, targets []float64
	for _, s := range log.Segments {
		for i := range len(s.T) - 1 {
			rows = append(append(append(rows, s.X[i*K:(i+1)*K]...), s.U[i*P:(i+1)*P]...), 1)
			for k := i * K; k < (i+1)*K; k++ {
				targets = append(targets, s.X[k+K]-s.X[k])
			}
		}
	}
	X, Y := mat.NewDense(len(rows)/C, C, rows), mat.NewDense(len(targets)/K, K, targets)
	var gram, cross, w mat.Dense
	gram.Mul(X.T(), X)
	cross.Mul(X.T(), Y)
	for i := range C {
		gram.Set(i, i, gram.At(i, i)*(1+1e-4))
	}
	if err := w.Solve(&gram, &cross); err != nil {
		return nil, err
	}
	moved := make([]float64, K)
	return &stepper{K: K, P: P, tick: func(x, u []float64) {
		for k := range K {
			v := w.At(C-1, k)
			for i, a := range x {
				v += w.At(i, k) * a
			}
			for i, a := range u {
				v += w.At(K+i, k) * a
			}
			moved[k] = v
		}
		for k, v := range moved {
			x[k] += v
		}
	}}, nil
}
