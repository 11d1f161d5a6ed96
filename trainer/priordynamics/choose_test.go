package priordynamics

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// carts returns flights of a mass on a rail that a force pushes to and fro, with dry friction or without.
func carts(friction float64) (flights []window.Flight, task window.Task) {
	const dt, noise = 0.02, 0.002
	task.States, task.Inputs, task.Horizon = []channel.Channel{{Name: "x", Unit: "m", Derivative: "v", Role: channel.State}, {Name: "v", Unit: "m/s", Role: channel.State}}, 1, 0.5
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var s window.Series
		x, v, phase := 0., 0., 6*rng.Float64()
		for i := range 1000 {
			t := dt * float64(i)
			u := 2*math.Sin(1.3*t+phase) + math.Sin(3.1*t-phase) - x
			s.T, s.X, s.U = append(s.T, int64(i)*2e7), append(s.X, x+noise*rng.NormFloat64(), v+noise*rng.NormFloat64()), append(s.U, u)
			for range 20 {
				v += dt / 20 * (u - 0.5*v - friction*math.Tanh(v/0.02))
				x += dt / 20 * v
			}
		}
		flights = append(flights, window.Prepare(int(seed), s, task.States, 1, window.Options{})...)
	}
	return flights, task
}

// Dry friction is in the equation of a robot that has it, and not in that of one that has none.
func TestDryFrictionIsFound(t *testing.T) {
	for _, friction := range []float64{0, 0.8} {
		flights, task := carts(friction)
		c, err := Choose(t.Context(), flights, task, priordynamics.Body{}, func(int, int) {})
		if err != nil {
			t.Fatal(err)
		}
		if c.Shape.Dry != (friction > 0) {
			t.Errorf("friction of %g: chosen %+v", friction, c.Candidates)
		}
		if best := c.Candidates[0]; friction > 0 {
			for _, other := range c.Candidates[1:] {
				if other.Score < 1.5*best.Score {
					t.Errorf("an equation of degree %d without friction has %.3f of the error of holding, with it %.3f", other.Degree, other.Score, best.Score)
				}
			}
		}
	}
}

// A larger equation must be clearly better than a smaller one, one with a stronger penalty just better.
func TestStrongerPenaltyIsNoLargerEquation(t *testing.T) {
	small := Candidate{Shape: Shape{Step: 0.05, Degree: 2, Ridge: 1e-5}, Score: 0.2}
	for _, c := range []struct {
		name   string
		of     Candidate
		chosen bool
	}{
		{"a stronger penalty, 1 % better", Candidate{Shape: Shape{Step: 0.05, Degree: 2, Ridge: 1e-3}, Score: 0.198}, true},
		{"a stronger penalty, as good", Candidate{Shape: Shape{Step: 0.05, Degree: 2, Ridge: 1e-3}, Score: 0.2}, false},
		{"a degree more, 1 % better", Candidate{Shape: Shape{Step: 0.05, Degree: 3, Ridge: 1e-5}, Score: 0.198}, false},
		{"a degree more, 5 % better", Candidate{Shape: Shape{Step: 0.05, Degree: 3, Ridge: 1e-5}, Score: 0.19}, true},
		{"dry friction, 1 % better", Candidate{Shape: Shape{Step: 0.05, Degree: 2, Ridge: 1e-5, Dry: true}, Score: 0.198}, false},
		{"shorter steps, 1 % better", Candidate{Shape: Shape{Step: 0.02, Degree: 2, Ridge: 1e-5}, Score: 0.198}, false},
	} {
		if chosen := c.of.Score < c.of.least(&small); chosen != c.chosen {
			t.Errorf("%s: chosen %v", c.name, chosen)
		}
	}
}
