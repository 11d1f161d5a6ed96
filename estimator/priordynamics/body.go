package priordynamics

import (
	"errors"
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Body declares states as those of a rigid body. Its kinematic relations are added to
// the learned increment of a step, by the trapezoid rule:
//
//	ȧ = E(a) ω      ṗ = v, or R(a) v where v is in axes of the body
//
//	        ⎡ 1  tanθ sinφ  tanθ cosφ ⎤
//	E(a) =  ⎢ 0    cosφ      −sinφ    ⎥      R(a) = Rz(ψ) Ry(θ) Rx(φ)
//	        ⎣ 0  secθ sinφ  secθ cosφ ⎦
//
// a = (φ, θ, ψ) are roll, pitch and yaw, ω the body's rates (Diebel 2006, sequence
// 1-2-3; the same in ned-frd and enu-flu). secθ is taken as cosθ/(cos²θ + softness²),
// tanθ as sinθ secθ, so that both stay finite when the nose points straight up.
//
// Every channel has a sign: textbook value = sign · value. The zero value declares
// nothing.
type Body struct {
	Position, Velocity []int     // 3 places of states, or none
	Attitude, Rates    []int     // 3 places of states (φ, θ, ψ; p, q, r), or none
	Sign               []float64 // 12: of position, velocity, attitude, rates; ±1
	Omega              float64   // rad per unit of the angles; rates are in that unit per second
	InBody             bool      // the velocity is in axes of the body
}

// softness bounds secθ by 1/(2·softness): it matters within some 3° of ±90°.
const softness = 0.02

// offsets of the groups in Sign.
const (
	signPosition = 0
	signVelocity = 3
	signAttitude = 6
	signRates    = 9
)

// NewBody finds the channels that k names among the states.
func NewBody(k *channel.Kinematics, states []channel.Channel) (b Body, err error) {
	if k.Relation == "" {
		return b, nil
	}
	if err := k.Check(states); err != nil {
		return b, err
	}
	b.Sign = make([]float64, 12)
	for i := range b.Sign {
		b.Sign[i] = 1
	}
	find := func(names []string, signs []float64) (out []int) {
		for i, name := range names {
			plain, sign := channel.Signed(name)
			signs[i] = sign
			out = append(out, channel.Index(states, plain))
		}
		return out
	}
	b.Position, b.Velocity = find(k.Position, b.Sign[signPosition:]), find(k.Velocity, b.Sign[signVelocity:])
	b.Attitude, b.Rates = find(k.Attitude, b.Sign[signAttitude:]), find(k.Rates, b.Sign[signRates:])
	b.InBody = k.InBody
	if b.hasAttitude() {
		b.Omega = 2 * math.Pi / states[b.Attitude[0]].Period
	}
	return b, nil
}

// Empty reports whether nothing is declared.
func (b *Body) Empty() bool { return len(b.Position) == 0 && len(b.Attitude) == 0 }

func (b *Body) hasAttitude() bool { return len(b.Attitude) > 0 }

func (b *Body) hasPosition() bool { return len(b.Position) > 0 }

// Determines reports whether a kinematic relation gives the rate of state k.
func (b *Body) Determines(k int) bool {
	for _, group := range [][]int{b.Position, b.Attitude} {
		for _, of := range group {
			if of == k {
				return true
			}
		}
	}
	return false
}

// NearGimbalLock reports whether the pitch of state x (K) is more than 70° up or down.
// Roll and yaw then rotate about nearly one axis, jump by half a turn beyond it, and
// their measured rates carry little information.
func (b *Body) NearGimbalLock(x []float64) bool {
	return b.hasAttitude() && math.Abs(math.Cos(b.Omega*x[b.Attitude[1]])) < gimbalCosine
}

// Euler returns roll, pitch and yaw of state x (K), rad, with textbook signs. There must
// be an attitude.
func (b *Body) Euler(x []float64) [3]float64 { return b.get(x, b.Attitude, signAttitude, b.Omega) }

// gimbalCosine is the cosine of that pitch.
const gimbalCosine = 0.342

// Check returns what contradicts itself for K states, or nil.
func (b *Body) Check(k int) error {
	used := make([]bool, k)
	for _, group := range [][]int{b.Position, b.Velocity, b.Attitude, b.Rates} {
		if len(group) != 0 && len(group) != 3 {
			return fmt.Errorf("%d states where three or none are expected", len(group))
		}
		for _, of := range group {
			if of < 0 || of >= k {
				return fmt.Errorf("state %d of %d", of, k)
			}
			if used[of] {
				return fmt.Errorf("state %d is declared twice", of)
			}
			used[of] = true
		}
	}
	signs := 12
	if b.Empty() {
		signs = 0
	}
	switch {
	case len(b.Position) != len(b.Velocity):
		return errors.New("position and velocity belong together")
	case len(b.Attitude) != len(b.Rates):
		return errors.New("attitude and rates belong together")
	case b.InBody && !(b.hasPosition() && b.hasAttitude()):
		return errors.New("a velocity in axes of the body needs the attitude")
	case len(b.Sign) != signs:
		return fmt.Errorf("%d signs, expected %d", len(b.Sign), signs)
	case b.hasAttitude() && !(b.Omega > 0 && !math.IsInf(b.Omega, 0)):
		return fmt.Errorf("omega %v must be positive", b.Omega)
	}
	for _, s := range b.Sign {
		if s != 1 && s != -1 {
			return fmt.Errorf("sign %v is neither 1 nor -1", s)
		}
	}
	return nil
}

// vec3 and mat3 are of the world or of the body.
type (
	vec3 [3]float64
	mat3 [3][3]float64
)

func (m *mat3) mul(v vec3) vec3 {
	return vec3{
		m[0][0]*v[0] + m[0][1]*v[1] + m[0][2]*v[2],
		m[1][0]*v[0] + m[1][1]*v[1] + m[1][2]*v[2],
		m[2][0]*v[0] + m[2][1]*v[1] + m[2][2]*v[2],
	}
}

// tmul returns mᵀ v.
func (m *mat3) tmul(v vec3) (w vec3) {
	for i := range w {
		w[i] = m[0][i]*v[0] + m[1][i]*v[1] + m[2][i]*v[2]
	}
	return w
}

// trapezoid returns s (a + b + m a).
func trapezoid(s float64, a, b, m *mat3) (out mat3) {
	for i := range out {
		for j := range out[i] {
			out[i][j] = s * (a[i][j] + b[i][j] + (m[i][0]*a[0][j] + m[i][1]*a[1][j] + m[i][2]*a[2][j]))
		}
	}
	return out
}

func (m mat3) plus(s float64, n mat3) mat3 {
	return mat3{
		{m[0][0] + s*n[0][0], m[0][1] + s*n[0][1], m[0][2] + s*n[0][2]},
		{m[1][0] + s*n[1][0], m[1][1] + s*n[1][1], m[1][2] + s*n[1][2]},
		{m[2][0] + s*n[2][0], m[2][1] + s*n[2][1], m[2][2] + s*n[2][2]},
	}
}

func (m mat3) times(s float64) mat3 { return mat3{}.plus(s, m) }

func (v vec3) plus(s float64, w vec3) vec3 {
	return vec3{v[0] + s*w[0], v[1] + s*w[1], v[2] + s*w[2]}
}

// get returns a group of x with textbook signs.
func (b *Body) get(x []float64, group []int, sign int, unit float64) vec3 {
	if len(group) != 3 {
		return vec3{}
	}
	s := (*[3]float64)(b.Sign[sign:])
	return vec3{s[0] * unit * x[group[0]], s[1] * unit * x[group[1]], s[2] * unit * x[group[2]]}
}

func (b *Body) add(x []float64, group []int, sign int, unit float64, v vec3) {
	if len(group) != 3 {
		return
	}
	s := (*[3]float64)(b.Sign[sign:])
	x[group[0]] += s[0] * unit * v[0]
	x[group[1]] += s[1] * unit * v[1]
	x[group[2]] += s[2] * unit * v[2]
}

// attitudeRate returns f = E(a) ω, E, and ∂f/∂a.
func attitudeRate(a, w vec3) (f vec3, e, ja mat3) {
	sf, cf := math.Sincos(a[0])
	st, ct := math.Sincos(a[1])
	q := ct*ct + softness*softness
	sec := ct / q
	dsec := st * (ct*ct - softness*softness) / (q * q)
	tan, dtan := st*sec, ct*sec+st*dsec
	e = mat3{{1, tan * sf, tan * cf}, {0, cf, -sf}, {0, sec * sf, sec * cf}}
	g, dg := sf*w[1]+cf*w[2], cf*w[1]-sf*w[2]
	f = vec3{w[0] + tan*g, dg, sec * g}
	ja = mat3{{tan * dg, dtan * g, 0}, {-g, 0, 0}, {sec * dg, dsec * g, 0}}
	return f, e, ja
}

// attitudeRateAlone returns f = E(a) ω.
func attitudeRateAlone(a, w vec3) vec3 {
	f0, f1, f2 := eulerRates(a[0], a[1], w[0], w[1], w[2])
	return vec3{f0, f1, f2}
}

// eulerRates is attitudeRateAlone of numbers.
func eulerRates(roll, pitch, p, q, r float64) (f0, f1, f2 float64) {
	sf, cf := math.Sincos(roll)
	st, ct := math.Sincos(pitch)
	return eulerRatesOf(sf, cf, st, ct, p, q, r)
}

// eulerRatesOf is eulerRates of the sines and cosines of roll and pitch.
func eulerRatesOf(sf, cf, st, ct, p, q, r float64) (f0, f1, f2 float64) {
	sec := ct / (ct*ct + softness*softness)
	g, dg := sf*q+cf*r, cf*q-sf*r
	return p + st*sec*g, dg, sec * g
}

// worldVelocity returns f = R(a) v, R, and ∂f/∂a.
func worldVelocity(a, v vec3) (f vec3, r, ja mat3) {
	sf, cf := math.Sincos(a[0])
	st, ct := math.Sincos(a[1])
	sp, cp := math.Sincos(a[2])
	r = mat3{
		{ct * cp, sf*st*cp - cf*sp, cf*st*cp + sf*sp},
		{ct * sp, sf*st*sp + cf*cp, cf*st*sp - sf*cp},
		{-st, sf * ct, cf * ct},
	}
	f = r.mul(v)
	h := ct*v[0] + st*(sf*v[1]+cf*v[2]) // along the heading
	dh := -st*v[0] + ct*(sf*v[1]+cf*v[2])
	ja = mat3{
		{r[0][2]*v[1] - r[0][1]*v[2], cp * dh, -f[1]},
		{r[1][2]*v[1] - r[1][1]*v[2], sp * dh, f[0]},
		{r[2][2]*v[1] - r[2][1]*v[2], -h, 0},
	}
	return f, r, ja
}

// worldVelocityAlone returns f = R(a) v.
func worldVelocityAlone(a, v vec3) vec3 {
	sf, cf := math.Sincos(a[0])
	st, ct := math.Sincos(a[1])
	f0, f1, f2 := worldVelocityOf(sf, cf, st, ct, a[2], v[0], v[1], v[2])
	return vec3{f0, f1, f2}
}

// worldVelocityOf is worldVelocityAlone of the sines and cosines of roll and pitch, and of numbers.
func worldVelocityOf(sf, cf, st, ct, yaw, u, v, w float64) (f0, f1, f2 float64) {
	sp, cp := math.Sincos(yaw)
	return ct*cp*u + (sf*st*cp-cf*sp)*v + (cf*st*cp+sf*sp)*w,
		ct*sp*u + (sf*st*sp+cf*cp)*v + (cf*st*sp-sf*cp)*w,
		-st*u + sf*ct*v + cf*ct*w
}

// Derivative writes dx/dt at state x (K) by the kinematic relations to dst (K), 0 for
// the other states.
func (b *Body) Derivative(dst, x []float64) {
	clear(dst)
	a := b.get(x, b.Attitude, signAttitude, b.Omega)
	if b.hasAttitude() {
		b.add(dst, b.Attitude, signAttitude, 1, attitudeRateAlone(a, b.get(x, b.Rates, signRates, 1)))
	}
	if b.hasPosition() {
		v := b.get(x, b.Velocity, signVelocity, 1)
		if b.InBody {
			v = worldVelocityAlone(a, v)
		}
		b.add(dst, b.Position, signPosition, 1, v)
	}
}

// Add adds the kinematic relations to d (K), the learned increment of state x (K) for a
// step of h seconds. Velocity and rates at the end of the step follow from d, the
// attitude there from its whole increment.
func (b *Body) Add(d, x []float64, h float64) { b.apply(d, x, d, h, 1) }

// Subtract subtracts the kinematic relations of the whole increment (K) of state x (K)
// for a step of h seconds from dst (K), which must not be the increment itself.
func (b *Body) Subtract(dst, x, whole []float64, h float64) { b.apply(dst, x, whole, h, -1) }

// apply adds sign times the kinematic relations to dst. d is the whole increment; where
// dst is d, its attitude and position become whole on the way.
func (b *Body) apply(dst, x, d []float64, h, sign float64) {
	half := sign * 0.5 * h
	var f0, f1, f2 float64
	if b.hasAttitude() {
		f0, f1, f2 = b.turn(dst, x, d, h, half)
	}
	if !b.hasPosition() {
		return
	}
	if b.InBody {
		sa, sv, sp := (*[3]float64)(b.Sign[signAttitude:]), (*[3]float64)(b.Sign[signVelocity:]), (*[3]float64)(b.Sign[signPosition:])
		a, v, p := (*[3]int)(b.Attitude), (*[3]int)(b.Velocity), (*[3]int)(b.Position)
		roll, pitch, yaw := sa[0]*b.Omega*x[a[0]]+sa[0]*b.Omega*d[a[0]], sa[1]*b.Omega*x[a[1]]+sa[1]*b.Omega*d[a[1]], sa[2]*b.Omega*x[a[2]]+sa[2]*b.Omega*d[a[2]]
		sf, cf := math.Sincos(roll)
		st, ct := math.Sincos(pitch)
		g0, g1, g2 := worldVelocityOf(sf, cf, st, ct, yaw, sv[0]*x[v[0]]+sv[0]*d[v[0]], sv[1]*x[v[1]]+sv[1]*d[v[1]], sv[2]*x[v[2]]+sv[2]*d[v[2]])
		dst[p[0]] += sp[0] * half * (f0 + g0)
		dst[p[1]] += sp[1] * half * (f1 + g1)
		dst[p[2]] += sp[2] * half * (f2 + g2)
		return
	}
	for i, of := range b.Velocity {
		s := b.Sign[signVelocity+i]
		v0 := s * x[of]
		dst[b.Position[i]] += b.Sign[signPosition+i] * half * (v0 + (v0 + s*d[of]))
	}
}

// turn is apply of the attitude's relation: numbers in place of vectors, which the compiler
// keeps in registers.
func (b *Body) turn(dst, x, d []float64, h, half float64) (v0, v1, v2 float64) {
	sa, sw := (*[3]float64)(b.Sign[signAttitude:]), (*[3]float64)(b.Sign[signRates:])
	a, w := (*[3]int)(b.Attitude), (*[3]int)(b.Rates)
	roll, pitch := sa[0]*b.Omega*x[a[0]], sa[1]*b.Omega*x[a[1]]
	p, q, r := sw[0]*x[w[0]], sw[1]*x[w[1]], sw[2]*x[w[2]]
	sf, cf := math.Sincos(roll)
	st, ct := math.Sincos(pitch)
	if b.InBody {
		sv, v := (*[3]float64)(b.Sign[signVelocity:]), (*[3]int)(b.Velocity)
		v0, v1, v2 = worldVelocityOf(sf, cf, st, ct, sa[2]*b.Omega*x[a[2]], sv[0]*x[v[0]], sv[1]*x[v[1]], sv[2]*x[v[2]])
	}
	f0, f1, f2 := eulerRatesOf(sf, cf, st, ct, p, q, r)
	step := h * b.Omega
	g0, g1, g2 := eulerRates(roll+step*f0, pitch+step*f1, p+sw[0]*d[w[0]], q+sw[1]*d[w[1]], r+sw[2]*d[w[2]])
	dst[a[0]] += sa[0] * half * (f0 + g0)
	dst[a[1]] += sa[1] * half * (f1 + g1)
	dst[a[2]] += sa[2] * half * (f2 + g2)
	return v0, v1, v2
}
