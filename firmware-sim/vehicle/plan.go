package vehicle

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/numeric/ode"
	"github.com/dgm-robotics/dgm/firmware-sim/drive"
	"github.com/dgm-robotics/dgm/firmware-sim/seed"
)

// forecast is the memory of a plan: a copy of the robot that runs ahead.
type forecast struct {
	driver drive.Driver
	x, u   []float64
	solver *ode.RK4
	motion ode.Func
	sub    int // steps of the integrator in a base step
}

// planStep is the longest step of the integrator that runs ahead, s.
const planStep = 0.005

func newForecast(v *Vehicle) forecast {
	p := &v.cfg.Plant
	a := forecast{
		x: make([]float64, len(v.x)), u: make([]float64, len(v.u)),
		solver: ode.NewRK4(len(v.x)),
		sub:    max(1, int(math.Ceil(v.dt/planStep-1e-9))),
	}
	a.driver, _ = drive.For(&v.cfg.Plant, v.dt*float64(v.perCommand), seed.New(0, seed.Drive, 0, 0))
	// A controller plans with the default parameters.
	nominal, u := p.Values(), a.u
	a.motion = func(dst []float64, _ float64, x []float64) { p.F(dst, x, u, nominal) }
	return a
}

// Plan sets dst (rows×P row-major) to the inputs that the robot is going to use
// in the next horizon seconds, as means over rows equal blocks of time: what a
// copy of its driver commands to a copy of its plant without wind, noise or
// changed parameters. It returns false when that copy's state is not finite.
func (v *Vehicle) Plan(dst []float64, horizon float64) (ok bool) {
	p := len(v.u)
	a := &v.ahead
	a.driver.CopyFrom(v.driver)
	copy(a.x, v.x)
	copy(a.u, v.u)
	left, block := v.left, horizon/float64(len(dst)/p)
	clear(dst)
	row := 0
	for i := 0; row*p < len(dst); i++ {
		// The base step covers [from, to) and its input counts in every block
		// that it touches, by the time spent there.
		from, to := float64(i)*v.dt, float64(i+1)*v.dt
		for row*p < len(dst) {
			end := float64(row+1) * block
			share := (math.Min(to, end) - math.Max(from, float64(row)*block)) / block
			for k, u := range a.u {
				dst[row*p+k] += share * u
			}
			if end > to {
				break
			}
			row++
		}
		if v.feedback && !a.solver.Advance(a.motion, a.x, 0, v.dt, a.sub) {
			return false
		}
		if left--; left == 0 {
			a.driver.Command(a.u, a.x)
			left = v.perCommand
		}
	}
	return true
}
