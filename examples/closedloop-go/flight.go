package main

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/dgm-robotics/dgm/estimator/numeric/ode"
)

// tick is the time between commands, s: plant and planner run at 60 Hz.
const tick = 1. / 60

// flight is a vehicle in motion: a command is held for a tick with white noise on it, where the
// plant has such noise, and the state is measured with white noise, as in the benchmark, whose
// integrator is one step of RK4 a tick.
type flight struct {
	params     []float64 // Q
	x          []float64 // K, the true state
	seen       []float64 // K, measured
	arrived    []float64 // P
	integrator *ode.RK4
	rng        *rand.Rand
	exact      bool // without noise
	steps      int
	held       []float64       // P, the last command
	solves     []time.Duration // what plans took
}

func newFlight(seed uint64) *flight {
	p := &vehicle
	f := &flight{
		params: p.Values(), x: append([]float64(nil), p.X0...), seen: make([]float64, len(p.X0)), arrived: make([]float64, len(p.U0)), held: make([]float64, len(p.U0)),
		integrator: ode.NewRK4(len(p.X0)), rng: rand.New(rand.NewPCG(seed, 60)),
	}
	for i, s := range starts {
		f.x[i] += s * f.rng.NormFloat64()
	}
	f.measure()
	return f
}

func (f *flight) measure() {
	for i, v := range f.x {
		f.seen[i] = v
		if !f.exact {
			f.seen[i] += vehicle.Noise[i] * f.rng.NormFloat64()
		}
	}
}

// step applies a command (P) for a tick.
func (f *flight) step(u []float64) {
	for i, v := range u {
		f.arrived[i] = v
		if !f.exact && vehicle.InputNoise != nil {
			f.arrived[i] += vehicle.InputNoise[i] * f.rng.NormFloat64()
		}
	}
	f.integrator.Advance(func(dst []float64, _ float64, x []float64) { vehicle.F(dst, x, f.arrived, f.params) }, f.x, 0, tick, 1)
	f.steps++
	f.measure()
}

// time returns that of the state, ns.
func (f *flight) time() int64 { return int64(math.Round(float64(f.steps) * tick * 1e9)) }

// outside reports whether the state is outside of the benchmark's bounds.
func (f *flight) outside() bool {
	return !(math.Abs(f.x[0]) <= 4 && f.x[2] >= -0.05 && f.x[2] <= 2.5) || f.tumbles()
}

// tumbles reports whether the pitch is outside of them.
func (f *flight) tumbles() bool { return !(math.Abs(f.x[4]) <= 85*math.Pi/180) }
