package filter

import "math"

// Attitude gives the channels of an attitude: roll φ, pitch θ and yaw ψ of one period. Each attitude has two
// triples of angles,
//
//	(φ, θ, ψ) and (φ + ½ turn, ½ turn − θ, ψ + ½ turn)
//
// and sensors report the one whose pitch is within a quarter of a turn. When a body passes gimbal lock (±90°
// pitch), they change to the other triple; so does the filter.
type Attitude struct {
	Roll, Pitch, Yaw int
	Follows          []int // states that are derivatives of the pitch: their sign changes
}

// over takes the state to the other angles of its attitude, where what was measured is nearer to these: M x + c, M P Mᵀ with a
// diagonal M of −1 for the pitch and what follows it.
func (f *Filter) over(y []float64) {
	a := f.cfg.Attitude
	if a == nil {
		return
	}
	period := f.cfg.Channels[a.Roll].Period
	other := [...]struct {
		k int
		x float64
	}{{a.Roll, f.x[a.Roll] + period/2}, {a.Pitch, period/2 - f.x[a.Pitch]}, {a.Yaw, f.x[a.Yaw] + period/2}}
	near, far := 0., 0.
	for _, o := range other {
		d, e := math.Remainder(y[o.k]-f.x[o.k], period), math.Remainder(y[o.k]-o.x, period)
		near, far = near+d*d, far+e*e
	}
	if !(far < near) || !f.known[a.Roll] || !f.known[a.Pitch] || !f.known[a.Yaw] { // NaN of what was not measured
		return
	}
	for _, o := range other {
		f.x[o.k] = o.x
	}
	f.mirror(a.Pitch)
	for _, i := range a.Follows {
		f.x[i] = -f.x[i]
		f.mirror(i)
	}
}

// mirror changes the sign of a state in the covariance, and in the derivative that the trace records.
func (f *Filter) mirror(i int) {
	for j := range f.n {
		if j != i {
			f.p[i*f.n+j], f.p[j*f.n+i] = -f.p[i*f.n+j], -f.p[j*f.n+i]
		}
	}
	f.trace.mirrored(i)
}
