package sensor

import (
	"math"

	"github.com/dgm-robotics/dgm/firmware-sim/seed"
)

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
	if r.at >= d.until {
		return
	}
	if d.whole {
		r.lost = true
		return
	}
	for _, i := range d.channels {
		r.x[i] = math.NaN() // not measured
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
