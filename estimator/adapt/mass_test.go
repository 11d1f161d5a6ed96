package adapt

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/motion"
)

// flying returns a model of a quadrotor that can adapt, whose only component is its equation of motion.
func flying(t *testing.T) *model.Model {
	m := artificial.New(artificial.Size{K: 12, P: 4, Features: 4, Basis: 2, Members: 1, D: 1, Core: []int{4}, Points: 20, Horizon: 0.5, Equation: 1}, 3)
	e := model.EquationOf(m.Stack)
	e.Step = 1e-9 * period
	clear(e.Weights)
	required, optional := motion.Roles("multirotor")
	e.Motion = motion.Equation{Kind: "multirotor"}
	for k, name := range append(required, optional...) {
		e.Motion.Roles = append(e.Motion.Roles, motion.Role{Name: name, State: k, Scale: 1})
	}
	if err := e.Motion.Declare(m.K, m.Channels[m.K:]); err != nil {
		t.Fatal(err)
	}
	for i, p := range e.Motion.Parameters {
		v := 0.
		switch input := p.Name[len(p.Name)-1]; {
		case strings.HasPrefix(p.Name, "thrust"):
			v = -9.81 / 4
		case strings.HasPrefix(p.Name, "gravity"):
			v = 9.81
		case strings.HasPrefix(p.Name, "drag"), strings.HasPrefix(p.Name, "damping"):
			v = 3
		case strings.Contains(p.Name, "torque"):
			v = 2 * float64([]int{1, -1, 1, -1}[input-'0'])
			if strings.HasPrefix(p.Name, "pitch") {
				v = 2 * float64([]int{1, 1, -1, -1}[input-'0'])
			}
		}
		e.Motion.Parameters[i].Value, e.Motion.Parameters[i].Low, e.Motion.Parameters[i].High = v, v, v
	}
	m.Stack = m.Stack[:1]
	for range model.Conditions {
		m.NetworkWeight = append(m.NetworkWeight, make([]float64, m.K*len(m.NoiseKnots)))
	}
	for p := range m.P {
		m.Inputs.InputMean[p], m.Inputs.InputStd[p] = 1, 0.2
	}
	for k := range m.K {
		m.Scale[k] = 0.005
		m.Adaptation.Rate = append(m.Adaptation.Rate, 1)
	}
	for i := range m.Members {
		for j := range m.Members[i].Posterior {
			clear(m.Members[i].Posterior[j].LogSigma)
		}
	}
	return m
}

// A load is a mass, and not weaker motors; weaker motors are not a load.
func TestLearnsTheMass(t *testing.T) {
	m := flying(t)
	f := filter(t, m)
	mass := len(f.state.Theta) - 1
	if a := f.state.Amounts(m); a[mass].Name != "mass" || a[mass].Unit != "%" {
		t.Fatalf("the last amount is %+v", a[mass])
	}
	for _, c := range []struct{ mass, gain float64 }{{0.3, 0}, {0, -0.2}} {
		theta := make([]float64, len(f.state.Theta))
		theta[mass] = c.mass
		for p := range m.P {
			theta[m.K+p] = c.gain
		}
		f.Reset()
		r, rng := newRobot(t, m, theta), rand.New(rand.NewPCG(4, 5))
		for i := range 800 {
			if i%20 == 0 {
				for p := range r.u {
					r.u[p] = (1 + c.mass) / (1 + c.gain) * (1 + 0.2*rng.NormFloat64() - 0.05*[]float64{1, -1, 1, -1}[p]*r.x[0] - 0.05*[]float64{1, 1, -1, -1}[p]*r.x[1])
				}
			}
			f.Observed(r.t, r.measured(), r.u)
			u := append([]float64(nil), r.u...)
			r.step()
			copy(r.u, u)
		}
		got := f.State().Theta
		if math.Abs(got[mass]-c.mass) > 0.03 {
			t.Errorf("a mass of %.2f and gains of %.2f: learned a mass of %.3f", c.mass, c.gain, got[mass])
		}
		for p := range m.P {
			if math.Abs(got[m.K+p]-c.gain) > 0.03 {
				t.Errorf("a mass of %.2f and gains of %.2f: learned a gain of %.3f", c.mass, c.gain, got[m.K+p])
			}
		}
	}
}
