package sensor

import (
	"math"

	"github.com/dgm-robotics/dgm/firmware-sim/fault"
	"github.com/dgm-robotics/dgm/firmware-sim/seed"
)

// newStage returns the stage of a fault, the n-th of the sensor.
func newStage(f fault.Fault, c *Config, segment, n int) stage {
	channels, whole := f.Channels, f.Channels == nil
	if whole {
		for i := range c.Spike {
			channels = append(channels, i)
		}
	}
	v := f.Values
	switch f.Kind {
	case fault.Delay:
		return delayed(nanos(v[0]), channels)
	case fault.Bias:
		return biased(v[0], nanos(v[1]), channels)
	case fault.Spike:
		return spiked(v[0], v[1], c.Spike, channels, seed.New(c.Seed, seed.Spike, segment, n))
	case fault.Freeze:
		return frozen(nanos(v[0]), nanos(v[0])+nanos(v[1]), channels)
	case fault.Jitter:
		return jittered(v[0]*1e9, seed.New(c.Seed, seed.Jitter, segment, n))
	case fault.ClockJump:
		return jumped(nanos(v[0]), nanos(v[1]))
	case fault.Dropout:
		d := &dropped{p: v[0], burst: nanos(v[1]), whole: whole, channels: channels, src: seed.New(c.Seed, seed.Dropout, segment, n)}
		return d.apply
	}
	panic("sensor: not a fault of a sensor")
}

func nanos(seconds float64) int64 { return int64(math.Round(seconds * 1e9)) }

// noisy adds independent normal noise of standard deviations std (K).
func noisy(std []float64, src *seed.Source) stage {
	return func(r *reading) {
		for i, s := range std {
			r.x[i] += s * src.Normal()
		}
	}
}

// biased adds a constant from a time on.
func biased(size float64, from int64, channels []int) stage {
	return func(r *reading) {
		if r.at < from {
			return
		}
		for _, i := range channels {
			r.x[i] += size
		}
	}
}

// spiked adds or subtracts size units at single values, with probability p.
func spiked(p, size float64, unit []float64, channels []int, src *seed.Source) stage {
	return func(r *reading) {
		for _, i := range channels {
			// Both are always drawn: a spike must not shift the ones after it.
			hit, up := src.Uniform(0, 1) < p, src.Uniform(0, 1) < 0.5
			switch {
			case hit && up:
				r.x[i] += size * unit[i]
			case hit:
				r.x[i] -= size * unit[i]
			}
		}
	}
}

// frozen repeats the last value before a time until another, as a driver of an
// unresponsive device does.
func frozen(from, to int64, channels []int) stage {
	last := make([]float64, len(channels))
	known := false
	return func(r *reading) {
		hold := known && r.at >= from && r.at < to
		for n, i := range channels {
			if hold {
				r.x[i] = last[n]
			} else {
				last[n] = r.x[i]
			}
		}
		known = true
	}
}

// jittered makes time stamps that miss the true time by normal errors of a standard
// deviation in ns, three of them at most. Where that is more than a third of the sample
// period stamps may run backwards, as they do on robots.
func jittered(std float64, src *seed.Source) stage {
	return func(r *reading) {
		e := math.Max(-3, math.Min(3, src.Normal()))
		r.stamp += int64(math.Round(std * e))
	}
}

// jumped moves every time stamp from a time on, as a clock does that is set while the
// robot runs.
func jumped(from, by int64) stage {
	return func(r *reading) {
		if r.at >= from {
			r.stamp += by
		}
	}
}

// delayed measures the state of some time ago, interpolated linearly between two samples.
// Before enough time has passed it measures the first state.
func delayed(by int64, channels []int) stage {
	n := len(channels)
	var times []int64  // of the samples kept, oldest first
	var past []float64 // len(times)×n
	return func(r *reading) {
		times = append(times, r.at)
		for _, i := range channels {
			past = append(past, r.x[i])
		}
		// One sample at or before the delayed time is kept.
		want, old := r.at-by, 0
		for old+1 < len(times) && times[old+1] <= want {
			old++
		}
		if old > 0 {
			times = times[:copy(times, times[old:])]
			past = past[:copy(past, past[old*n:])]
		}
		share := 0.0
		if len(times) > 1 && want > times[0] {
			share = float64(want-times[0]) / float64(times[1]-times[0])
		}
		for c, i := range channels {
			r.x[i] = past[c]
			if share > 0 {
				r.x[i] += share * (past[n+c] - past[c])
			}
		}
	}
}

// dropped loses samples, or single values of them, with probability p: each by
// itself, or in bursts of some length. The probability that a burst begins
// follows from the sample period so that the fraction p is lost in total; the first
// sample is never lost.
type dropped struct {
	p        float64
	burst    int64 // ns; 0 = single samples
	whole    bool
	channels []int
	src      *seed.Source

	last  int64
	known bool
	until int64 // the present burst
}

func (d *dropped) apply(r *reading) {
	draw := d.src.Uniform(0, 1)
	period := r.at - d.last
	d.last = r.at
	if !d.known {
		d.known = true
		d.until = r.at
		return
	}
	if r.at >= d.until && draw < d.begin(period) {
		d.until = r.at + max(d.burst, period)
	}
	switch {
	case r.at >= d.until:
	case d.whole:
		r.lost = true
	default:
		for _, i := range d.channels {
			r.x[i] = math.NaN() // not measured
		}
	}
}

// begin is the probability that a sample outside of bursts begins one. With n
// samples a burst and a mean run of (1−q)/q samples between two bursts, the
// share lost is n / (n + (1−q)/q), which is p for this q.
func (d *dropped) begin(period int64) float64 {
	n := 1.0
	if d.burst > period && period > 0 {
		n = math.Ceil(float64(d.burst) / float64(period))
	}
	if d.p >= 1 {
		return 1
	}
	return d.p / (d.p + n*(1-d.p))
}
