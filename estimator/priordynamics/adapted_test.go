package priordynamics

import (
	"math"
	"testing"
)

// adaptation returns parameters of a model, and values of them.
func adaptation(m *Model, K int) (a Adaptation, theta []float64) {
	a.Fade = 0.3
	for k := range K {
		a.Rate = append(a.Rate, 0.5+0.1*float64(k))
		if m.Own(k) >= 0 {
			a.Damped = append(a.Damped, k)
		}
	}
	for i := range a.Parameters(m) {
		theta = append(theta, 0.1*math.Sin(float64(3*i+1)))
	}
	return a, theta
}

func TestAdaptedAtZeroIsTheRollout(t *testing.T) {
	for degree := 1; degree <= 3; degree++ {
		m := random(degree, 0.05)
		a, theta := adaptation(m, 3)
		clear(theta)
		x0, u := []float64{0.3, -0.2, 1}, &staircase{length: 0.15, values: [][]float64{{1, 0.2}, {0.5, -0.1}, {2, 0}}}
		adapted, p := NewAdapted(m, 3, a, 1), New(m, 3, 1)
		adapted.Run(x0, u, theta, 1, true)
		p.Run(x0, u)
		got, want := make([]float64, 3), make([]float64, 3)
		for i := range 10 {
			adapted.At(got, nil, float64(i)*m.Step)
			for k, d := range got {
				if d != 0 {
					t.Errorf("degree %d, node %d: parameters of zero add %v to state %d", degree, i, d, k)
				}
			}
			p.At(want, nil, float64(i)*m.Step)
			for k, d := range want {
				if math.Abs(adapted.plain[i*3+k]-d) > 1e-12 {
					t.Errorf("degree %d, node %d: state %d is %v, a roll-out has %v", degree, i, k, adapted.plain[i*3+k], d)
				}
			}
		}
	}
}

// Sensitivities and derivatives by time are those of differences.
func TestAdaptedDerivatives(t *testing.T) {
	check := func(t *testing.T, m *Model, x0 []float64) {
		K := len(x0)
		a, theta := adaptation(m, K)
		u := &staircase{length: 0.15, values: [][]float64{{1, 0.2}, {0.5, -0.1}, {2, 0}}}
		adapted := NewAdapted(m, K, a, 1)
		q := a.Parameters(m)
		at := func(theta []float64, time float64) []float64 {
			adapted.Run(x0, u, theta, 0.5, false)
			out := make([]float64, K)
			adapted.At(out, nil, time)
			return out
		}
		for _, time := range []float64{0.03, 0.22, 0.47} {
			adapted.Run(x0, u, theta, 0.5, true)
			sensitivity, rate := make([]float64, K*q), make([]float64, K)
			adapted.SensitivityAt(sensitivity, time)
			adapted.At(make([]float64, K), rate, time)
			for k := range K {
				near(t, "rate", rate[k], func(h float64) float64 { return at(theta, time+h)[k] }, 1e-5)
				for j := range q {
					near(t, "sensitivity", sensitivity[k*q+j], func(h float64) float64 {
						moved := append([]float64(nil), theta...)
						moved[j] += h
						return at(moved, time)[k]
					}, 1e-5)
				}
			}
		}
	}
	for degree := 1; degree <= 3; degree++ {
		check(t, random(degree, 0.05), []float64{0.3, -0.2, 1})
	}
	check(t, chained(2, true, 0.02), []float64{20, 30, -40, 10})
	eachFlyer(t, func(t *testing.T, inBody bool, period float64) {
		check(t, flown(t, 2, inBody, period, 0.02), aloft(0.3, period))
	})
}

// A bias alone adds what its fading rate has moved the state by, forwards and against time.
func TestBiasesFade(t *testing.T) {
	m := random(1, 0.05)
	clear(m.Weights)
	a, theta := adaptation(m, 3)
	for i := range theta {
		if i >= 3 {
			theta[i] = 0
		}
	}
	for _, sign := range []float64{1, -1} {
		adapted := NewAdapted(m, 3, a, sign)
		adapted.Run([]float64{0.3, -0.2, 1}, &staircase{length: 1, values: [][]float64{{1, 0.2}}}, theta, 1, false)
		got := make([]float64, 3)
		adapted.At(got, nil, 10*m.Step)
		for k, d := range got {
			want := 0.0
			for i := range 10 {
				want += sign * theta[k] * a.Rate[k] * m.Step * math.Exp(-float64(i)*m.Step/a.Fade)
			}
			if math.Abs(d-want) > 1e-12 {
				t.Errorf("direction %v: state %d moves by %v, expected %v", sign, k, d, want)
			}
		}
	}
}
