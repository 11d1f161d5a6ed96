package paper

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/trainer/cores"
)

// distillationSet holds a teacher's predictions at starts and times drawn at random,
// standardised.
type distillationSet struct {
	n    int
	x    []float64 // n×(1+K): time, start scaled to a box
	y    []float64 // n×K, mean
	v    []float64 // n×K, variance; none where the teacher is not queried for it
	lost int       // starts that were left out
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
	b.low, b.high = slices.Clone(d.Trajectories[0].X0), slices.Clone(d.Trajectories[0].X0)
	for _, tr := range d.Trajectories {
		for k, x := range tr.X0 {
			b.low[k], b.high[k] = math.Min(b.low[k], x), math.Max(b.high[k], x)
		}
	}
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

// queryTeacher has the teacher, which is called from several goroutines, predict from starts
// drawn from the box, at times drawn one from each of so many equal parts of the time up to
// end; the beginning and the end of the time belong to every second start. Starts at which
// it fails are left out; ok is false where these are more than a fiftieth.
func queryTeacher(
	teacher predictor, in *feature.Inputs, b *box, end float64, starts, times int, variance bool, rng *rand.Rand,
) (l *distillationSet, ok bool) {
	K := len(b.low)
	x0s, ts := b.draw(end, starts, times, rng)
	answers := make([]*distillationSet, starts) // nil where the teacher fails
	cores.Each(starts, func(i int) {
		a := &distillationSet{y: make([]float64, times*K)}
		if variance {
			a.v = make([]float64, times*K)
		}
		if !teacher(a.y, a.v, x0s[i], ts[i]) {
			return
		}
		for j, y := range a.y {
			a.y[j] = (y - in.Lift.Mean[j%K]) / in.Lift.Std[j%K]
		}
		for j := range a.v {
			a.v[j] /= in.Lift.Std[j%K] * in.Lift.Std[j%K]
		}
		z := make([]float64, K)
		in.Lift.Apply(z, x0s[i])
		for k := range z {
			z[k] = (z[k] - b.center[k]) * b.rate[k]
		}
		for _, t := range ts[i] {
			a.x = append(append(a.x, in.Standard(t)), z...)
		}
		answers[i] = a
	})
	l = &distillationSet{}
	for _, a := range answers {
		if a == nil {
			l.lost++
			continue
		}
		l.n += times
		l.x, l.y, l.v = append(l.x, a.x...), append(l.y, a.y...), append(l.v, a.v...)
	}
	return l, float64(l.lost) <= 0.02*float64(starts)
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

// typical returns the mean variance of every channel, and raises what is below the
// ten-thousandth of it: a start is known exactly, which no smoother can represent.
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

// subsample returns at most so many rows, drawn from all, without variances.
func (l *distillationSet) subsample(rng *rand.Rand, most int) *distillationSet {
	if l.n <= most {
		return l
	}
	I, K := len(l.x)/l.n, len(l.y)/l.n
	out := &distillationSet{n: most}
	for _, i := range rng.Perm(l.n)[:most] {
		out.x = append(out.x, l.x[i*I:(i+1)*I]...)
		out.y = append(out.y, l.y[i*K:(i+1)*K]...)
	}
	return out
}
