package adapt

import "github.com/dgm-robotics/dgm/estimator/priordynamics"

// mostInstants is how many times of a prediction are kept.
const mostInstants = 256

// instant is what a correction reads at a time of a prediction and that depends on the time alone: it is kept until
// a prediction has another time there.
type instant struct {
	inRollout priordynamics.Place
	inMaps    momentOfMaps
	inBuckets place
}

// newInstants takes the memory of so many of no time.
func (c *Corrector) newInstants(n int) []instant {
	out := make([]instant, n)
	for i := range out {
		out[i].inMaps = c.before.newMoment()
	}
	return out
}

// instant returns that of time i, t seconds after the start.
func (c *Corrector) instant(i int, t float64) *instant {
	at := &c.other
	if i < len(c.instants) {
		at = &c.instants[i]
	}
	if at.inMaps.t != t {
		at.inRollout, at.inBuckets = c.rollout.PlaceOf(t), placeOf(t/c.m.Horizon)
		c.before.place(&at.inMaps, t)
	}
	return at
}

// place is where a time is between the ends of two buckets.
type place struct {
	before              int     // the end before it
	share               float64 // of the way from it to the next
	part                float64 // of the way from the start to the first end, at most 1
	shareRate, partRate float64 // by the share of the horizon
}

// placeOf returns where a share of the horizon is.
func placeOf(tau float64) place {
	b := 0
	for b < len(fractions)-1 && fractions[b] < tau {
		b++
	}
	if b == 0 {
		return place{part: tau / fractions[0], partRate: 1 / fractions[0]}
	}
	p := place{before: b - 1, part: 1, shareRate: 1 / (fractions[b] - fractions[b-1])}
	p.share = min((tau-fractions[b-1])*p.shareRate, 1)
	return p
}
