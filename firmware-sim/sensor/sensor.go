// Package sensor turns a robot's true state into a measurement: noise on every channel
// and optional faults.
//
// A measurement goes through its stages in one order, whatever the order of the
// faults:
//
//	delay, noise, bias, spike, freeze   change values
//	jitter, clock-jump                  change the time stamp
//	dropout                             removes values or the sample
//
// Every stage draws from a stream of its own, so that a fault does not
// change the others.
package sensor

import (
	"cmp"
	"slices"

	"github.com/dgm-robotics/dgm/firmware-sim/fault"
	"github.com/dgm-robotics/dgm/firmware-sim/seed"
)

// reading is one measurement on its way through the stages.
type reading struct {
	at    int64     // ns, true time
	stamp int64     // ns, in the log
	x     []float64 // K, NaN = not measured
	lost  bool      // the whole sample is gone
}

// stage changes a reading.
type stage func(r *reading)

// Config describes the sensors of a robot.
type Config struct {
	Noise  []float64     // (optional) K, standard deviations; defaults to none
	Spike  []float64     // K, the unit of a spike's size
	Faults []fault.Fault // of sensors
	Seed   uint64
}

// Sensor measures the states of one segment.
type Sensor struct {
	stages []stage
	read   reading
}

// New returns the sensor for one segment, counted from 0.
func New(c Config, segment int) *Sensor {
	s := &Sensor{read: reading{x: make([]float64, len(c.Spike))}}
	faults := slices.SortedStableFunc(slices.Values(c.Faults), func(a, b fault.Fault) int { return cmp.Compare(a.Kind, b.Kind) })
	delays := 0 // stages before the noise
	for i, f := range faults {
		s.stages = append(s.stages, newStage(f, &c, segment, i))
		if f.Kind == fault.Delay {
			delays++
		}
	}
	if c.Noise != nil {
		s.stages = slices.Insert(s.stages, delays, noisy(c.Noise, seed.New(c.Seed, seed.Noise, segment, 0)))
	}
	return s
}

// Measure sets dst (K) to the measurement of truth (K) at time at, in ns of the
// log, and returns its time stamp. It returns false where the sample is lost.
// Call it for every sample in the order of time: faults have a memory.
func (s *Sensor) Measure(dst []float64, at int64, truth []float64) (stamp int64, ok bool) {
	r := &s.read
	r.at, r.stamp, r.lost = at, at, false
	copy(r.x, truth)
	for _, apply := range s.stages {
		apply(r)
	}
	copy(dst, r.x)
	return r.stamp, !r.lost
}
