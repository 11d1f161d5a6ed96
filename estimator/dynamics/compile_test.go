package dynamics_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/dynamics"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/modeltest"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// question is a query and the spec of its program.
func question(m *model.Model, rng *rand.Rand, planned, remembered bool) (q estimator.Query, s dynamics.Spec) {
	normal := func(n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = 0.5 * rng.NormFloat64()
		}
		return out
	}
	q.X0 = normal(m.K)
	readout := model.Plan
	s = dynamics.Spec{Times: m.EqualTimes(9), Outputs: []string{dynamics.Displacement, dynamics.Std, dynamics.ObsStd, dynamics.Distance, dynamics.Leverage, dynamics.InputScore, dynamics.OOD, dynamics.RMSRatio, dynamics.Covariates}}
	s.Times = append(s.Times, 0.3, 0.0301)
	switch {
	case m.P > 0 && planned:
		s.PlanRows, s.PlanStep = 7, m.Horizon/7
		q.Plan = normal(7 * m.P)
	case m.P > 0:
		readout, q.U = model.Hold, normal(m.P)
		s.PlanRows = 1
	}
	if remembered {
		q.History = normal(m.History.Rows() * (m.K + m.P))
	}
	s.Condition = readout.Condition(!remembered && m.History.Rows() > 0)
	return q, s
}

// feed sets the inputs of a program.
func feed[T program.Float](m *model.Model, p *program.Program, machine *program.Machine[T], q *estimator.Query) {
	for _, in := range p.Inputs {
		s := p.Shape(in.Reg)
		for i := range s.Rows * s.Cols {
			v := 0.0
			switch r := i / s.Cols; in.Name {
			case dynamics.X:
				v = q.X0[r]
			case dynamics.Past:
				if v = q.History[r]; r%(m.K+m.P) < m.K {
					v -= q.X0[r%(m.K+m.P)]
				}
			default:
				u := q.Plan
				if u == nil {
					u = q.U
				}
				v = u[i%s.Cols*m.P+r]
			}
			machine.Set(in.Reg, i/s.Cols, i%s.Cols, 0, v)
		}
	}
}

func TestProgramIsThePredictor(t *testing.T) {
	for name, shape := range modeltest.Shapes {
		for _, planned := range []bool{true, false} {
			for _, remembered := range []bool{true, false} {
				t.Run(fmt.Sprint(name, planned, remembered), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(3, 4))
					m := modeltest.New(shape, rng)
					if m.P == 0 && !planned || m.History.Rows() == 0 && remembered {
						t.Skip("the same as another")
					}
					for range 3 {
						agree(t, m, rng, planned, remembered)
					}
				})
			}
		}
	}
}

func agree(t *testing.T, m *model.Model, rng *rand.Rand, planned, remembered bool) {
	q, s := question(m, rng, planned, remembered)
	ref, err := estimator.New(m, s.Times)
	if err != nil {
		t.Fatal(err)
	}
	want := ref.NewPrediction()
	T, K := len(s.Times), m.K
	want.Covariates = make([]float64, T*K*int(model.Covariates))
	if !ref.Predict(want, &q) {
		t.Fatal("not finite")
	}
	p := dynamics.Compile(m, s)
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	double, single := program.New[float64](p, program.Options{}), program.New[float32](p, program.Options{})
	feed(m, p, double, &q)
	feed(m, p, single, &q)
	double.Value()
	single.Value()
	for _, out := range p.Outputs {
		shape := p.Shape(out.Reg)
		for i := range shape.Rows * shape.Cols {
			r, c := i/shape.Cols, i%shape.Cols
			expected, scale := 0.0, 1.0
			switch at := c*K + r; out.Name {
			case dynamics.Displacement:
				origin := m.Origin
				if m.Displacement {
					origin = q.X0
				}
				expected, scale = want.Mean[at]-origin[r], want.ObsStd[at]
			case dynamics.Std:
				expected, scale = want.Std[at], want.ObsStd[at]
			case dynamics.ObsStd:
				expected, scale = want.ObsStd[at], want.ObsStd[at]
			case dynamics.Distance:
				expected = want.Distance
			case dynamics.Leverage:
				expected, scale = want.Leverage, 1+want.Leverage
			case dynamics.InputScore:
				expected = want.InputScore
			case dynamics.OOD:
				expected, scale = want.OOD, 1+want.OOD
			case dynamics.RMSRatio:
				expected = want.RMSRatio[c]
			case dynamics.Covariates:
				expected = want.Covariates[(c*K+r%K)*int(model.Covariates)+r/K]
			}
			if got := double.Get(out.Reg, r, c, 0); !(math.Abs(got-expected) <= 1e-13*(scale+math.Abs(expected))) {
				t.Fatalf("%s (%d, %d): %.17g, expected %.17g", out.Name, r, c, got, expected)
			}
			if got := single.Get(out.Reg, r, c, 0); !(math.Abs(got-expected) <= 1e-3*(scale+math.Abs(expected))) {
				t.Fatalf("%s (%d, %d) in single precision: %v, expected %v", out.Name, r, c, got, expected)
			}
		}
	}
}
