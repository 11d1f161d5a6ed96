package priordynamics

import (
	"math"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// turned returns the rms angle by which a model's attitudes are off after half a
// second, rad.
func turned(m *priordynamics.Model, flights []window.Flight) float64 {
	sum, n := 0.0, 0.0
	roll, d, y := priordynamics.New(m, 12, 0.5), make([]float64, 12), make([]float64, 12)
	for _, w := range window.Cut(flights, 0.5, 0.1) {
		f := &flights[w.Flight]
		roll.Run(f.State(w.Start), nil)
		roll.At(d, nil, 0.5)
		if !f.Displacement(y, w.Start, 0.5) {
			continue
		}
		trace := 0.0 // of Rᵀ R', the sum over the axes of their scalar products
		for axis := range 3 {
			var a, b [3]float64
			for i, s := range []*[3]float64{&a, &b} {
				e := [3]float64{}
				for k := range e {
					e[k] = f.State(w.Start)[9+k] + []float64{d[9+k], y[9+k]}[i]
				}
				*s = column(e, axis)
			}
			trace += a[0]*b[0] + a[1]*b[1] + a[2]*b[2]
		}
		angle := math.Acos(math.Max(-1, math.Min(1, (trace-1)/2)))
		sum, n = sum+angle*angle, n+1
	}
	return math.Sqrt(sum / n)
}

// column returns where an axis of a body with roll, pitch and yaw e points.
func column(e [3]float64, axis int) [3]float64 {
	sf, cf := math.Sincos(e[0])
	st, ct := math.Sincos(e[1])
	sp, cp := math.Sincos(e[2])
	return [3][3]float64{
		{ct * cp, ct * sp, -st},
		{sf*st*cp - cf*sp, sf*st*sp + cf*cp, sf * ct},
		{cf*st*cp + sf*sp, cf*st*sp - sf*cp, cf * ct},
	}[axis]
}

// TestBodyFollowsSteepFlight: on flights at steep pitch the declared laws follow the
// attitude far better than an equation that must learn them, by regression and by
// shooting.
func TestBodyFollowsSteepFlight(t *testing.T) {
	train, test := tumble(t, 3, 40, 0.003, true), tumble(t, 4, 20, 0.003, true)
	body := tumbler(t, true)
	if !nearGimbalLock(train, &body) || nearGimbalLock(train, &priordynamics.Body{}) {
		t.Fatal("the test's flight is not steep")
	}
	shape := Shape{Step: 0.05, Degree: 1, Ridge: 1e-5}
	without, err := Regress(train, window.Task{States: tumbling, Inputs: 0}, shape)
	if err != nil {
		t.Fatal(err)
	}
	shape.Body = body
	with, err := Regress(train, window.Task{States: tumbling, Inputs: 0}, shape)
	if err != nil {
		t.Fatal(err)
	}
	a, b := turned(without, test), turned(with, test)
	t.Logf("attitude off by %.3f rad without the laws, %.3f with them", a, b)
	if b > 0.5*a {
		t.Errorf("attitude off by %.3f rad without the laws, %.3f with them", a, b)
	}
	s := gather(train, window.Task{States: tumbling, Inputs: 0}, 0.05, 10, 200, &body)
	if all := gather(train, window.Task{States: tumbling, Inputs: 0}, 0.05, 10, 200, &priordynamics.Body{}); s.N < 10 || s.N >= all.N {
		t.Errorf("%d of %d windows are level", s.N, all.N)
	}
	minimise(with, s, Effort{Iterations: 40, Work: mostWork}, nil)
	if c := turned(with, test); c > 1.1*b {
		t.Errorf("attitude off by %.3f rad after shooting, %.3f before", c, b)
	}
}
