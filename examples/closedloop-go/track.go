package main

import (
	"math"
	"time"

	"github.com/dgm-robotics/dgm/examples/mpc-go/planning"
)

// The horizon: 12 rows of a plan of two ticks each, 0.4 s.
const (
	rows   = 12
	perRow = 2
	row    = perRow * tick // s
	ticks  = rows * perRow
)

// usualLength is that of the benchmark's task, s; each length has two cycles.
const usualLength = 11

// figureEight returns the reference (n+1+ticks)×K of the benchmark: positions and velocities
// of a figure of eight in x and z around (0, 1) with an amplitude of 1 m, two cycles in so many
// seconds. Pitch and its rate are 0, without weight.
func figureEight(length float64) (reference []float64) {
	omega := 2 * math.Pi / (length / 2)
	for i := range steps(length) + 1 + ticks {
		s, c := math.Sincos(omega * float64(i) * tick)
		reference = append(reference, s, omega*c, 1+s*c, omega*(c*c-s*s), 0, 0)
	}
	return reference
}

func steps(length float64) int { return int(math.Round(length / tick)) }

// flyable returns what the true model without noise flies of a reference, from rest, with twice
// the horizon: a reference with a start that a vehicle can follow.
func flyable(reference []float64) []float64 {
	K := len(vehicle.X0)
	n := len(reference) / K
	f := newFlight(0)
	f.exact = true
	copy(f.x, vehicle.X0)
	f.measure()
	c := config(2 * rows)
	c.Steps = 2
	m := truth()
	planner := planning.New(c, m.predict(0))
	out := append([]float64(nil), f.x...)
	ahead := make([]float64, c.T*K)
	for i := range n - 1 {
		for t := range c.T {
			copy(ahead[t*K:(t+1)*K], reference[min(i+(t+1)*perRow, n-1)*K:])
		}
		planner.Improve(f.seen, ahead)
		f.step(planner.Plan[:c.P])
		planner.Advance(1. / perRow)
		out = append(out, f.x...)
	}
	for i := range n {
		out[i*K+4], out[i*K+5] = 0, 0
	}
	return out
}

// planner plans in flight on a predictor, by one of the package planning.
type planner struct {
	predictor
	improver
	plan []float64     // R×P, the last one
	at   func(t int64) // makes the model that of a time, ns
}

type improver interface {
	Improve(x, reference []float64) (ok bool)
	Advance(share float64)
}

func (p *planner) command(t int64, x, reference []float64) (u []float64) {
	p.at(t)
	p.Improve(x, reference)
	return p.plan
}

func (p *planner) observe(t int64, x, u []float64) {
	p.predictor.observe(t, x, u)
	p.Advance(1. / perRow)
}

// newDescent returns a planner by Gauss-Newton steps.
func newDescent(c planning.Config, m predictor) *planner {
	var on planning.Model
	p := planning.New(c, func(dst *planning.Prediction, x, plan []float64) bool { return on(dst, x, plan) })
	return &planner{m, p, p.Plan, func(t int64) { on = m.predict(t) }}
}

// Plans of MPPI, and how far they are drawn.
const drawn = 200

// newDraws returns a planner by MPPI.
func newDraws(c planning.Config, m *learned, seed uint64) (*planner, error) {
	b, err := m.fast.Batch(times(c.T), 1)
	if err != nil {
		return nil, err
	}
	var on planning.Batch
	p := planning.NewMPPI(c, func(mean, x, plans []float64) bool { return on(mean, x, plans) }, drawn, []float64{0.08, 0.12}, 0.02, seed)
	return &planner{m, p, p.Plan, func(t int64) { on = m.means(b, t) }}, nil
}

// under applies the command of a planner that follows a reference for a tick.
func (f *flight) under(c *planner, reference []float64) {
	t, began := f.time(), time.Now()
	copy(f.held, c.command(t, f.seen, reference))
	f.solves = append(f.solves, time.Since(began))
	c.observe(t, f.seen, f.held)
	f.step(f.held)
}

// track flies a reference. The error is that of the benchmark, m: the root of the mean square
// distance in x and z, after each tick. The flight ends where it has left the bounds.
func track(f *flight, c *planner, reference []float64) (rmse float64) {
	K := len(f.x)
	n := len(reference)/K - 1 - ticks
	ahead, sum := make([]float64, rows*K), 0.0
	for i := range n {
		for r := range rows {
			copy(ahead[r*K:(r+1)*K], reference[(i+(r+1)*perRow)*K:])
		}
		f.under(c, ahead)
		now := reference[(i+1)*K:]
		sum += square(f.x[0]-now[0]) + square(f.x[2]-now[2])
		if f.outside() {
			return math.Sqrt(sum / float64(i+1))
		}
	}
	return math.Sqrt(sum / float64(n))
}

func square(v float64) float64 { return v * v }
