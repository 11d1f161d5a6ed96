package plant

import (
	"math"
	"math/rand/v2"
	"testing"
)

// dEnergy returns dE/dt along f by central differences of the energy.
func dEnergy(energy func(x []float64) float64, x, f []float64) float64 {
	const h = 1e-6
	up, down := make([]float64, len(x)), make([]float64, len(x))
	for i := range x {
		up[i], down[i] = x[i]+h*f[i], x[i]-h*f[i]
	}
	return (energy(up) - energy(down)) / (2 * h)
}

// Energy changes by what the input, friction and wind put in, and by nothing
// else: an equation of motion with a wrong term fails this.
func TestPowerBalance(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	pend, cart := Pendulum(), Cartpole()
	for range 50 {
		x, u, p := anywhere(&pend, rng)
		d, f := []float64{rng.NormFloat64()}, make([]float64, 2)
		pend.F(f, x, u, p)
		pend.Push(f, x, d, p)
		g, m, l, b := p[0], p[1], p[2], p[3]
		got := dEnergy(func(x []float64) float64 {
			return m*l*l*x[1]*x[1]/2 - m*g*l*math.Cos(x[0])
		}, x, f)
		if want := (u[0] + d[0] - b*x[1]) * x[1]; math.Abs(got-want) > 1e-7*(1+math.Abs(want)) {
			t.Errorf("pendulum: power %v, want %v", got, want)
		}

		x, u, p = anywhere(&cart, rng)
		f = make([]float64, 4)
		cart.F(f, x, u, p)
		cart.Push(f, x, d, p)
		g, M, m, l, c, b := p[0], p[1], p[2], p[3], p[4], p[5]
		got = dEnergy(func(x []float64) float64 {
			sin, cos := math.Sincos(x[2])
			vx, vy := x[1]+l*x[3]*cos, -l*x[3]*sin
			return M*x[1]*x[1]/2 + m*(vx*vx+vy*vy)/2 + m*g*l*cos
		}, x, f)
		tip := x[1] + l*x[3]*math.Cos(x[2])
		want := u[0]*x[1] + d[0]*tip - c*x[1]*x[1] - b*x[3]*x[3]
		if math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
			t.Errorf("cartpole: power %v, want %v", got, want)
		}
	}
}

// A push is an acceleration of the world frame, whatever the attitude: carried
// back through the rotation of the velocities it must come out unchanged.
func TestQuadrotorPushIsInTheWorldFrame(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	quad := Quadrotor()
	for range 20 {
		x, u, p := anywhere(&quad, rng)
		d := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		push, jx := make([]float64, 12), make([]float64, 144)
		quad.Push(push, x, d, p)
		quad.jacobian(jx, nil, nil, x, u, p)
		for i := range 3 {
			var got float64
			for j := range 3 {
				got += jx[(9+i)*12+j] * push[j]
			}
			if math.Abs(got-d[i]) > 1e-12 {
				t.Errorf("axis %d: %v became %v", i, d[i], got)
			}
		}
	}
}
