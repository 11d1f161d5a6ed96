// Package robot is a simulated vehicle with its sensors: the source of a log or of a
// telemetry link.
package robot

import (
	"cmp"
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/firmware-sim/fault"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
	"github.com/dgm-robotics/dgm/firmware-sim/sensor"
	"github.com/dgm-robotics/dgm/firmware-sim/vehicle"
)

// Config describes a robot. Its zero value but for Plant and Rate is a robot in
// still air with exact sensors.
type Config struct {
	vehicle.Config
	X0     []float64     // (optional) K, where every segment begins; defaults to X0, then places in its box
	Faults []fault.Fault // (optional) of its sensors

	// (optional) With both set, every sample comes with the plan of inputs for
	// the next PlanHorizon seconds as PlanRows means over equal blocks of time.
	PlanHorizon float64 // s
	PlanRows    int
}

// Typical returns the robot of a plant with its usual sensors.
func Typical(p plant.Plant) Config {
	return Config{Config: vehicle.Config{Plant: p, Rate: cmp.Or(p.Commands, 200), Noise: p.Noise}}
}

// Channels returns states and inputs, the states with the noise of the sensors,
// or with none for exact ones.
func (c *Config) Channels(exact bool) []channel.Channel {
	all := c.Plant.Channels()
	for i := range c.Plant.States {
		all[i].Noise = 0
		if c.Noise != nil && !exact {
			all[i].Noise = c.Noise[i]
		}
	}
	return all
}

// At returns the time of sample i, ns after the first of its segment.
func (c *Config) At(i int) int64 { return int64(math.Round(float64(i) * 1e9 / c.Rate)) }

// Sample is one sample of the robot.
type Sample struct {
	At    int64     // ns, true time
	Stamp int64     // ns, by the robot's clock
	Lost  bool      // a dropout took it; the rest is what it would have been
	X     []float64 // K, measured
	Truth []float64 // K, the true state
	U     []float64 // P, held from At on
	Plan  []float64 // PlanRows×P row-major; nil = none
}

// Robot is a robot in motion: New, then Start of every segment.
type Robot struct {
	cfg     Config
	vehicle *vehicle.Vehicle
	sensor  *sensor.Sensor
	first   int64 // ns, time of sample 0 of the segment
	i       int
	now     Sample
}

// New returns a robot.
func New(c Config) *Robot {
	r := &Robot{cfg: c, vehicle: vehicle.New(c.Config)}
	r.now.X = make([]float64, len(c.Plant.States))
	if n := c.PlanRows * len(c.Plant.Inputs); n > 0 && c.PlanHorizon > 0 {
		r.now.Plan = make([]float64, n)
	}
	return r
}

// Start begins a segment, counted from 0, whose first sample is taken at time
// first, ns.
func (r *Robot) Start(segment int, first int64) {
	r.vehicle.Start(segment, float64(first)/1e9, r.cfg.X0)
	r.sensor = sensor.New(sensor.Config{Noise: r.cfg.Noise, Spike: r.cfg.Plant.Noise, Faults: r.cfg.Faults, Seed: r.cfg.Seed}, segment)
	r.first, r.i = first, 0
}

// Truth returns the true state (K) of the present.
func (r *Robot) Truth() []float64 { return r.vehicle.X() }

// Sample takes the present sample, once before each Step. Its slices belong to
// the robot and change with the next call. It returns false where the plan is
// not finite.
func (r *Robot) Sample() (s *Sample, ok bool) {
	s = &r.now
	s.At = r.first + r.cfg.At(r.i)
	s.Truth, s.U = r.vehicle.X(), r.vehicle.U()
	s.Stamp, ok = r.sensor.Measure(s.X, s.At, s.Truth)
	s.Lost = !ok
	return s, s.Plan == nil || r.vehicle.Plan(s.Plan, r.cfg.PlanHorizon)
}

// Step moves on to the next sample. It returns false when the state is no longer
// finite.
func (r *Robot) Step() (ok bool) {
	r.i++
	return r.vehicle.Step()
}
