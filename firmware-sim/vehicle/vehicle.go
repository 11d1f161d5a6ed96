// Package vehicle is one simulated robot: a plant, its driver, its disturbances and their
// clock. Its states are exact; package sensor adds errors.
//
// Time runs in base steps. Between two of them every input and the wind are
// constant, so that an adaptive integrator integrates smooth equations. A robot is
// commanded about 200 times a second, or as often as its plant says, and at least once a sample: at sample
// rates above that an input is held for several samples, below it several
// inputs pass between two samples.
package vehicle

import (
	"cmp"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/numeric/ode"
	"github.com/dgm-robotics/dgm/firmware-sim/disturb"
	"github.com/dgm-robotics/dgm/firmware-sim/drive"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
	"github.com/dgm-robotics/dgm/firmware-sim/seed"
)

// controlRate is how often a robot is commanded whose plant does not say, Hz, about.
const controlRate = 200

// beliefNoise is the error of a controller's state estimate over that of the
// raw sensors: its filter removes most of the noise.
const beliefNoise = 0.2

// Config describes a robot and its observation.
type Config struct {
	Plant   plant.Plant
	Params  []float64          // (optional) Q, the true parameters; defaults to the plant's. Drivers keep believing in the plant's
	Noise   []float64          // (optional) K, standard deviation of the sensors that a controller reads; defaults to none
	Rate    float64            // samples a second, Hz
	Gusts   disturb.Gusts      // (optional) wind; the plant must have Disturbances
	Payload disturb.Payload    // (optional) the plant must have a Mass
	Worn    []disturb.Wear     // (optional) of its actuators
	Late    []disturb.Lateness // (optional) of its actuators
	Seed    uint64
}

// Vehicle is a robot in motion: New, then Start of every segment.
type Vehicle struct {
	cfg    Config
	params []float64 // Q
	noise  []float64 // K, of the belief

	dt         float64 // s, base step
	perSample  int     // base steps a sample
	perCommand int     // base steps a command
	left       int     // base steps until the next command

	first  float64 // s, log time of the segment's start
	passed int     // base steps since then

	x, u, belief []float64
	acting       []float64          // P, what arrives of u
	late         *disturb.Actuators // nil = they act at once
	added        []float64          // P, noise on u until the next command; nil = none
	shaking      *seed.Source
	push         []float64 // what the wind does now
	mass         int       // which parameter a payload adds to
	carried      []float64 // Q, parameters with what is carried
	driver       drive.Driver
	feedback     bool
	doubt        *seed.Source
	wind         *disturb.Wind // nil = calm

	solver *ode.Dopri5
	motion ode.Func
	ahead  forecast
}

// New returns a robot.
func New(c Config) *Vehicle {
	k, p := len(c.Plant.States), len(c.Plant.Inputs)
	mass := slices.IndexFunc(c.Plant.Params, func(p plant.Param) bool { return p.Name == c.Plant.Mass })
	v := &Vehicle{
		cfg: c, params: c.Params, perSample: 1, perCommand: 1,
		noise: make([]float64, k),
		x:     make([]float64, k), u: make([]float64, p), belief: make([]float64, k),
		acting: make([]float64, p), push: make([]float64, len(c.Plant.Disturbances)), mass: mass,
		// Far below any sensor's noise, and cheap: most base steps are one step.
		solver: ode.NewDopri5(k, ode.Config{RTol: 1e-9, ATol: 1e-9}),
	}
	if v.params == nil {
		v.params = c.Plant.Values()
	}
	v.carried = slices.Clone(v.params)
	for i := range c.Noise {
		v.noise[i] = beliefNoise * c.Noise[i]
	}
	if c.Plant.InputNoise != nil {
		v.added = make([]float64, p)
	}
	commands := cmp.Or(c.Plant.Commands, controlRate)
	if c.Rate >= commands {
		v.perCommand = int(math.Round(c.Rate / commands))
	} else if p > 0 || c.Gusts.Std != 0 {
		v.perSample = int(math.Ceil(commands / c.Rate))
	}
	v.dt = 1 / (c.Rate * float64(v.perSample))
	v.motion = func(dst []float64, _ float64, x []float64) {
		c.Plant.F(dst, x, v.acting, v.carried)
		if v.wind != nil {
			c.Plant.Push(dst, x, v.push, v.carried)
		}
	}
	v.ahead = newForecast(v)
	return v
}

// Start begins a segment, counted from 0, at log time first, s, and at x0 (K).
// Without x0 the first one begins at the plant's X0 and the others somewhere in its
// box.
func (v *Vehicle) Start(segment int, first float64, x0 []float64) {
	p := &v.cfg.Plant
	v.first, v.passed = first, 0
	switch {
	case x0 != nil:
		copy(v.x, x0)
	case segment == 0:
		copy(v.x, p.X0)
	default:
		src := seed.New(v.cfg.Seed, seed.Start, segment, 0)
		for i := range v.x {
			v.x[i] = src.Uniform(p.Low[i], p.High[i])
		}
	}
	v.driver, v.feedback = drive.For(&v.cfg.Plant, v.dt*float64(v.perCommand), seed.New(v.cfg.Seed, seed.Drive, segment, 0))
	v.doubt = seed.New(v.cfg.Seed, seed.Belief, segment, 0)
	v.shaking = seed.New(v.cfg.Seed, seed.Input, segment, 0)
	if v.cfg.Gusts.Std != 0 {
		v.wind = disturb.NewWind(v.cfg.Gusts, len(p.Disturbances), v.dt, seed.New(v.cfg.Seed, seed.Wind, segment, 0))
	}
	v.command()
	if len(v.cfg.Late) > 0 {
		v.late = disturb.NewActuators(v.cfg.Late, v.u)
	}
}

// X returns the true state (K) at the present sample; it changes with Step.
func (v *Vehicle) X() []float64 { return v.x }

// U returns the inputs (P) that are held from the present sample on.
func (v *Vehicle) U() []float64 { return v.u }

// Step moves on to the next sample. It returns false when the state is no longer
// finite.
func (v *Vehicle) Step() (ok bool) {
	for range v.perSample {
		v.disturb()
		if !v.solver.Advance(v.motion, v.x, 0, v.dt) {
			return false
		}
		v.passed++
		if v.wind != nil {
			v.wind.Next()
		}
		if v.left--; v.left == 0 {
			v.command()
		}
	}
	return true
}

// disturb sets what the coming base step feels: inputs that arrive, wind, and mass.
func (v *Vehicle) disturb() {
	t := v.first + float64(v.passed)*v.dt
	copy(v.acting, v.u)
	if v.late != nil {
		v.late.Mean(v.acting, v.u, t, v.dt)
	}
	for i, a := range v.added {
		v.acting[i] += a
	}
	for i := range v.cfg.Worn {
		v.cfg.Worn[i].Apply(v.acting, t)
	}
	if v.wind != nil {
		share := v.cfg.Gusts.Share(t)
		for i, d := range v.wind.Now() {
			v.push[i] = share * d
		}
	}
	if load := &v.cfg.Payload; load.Mass != 0 {
		v.carried[v.mass] = v.params[v.mass] * (1 + load.Mass*load.Share(t))
	}
}

func (v *Vehicle) command() {
	for i, x := range v.x {
		v.belief[i] = x + v.noise[i]*v.doubt.Normal()
	}
	v.driver.Command(v.u, v.belief)
	for i := range v.added {
		v.added[i] = v.cfg.Plant.InputNoise[i] * v.shaking.Normal()
	}
	v.left = v.perCommand
}
