package paper

import (
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/trainer/cores"
)

// teacher writes the mean of the state at times (rising) after x0 (len(times)×K, raw
// units) and, unless it is nil, the variance. ok is false where it cannot. It is
// called from several goroutines.
type teacher func(mean, variance, x0, times []float64) (ok bool)

// distillationSet is what a teacher says at starts and times of its choice, standardised.
type distillationSet struct {
	n    int
	x    []float64 // n×(1+K): time, start scaled to a box
	y    []float64 // n×K, mean
	v    []float64 // n×K, variance; nil where it was not asked for
	from *feature.Inputs
	lost int // starts that were left out
}

// box is where starts are drawn from. A net reads them scaled to it: starts of many
// systems spread by far less than their states do.
type box struct {
	low, high    []float64 // raw units
	center, rate []float64 // standardised; a rate is 0 where all starts are the same
}

// boxOf returns the box that holds all starts of the data.
func boxOf(d *Data, in *feature.Inputs) *box {
	const spread = 3.4641 // of a box of unit variance
	b := &box{center: make([]float64, d.K), rate: make([]float64, d.K)}
	b.low, b.high = d.Starts()
	low, high := make([]float64, d.K), make([]float64, d.K)
	in.Lift.Apply(low, b.low)
	in.Lift.Apply(high, b.high)
	for k := range d.K {
		b.center[k] = (low[k] + high[k]) / 2
		if high[k] > low[k] {
			b.rate[k] = spread / (high[k] - low[k])
		}
	}
	return b
}

// maxFailedShare is the share of starts, of those drawn, of which a teacher may have nothing to say.
const maxFailedShare = 0.02

// queryTeacher has the teacher speak of starts drawn from the box, at times drawn one from
// each of so many equal parts of the time up to end; the beginning and the end of
// the time belong to every second start. Starts of which it cannot are left out; ok is
// false where these are more than a few.
func queryTeacher(say teacher, in *feature.Inputs, b *box, end float64, starts, times int, variance bool, rng *rand.Rand) (l *distillationSet, ok bool) {
	K := len(b.low)
	x0s, ts := b.draw(end, starts, times, rng)
	rows := starts * times
	l = &distillationSet{x: make([]float64, rows*(1+K)), y: make([]float64, rows*K), from: in}
	if variance {
		l.v = make([]float64, rows*K)
	}
	failed := make([]bool, starts)
	cores.Each(starts, func(i int) {
		y := l.y[i*times*K : (i+1)*times*K]
		var v []float64
		if variance {
			v = l.v[i*times*K : (i+1)*times*K]
		}
		failed[i] = !say(y, v, x0s[i], ts[i])
		for j := range y {
			k := j % K
			y[j] = (y[j] - in.Lift.Mean[k]) / in.Lift.Std[k]
			if variance {
				v[j] /= in.Lift.Std[k] * in.Lift.Std[k]
			}
		}
		z := make([]float64, K)
		in.Lift.Apply(z, x0s[i])
		for j, t := range ts[i] {
			row := l.x[(i*times+j)*(1+K):]
			row[0] = in.Standard(t)
			for k := range K {
				row[1+k] = (z[k] - b.center[k]) * b.rate[k]
			}
		}
	})
	l.keep(failed, times)
	return l, float64(l.lost) <= maxFailedShare*float64(starts)
}

// draw returns initial conditions in the box (starts × K) and times for each.
func (b *box) draw(end float64, starts, times int, rng *rand.Rand) (x0s, ts [][]float64) {
	x0s, ts = make([][]float64, starts), make([][]float64, starts)
	for i := range starts {
		x0s[i], ts[i] = make([]float64, len(b.low)), make([]float64, times)
		for k := range b.low {
			x0s[i][k] = b.low[k] + (b.high[k]-b.low[k])*rng.Float64()
		}
		for j := range times {
			ts[i][j] = end * (float64(j) + rng.Float64()) / float64(times)
		}
		if i%2 == 0 {
			ts[i][0] = 0
		} else {
			ts[i][times-1] = end
		}
	}
	return x0s, ts
}

// keep removes the rows of the starts that failed.
func (l *distillationSet) keep(failed []bool, times int) {
	rows := len(failed) * times
	I, K, n := len(l.x)/rows, len(l.y)/rows, 0
	for i, bad := range failed {
		if bad {
			continue
		}
		copy(l.x[n*times*I:], l.x[i*times*I:(i+1)*times*I])
		copy(l.y[n*times*K:], l.y[i*times*K:(i+1)*times*K])
		if l.v != nil {
			copy(l.v[n*times*K:], l.v[i*times*K:(i+1)*times*K])
		}
		n++
	}
	l.lost = len(failed) - n
	l.n, l.x, l.y = n*times, l.x[:n*times*I], l.y[:n*times*K]
	if l.v != nil {
		l.v = l.v[:n*times*K]
	}
}

// typical returns the mean variance of every channel, and lifts what is below the
// ten-thousandth of it: a start is known for certain, which no smoother can say.
func (l *distillationSet) typical(K int) []float64 {
	const least = 1e-4
	out := make([]float64, K)
	for i, v := range l.v {
		out[i%K] += v / float64(l.n)
	}
	for i := range l.v {
		l.v[i] = max(l.v[i], least*out[i%K])
	}
	return out
}
