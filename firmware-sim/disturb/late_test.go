package disturb

import (
	"math"
	"testing"
)

// A step of the command arrives after the dead time, within a step of the simulation too, and then as 1 − exp(−t/τ).
func TestLateness(t *testing.T) {
	const dt, dead, lag = 0.01, 0.034, 0.02
	a := NewActuators([]Lateness{{Dead: dead, Lag: lag, Inputs: []int{0}}}, []float64{0, 0})
	acting := make([]float64, 2)
	integral, exact := 0.0, func(t float64) float64 { // of the response to a step at 0
		if t -= dead; t <= 0 {
			return 0
		}
		return t - lag*-math.Expm1(-t/lag)
	}
	a.Mean(acting, []float64{0, 0}, -dt, dt)
	for i := range 40 {
		now := float64(i) * dt
		a.Mean(acting, []float64{1, 1}, now, dt)
		integral += acting[0] * dt
		if e := exact(now + dt); math.Abs(integral-e) > 1e-12 || math.Abs(acting[1]-1) > 1e-12 {
			t.Fatalf("after %v s: the integral is %v, expected %v; the other input acts as %v", now+dt, integral, e, acting[1])
		}
	}
	if len(a.sent) != 1 {
		t.Errorf("%d commands are kept", len(a.sent))
	}
}

// Without a lag only the dead time counts; before its onset there is none.
func TestLatenessBegins(t *testing.T) {
	a := NewActuators([]Lateness{{Dead: 0.02, Onset: Onset{At: 1}}}, []float64{0})
	acting := make([]float64, 1)
	for i, u := range []float64{5, 5, 7, 7, 7} { // a change at 0.99 s, another at 1.01 s
		a.Mean(acting, []float64{u}, 0.99+0.01*float64(i), 0.01)
		if want := []float64{5, 5, 5, 5, 7}[i]; math.Abs(acting[0]-want) > 1e-9 {
			t.Errorf("step %d: %v acts, expected %v", i, acting[0], want)
		}
	}
}
