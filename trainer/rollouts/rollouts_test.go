package rollouts

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/modeltest"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Every start has its own displacements, those of the prior dynamics, for every component of every kind of model, with actuators and without.
func TestEachStartIsThePriorDynamics(t *testing.T) {
	compared := 0
	for name, shape := range modeltest.Shapes() {
		rng := rand.New(rand.NewPCG(5, 6))
		m := modeltest.New(shape, rng)
		task := window.Task{States: m.Channels[:m.K], Inputs: m.P, Horizon: m.Horizon}
		times := append(m.EqualTimes(7), 0.0301)
		for _, c := range m.Stack {
			if c.Kind == model.Direct {
				continue // reads the history
			}
			compared++
			c.Residual, c.Weights = false, nil
			spec := Spec{Component: c, Actuators: m.Actuators, History: m.History, Times: times}
			prior := estimator.NewPriorDynamics(task.States, m.P, estimator.PriorDynamicsSpec{
				Stack: []model.Component{c}, History: m.History, Actuators: m.Actuators, Knots: m.NoiseKnots, Horizon: m.Horizon,
			})
			r := New(task, spec)
			draw := func(n int) []float64 {
				out := make([]float64, n)
				for i := range out {
					out[i] = 0.5 * rng.NormFloat64()
				}
				return out
			}
			var want [][]float64
			for lane := range r.Lanes() {
				x0, past := draw(m.K), draw(m.History.Rows()*(m.K+m.P))
				if lane%3 == 0 {
					past = nil
				}
				var u channel.Command
				if m.P > 0 {
					u = &feature.Plan{Values: draw(5 * m.P), P: m.P, Step: m.Horizon / 5}
				}
				r.Start(lane, x0, u, past)
				prior.Start(x0, u, model.Plan, past)
				var all []float64
				for _, at := range times {
					d := make([]float64, m.K)
					prior.At(d, nil, at)
					all = append(all, d...)
				}
				want = append(want, all)
			}
			r.Run()
			got := make([]float64, len(times)*m.K)
			for lane := range want {
				r.Displacements(got, lane)
				for i, w := range want[lane] {
					if !(math.Abs(got[i]-w) <= 1e-9*(1+math.Abs(w))) {
						t.Fatalf("%s, kind %v, start %d: number %d is %v, expected %v", name, c.Kind, lane, i, got[i], w)
					}
				}
			}
		}
	}
	if compared < 10 {
		t.Errorf("only %d components", compared)
	}
}
