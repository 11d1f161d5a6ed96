package msp

import (
	"math"

	"github.com/dgm-robotics/dgm/bridge/frames"
)

// turns compares how far the attitude has turned with what the rates add up to: a wrong unit of the rates shows in flight.
type turns struct {
	from   frames.Quaternion // the attitude at the beginning of a stretch
	turned frames.Quaternion // by the rates since then
	since  int64             // ns; 0 = there is none
	last   int64             // ns, of the last rates
	both   float64           // rad², of all stretches: by the attitude times by the rates
	rates  float64           // rad², by the rates
}

const (
	stretch  = 300e6 // ns: long beside the delay of an attitude
	enough   = 1     // rad², of turns that decide
	tooLarge = 0.9   // rad of one stretch, beyond which roll and pitch do not add up
	doubtful = 0.1   // by which the ratio may be off
)

// add takes rates in rad/s and the attitude of time t, ns.
func (s *turns) add(q frames.Quaternion, rates [3]float64, t int64) {
	dt := 1e-9 * float64(t-s.last)
	s.last = t
	if s.since == 0 || dt > 0.1 {
		s.from, s.turned, s.since = q, frames.Quaternion{1, 0, 0, 0}, t
		return
	}
	s.turned = frames.Mul(s.turned, turn(rates, dt))
	if t-s.since < stretch {
		return
	}
	a, b := vector(frames.Mul(s.from.Conj(), q)), vector(s.turned)
	if math.Hypot(b[0], b[1]) < tooLarge {
		s.both += a[0]*b[0] + a[1]*b[1]
		s.rates += b[0]*b[0] + b[1]*b[1]
	}
	s.from, s.turned, s.since = q, frames.Quaternion{1, 0, 0, 0}, t
}

// ratio returns the turns of the attitude over those of the rates; ok is false where there are too few.
func (s *turns) ratio() (r float64, ok bool) { return s.both / s.rates, s.rates > enough }

// turn is that of rates, rad/s, for dt s.
func turn(rates [3]float64, dt float64) frames.Quaternion {
	size := math.Sqrt(rates[0]*rates[0] + rates[1]*rates[1] + rates[2]*rates[2])
	if !(size*dt > 1e-9) {
		return frames.Quaternion{1, 0, 0, 0}
	}
	s := math.Sin(size*dt/2) / size
	return frames.Quaternion{math.Cos(size * dt / 2), s * rates[0], s * rates[1], s * rates[2]}
}

// vector is the axis of a turn times its angle, rad.
func vector(q frames.Quaternion) (v [3]float64) {
	size := math.Sqrt(q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
	if size < 1e-9 {
		return v
	}
	angle := 2 * math.Atan2(size, math.Abs(q[0]))
	for i := range v {
		v[i] = math.Copysign(angle, q[0]) / size * q[1+i]
	}
	return v
}
