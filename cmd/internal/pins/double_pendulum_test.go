package pins

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/numeric/ode"
)

// drivenDoublePendulum records a double pendulum of two point masses with a motor in
// each joint (angles from hanging down, the second relative to the first link): torques
// of three sines each, viscous friction, sensor noise, 100 Hz.
func drivenDoublePendulum(t *testing.T) []byte {
	const (
		m, l, g, friction = 0.5, 0.3, 9.81, 0.05
		dt, samples       = 0.01, 251
	)
	r := rand.New(rand.NewPCG(7, 11))
	var b bytes.Buffer
	w, err := flightlog.NewWriter(&b, driven)
	if err != nil {
		t.Fatal(err)
	}
	for segment := range 5 {
		var amplitude, rate, phase [6]float64
		for i := range amplitude {
			amplitude[i], rate[i], phase[i] = 0.5*r.NormFloat64(), 2+8*r.Float64(), 2*math.Pi*r.Float64()
		}
		u := make([]float64, 2)
		motion := func(dx []float64, _ float64, x []float64) {
			c2, s2 := math.Cos(x[1]), math.Sin(x[1])
			m11, m12, m22 := m*l*l*(3+2*c2), m*l*l*(1+c2), m*l*l
			b1 := u[0] - friction*x[2] + m*l*l*s2*(2*x[2]*x[3]+x[3]*x[3]) - m*g*l*(2*math.Sin(x[0])+math.Sin(x[0]+x[1]))
			b2 := u[1] - friction*x[3] - m*l*l*s2*x[2]*x[2] - m*g*l*math.Sin(x[0]+x[1])
			det := m11*m22 - m12*m12
			dx[0], dx[1] = x[2], x[3]
			dx[2], dx[3] = (m22*b1-m12*b2)/det, (m11*b2-m12*b1)/det
		}
		x := []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
		if err := w.BeginSegment("run "+strconv.Itoa(segment+1), nil); err != nil {
			t.Fatal(err)
		}
		solver, noisy := ode.NewRK4(4), make([]float64, 4)
		for i := range samples {
			at := dt * float64(i)
			for j := range u {
				u[j] = 0
				for n := 3 * j; n < 3*j+3; n++ {
					u[j] += amplitude[n] * math.Sin(rate[n]*at+phase[n])
				}
			}
			for k, v := range x {
				noisy[k] = v + []float64{0.003, 0.003, 0.02, 0.02}[k]*r.NormFloat64()
			}
			if err := w.Sample(int64(segment)*1e11+int64(i)*1e7, noisy, u, nil); err != nil {
				t.Fatal(err)
			}
			if !solver.Advance(motion, x, at, at+dt, 4) {
				t.Fatal("the simulated double pendulum is not finite")
			}
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
