package filter

import (
	"math"
	"slices"
)

// first begins a channel with its first measurement.
func (f *Filter) first(k int, y float64) {
	for i := range f.n {
		f.p[i*f.n+k], f.p[k*f.n+i] = 0, 0
	}
	f.x[k], f.p[k*f.n+k], f.known[k], f.before[k], f.value[k] = y, math.Max(f.cfg.Channels[k].R, tiny*f.cfg.Start[k]), true, math.NaN(), y
}

// tiny is the least variance, as a part of that of the start.
const tiny = 1e-14

// measure updates by the measurement y of channel k. The first one of a channel that another sensor gives than began is
// where it begins.
func (f *Filter) measure(k int, y float64, r *Result) {
	if !f.known[k] {
		f.first(k, y)
		r.Used++
		return
	}
	n, c := f.n, &f.cfg.Channels[k]
	nu := y - f.x[k]
	if c.Period > 0 {
		turn := c.Period * math.Round(nu/c.Period)
		nu -= turn
		f.x[k] += turn // near the measurements
	}
	noise := math.Max(c.R*f.scale[k], tiny*f.cfg.Start[k])
	s := f.p[k*n+k] + noise
	z2 := nu * nu / s
	f.nu[k], f.ratio[k] = nu, z2/f.gate2
	if z2 > f.gate2 && !f.plausible(k, nu, noise) {
		if side := math.Copysign(1, nu); side == f.side[k] {
			f.run[k]++
		} else {
			f.run[k], f.side[k] = 1, side
		}
		f.row[k]++
		f.before[k] = math.NaN()
		f.total[k]++
		r.Rejected++
		r.Log -= 0.5 * (f.gate2 + math.Log(2*math.Pi*s))
		return
	}
	if z2 > f.gate2 { // what was taken for outliers was none
		s, f.row[k] = f.p[k*n+k]+noise, 0
		z2 = nu * nu / s
	}
	f.seen[k], f.odd[k] = fade*f.seen[k]+1, fade*f.odd[k]+float64(f.row[k])
	f.row[k], f.run[k] = 0, 0
	r.Used++
	if !c.Free {
		f.judge(k, nu, s, noise, r)
	}
	r.Log -= 0.5 * (z2 + math.Log(2*math.Pi*s))
	for i := range n {
		f.column[i] = f.p[i*n+k]
		f.x[i] += f.column[i] / s * nu
	}
	for i := range n { // with the best gain Joseph's form is P − P h hᵀ P / S, in row k P h R/S
		for j := range i + 1 {
			v := f.p[i*n+j] - f.column[i]*f.column[j]/s
			if i == k || j == k {
				v = f.column[i+j-k] * noise / s
			}
			f.p[i*n+j], f.p[j*n+i] = v, v
		}
	}
}

// judge counts innovation ν of channel k, of variance s, of which the sensor has noise.
func (f *Filter) judge(k int, nu, s, noise float64, r *Result) {
	z := nu / math.Sqrt(s)
	r.Judged++
	r.NIS += z * z
	if !math.IsNaN(f.before[k]) {
		product := z * f.before[k]
		r.Lagged += product
		r.Pairs++
		f.alike[k] += (product - alike*z*z - f.alike[k]) * 4 / memory
		d := nu - f.before[k]*math.Sqrt(f.spread[k])
		f.adapt(k, d*d/(s+f.spread[k]), noise/s)
	}
	f.before[k], f.spread[k] = z, s
}

const (
	// memory is about how many measurements the noise of a sensor is known by.
	memory = 200
	// quieter and louder are how many times less and more the variance of a sensor is at most than R.
	quieter, louder = 1. / 16, 1e4
	// still is for how many measurements a sensor's noise is not known after one that repeats another: its steps are seen.
	still = 4
	// alike is the correlation of successive innovations from which on the process errs, and noises do not show.
	alike = 0.5
)

// fresh notes measurement y of channel k, and reports whether it is one, see Channel.Changes.
func (f *Filter) fresh(k int, y float64) bool {
	same := y == f.value[k]
	if f.value[k], f.still[k] = y, max(0, f.still[k]-1); same {
		f.still[k] = still
	}
	return !same || !f.cfg.Channels[k].Changes
}

// adapt follows the noise of the sensor of channel k, which has a share of the variance of its innovations, by the square of the difference of
// successive ones over the sum of their variances: its mean is 1 where R is right. What the process errs in is alike from one sample to the next,
// and is no noise.
func (f *Filter) adapt(k int, square, share float64) {
	switch {
	case !f.cfg.Adapts:
	case slices.Max(f.alike) > 0: // no sensor is trusted less than in training then
		f.scale[k] = math.Pow(f.scale[k], 1-4./memory)
	case f.still[k] == 0:
		f.scale[k] = math.Min(math.Max(f.scale[k]*math.Exp(share*(square-1)/memory), quieter), louder)
	}
}

// elsewhere is how many standard deviations off a measurement is at most that the robot's motion may explain.
const elsewhere = 50

const (
	// fade is the part of what is known of a channel's outliers that is left after a measurement.
	fade = 0.998
	// common is the share of outliers from which on two in a row on one side are so often outliers that they do not show the robot.
	common = 0.01
	// fewest is how many measurements show at least how common outliers are.
	fewest = 100
)

// plausible reports whether a measurement of channel k beyond the gate, ν off, is the second in a row on one side, the third where outliers
// are common: then it was not the sensor, but the robot moves otherwise than the process, and the covariance is made as large as that shows.
func (f *Filter) plausible(k int, nu, noise float64) bool {
	p, needed := f.p[k*f.n+k], 1
	if f.odd[k] > common*math.Max(f.seen[k], fewest) {
		needed = 2
	}
	most := elsewhere * elsewhere * (p + noise)
	if f.run[k] < needed || f.side[k] != math.Copysign(1, nu) || nu*nu > most || p == 0 {
		return false
	}
	grow := (nu*nu/f.gate2 - noise) / p
	for i := range f.p {
		f.p[i] *= grow
	}
	f.still[k] = still
	for k, most := range f.cfg.Settled {
		f.settled = f.settled && (most == 0 || f.p[k*f.n+k] <= unlike*most)
	}
	return true
}

// unlike is how many times the variance up to which an estimate begins to count it has when it counts no more.
const unlike = 16
