package frames

import "math"

// Quaternion is w, x, y, z.
type Quaternion [4]float64

// Mul returns the product a b: first b, then a.
func Mul(a, b Quaternion) Quaternion {
	return Quaternion{
		a[0]*b[0] - a[1]*b[1] - a[2]*b[2] - a[3]*b[3],
		a[0]*b[1] + a[1]*b[0] + a[2]*b[3] - a[3]*b[2],
		a[0]*b[2] - a[1]*b[3] + a[2]*b[0] + a[3]*b[1],
		a[0]*b[3] + a[1]*b[2] - a[2]*b[1] + a[3]*b[0],
	}
}

// Conj returns the inverse of a unit quaternion.
func (q Quaternion) Conj() Quaternion { return Quaternion{q[0], -q[1], -q[2], -q[3]} }

// Rotate returns q v q*.
func (q Quaternion) Rotate(v [3]float64) [3]float64 {
	p := Mul(Mul(q, Quaternion{0, v[0], v[1], v[2]}), q.Conj())
	return [3]float64{p[1], p[2], p[3]}
}

// Norm returns the length.
func (q Quaternion) Norm() float64 {
	return math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
}

// Unit returns q at length 1. ok is false where its length is not within a tenth
// of 1, so that it is no attitude, or not finite.
func (q Quaternion) Unit() (u Quaternion, ok bool) {
	n := q.Norm()
	if !(n > 0.9 && n < 1.1) {
		return q, false
	}
	for i := range q {
		u[i] = q[i] / n
	}
	return u, true
}

// Euler returns roll, pitch and yaw of a unit quaternion, radians: roll and yaw
// in −π to π, pitch in −π/2 to π/2 (Diebel 2006, eq. 290).
func (q Quaternion) Euler() [3]float64 {
	w, x, y, z := q[0], q[1], q[2], q[3]
	return [3]float64{
		math.Atan2(2*(w*x+y*z), 1-2*(x*x+y*y)),
		math.Asin(max(-1, min(1, 2*(w*y-z*x)))),
		math.Atan2(2*(w*z+x*y), 1-2*(y*y+z*z)),
	}
}

// FromEuler returns the attitude with roll, pitch and yaw, radians.
func FromEuler(e [3]float64) Quaternion {
	sr, cr := math.Sincos(e[0] / 2)
	sp, cp := math.Sincos(e[1] / 2)
	sy, cy := math.Sincos(e[2] / 2)
	yaw, pitch, roll := Quaternion{cy, 0, 0, sy}, Quaternion{cp, 0, sp, 0}, Quaternion{cr, sr, 0, 0}
	return Mul(Mul(yaw, pitch), roll)
}

// Slerp returns the attitude at share s (0 to 1) of the shortest turn from a to
// b at a constant rate (Shoemake 1985).
func Slerp(a, b Quaternion, s float64) Quaternion {
	dot := a[0]*b[0] + a[1]*b[1] + a[2]*b[2] + a[3]*b[3]
	if dot < 0 {
		dot = -dot
		b = Quaternion{-b[0], -b[1], -b[2], -b[3]}
	}
	ka, kb := 1-s, s
	if dot < 0.9999999 { // nearer, the sine of the angle loses its digits and a straight line is as good
		angle := math.Acos(dot)
		ka, kb = math.Sin((1-s)*angle)/math.Sin(angle), math.Sin(s*angle)/math.Sin(angle)
	}
	var q Quaternion
	for i := range q {
		q[i] = ka*a[i] + kb*b[i]
	}
	n := q.Norm()
	for i := range q {
		q[i] /= n
	}
	return q
}
