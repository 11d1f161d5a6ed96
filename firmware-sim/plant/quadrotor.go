package plant

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// States of a quadrotor: body velocities, body rates, Euler angles, position.
const (
	qU, qV, qW, qP, qQ, qR = 0, 1, 2, 3, 4, 5
	qPhi, qTheta, qPsi     = 6, 7, 8
	qX, qY, qZ             = 9, 10, 11
)

// Quadrotor is the paper's quadrocopter with four constant forces. The body's w
// points down and the world's z up, so that dz/dt = −w when it is level; there
// is no yaw torque. Rotor forces act at (±dx, ±dy):
//
//	L = (F2 + F3 − F1 − F4) dy      M = (F1 + F3 − F2 − F4) dx
//
// Against the paper's text: the coefficients of w in dx/dt and dy/dt end in
// cos ψ and sin ψ (the text has φ: it would not be a rotation), L has dy
// throughout, and the inertias are 0.62e-3, 1.13e-3 and 0.9 (Ixx + Iyy) kg m²,
// which alone give trajectories of the scale of the stated noise. The forces
// sum to twice the weight: it climbs at 1 g and tumbles, as in QU 1.
func Quadrotor() Plant {
	const deg10 = math.Pi / 18
	return withNoise(Plant{
		Name: "quadrotor-paper",
		Text: "four constant forces, 12 states, 4 inputs (the paper's, exact: it tumbles)",
		States: []channel.Channel{
			state("u", "m/s", "body"), state("v", "m/s", "body"), state("w", "m/s", "body"),
			state("p", "rad/s", "body"), state("q", "rad/s", "body"), state("r", "rad/s", "body"),
			angle("phi"), angle("theta"), angle("psi"),
			position("x", "world, z up"), position("y", "world, z up"), position("z", "world, z up"),
		},
		Kinematics: channel.Kinematics{
			Relation: channel.Quadrotor, Position: []string{"x", "y", "-z"}, Velocity: []string{"u", "v", "w"},
			Attitude: []string{"phi", "theta", "psi"}, Rates: []string{"p", "q", "r"}, InBody: true,
		},
		Inputs: []channel.Channel{input("F1", "N"), input("F2", "N"), input("F3", "N"), input("F4", "N")},
		Params: []Param{
			{"m", "kg", 0.1}, {"Ixx", "kg·m²", 0.62e-3}, {"Iyy", "kg·m²", 1.13e-3},
			{"Izz", "kg·m²", 0.9 * (0.62e-3 + 1.13e-3)},
			{"dx", "m", 0.114}, {"dy", "m", 0.0825}, {"g", "m/s²", 9.85},
		},
		Noise:    []float64{1, 1, 1, 0.1, 0.1, 0.1, 1, 0.1, 0.1, 5, 5, 5},
		Duration: 10,
		X0:       make([]float64, 12),
		Low:      []float64{0, 0, 0, 0, 0, 0, -deg10, -deg10, -deg10, 0, 0, 0},
		High:     []float64{0, 0, 0, 0, 0, 0, deg10, deg10, deg10, 0, 0, 0},
		U0:       []float64{0.496, 0.495, 0.4955, 0.4955},
		F:        quadrotor,
		Mass:     "m",
		VJP:      quadrotorVJP,

		Disturbances: []Param{{Name: "ax", Unit: "m/s²"}, {Name: "ay", Unit: "m/s²"}, {Name: "az", Unit: "m/s²"}},
		Push:         quadrotorPush,
	})
}

// QuadrotorFlown is the same airframe as a controller flies it: hovering rather
// than tumbling, with the sensors of a small drone. Nothing can turn it about
// its vertical axis, as in the paper; the air brakes that motion
// (dr/dt = … − cr r), so that its heading wanders by a few degrees instead of
// spinning up.
func QuadrotorFlown() Plant {
	p := Quadrotor()
	p.Name = "quadrotor"
	p.Text = "the same airframe flying between random waypoints, 12 states, 4 inputs"
	p.Params = append(slices.Clone(p.Params), Param{"cr", "1/s", 1})
	yaw := len(p.Params) - 1
	hover := 0.1 * 9.85 / 4
	p.U0 = []float64{hover, hover, hover, hover}
	p.Noise = []float64{0.02, 0.02, 0.02, 0.01, 0.01, 0.01, 0.005, 0.005, 0.005, 0.01, 0.01, 0.01}
	p.Low = []float64{-0.3, -0.3, -0.3, -0.2, -0.2, -0.05, -0.1, -0.1, -0.1, -1, -1, -1}
	p.High = []float64{0.3, 0.3, 0.3, 0.2, 0.2, 0.05, 0.1, 0.1, 0.1, 1, 1, 1}
	p.Duration = 60
	p.F = func(dst, x, u, prm []float64) {
		quadrotor(dst, x, u, prm)
		dst[qR] -= prm[yaw] * x[qR]
	}
	p.VJP = func(dx, du, dp, x, u, prm, g []float64) {
		quadrotorVJP(dx, du, dp, x, u, prm, g)
		if dx != nil {
			dx[qR] -= prm[yaw] * g[qR]
		}
		if dp != nil {
			dp[yaw] -= x[qR] * g[qR]
		}
	}
	return withNoise(p)
}

func quadrotor(dst, x, f, prm []float64) {
	m, ixx, iyy, izz, dx, dy, grav := prm[0], prm[1], prm[2], prm[3], prm[4], prm[5], prm[6]
	u, v, w, p, q, r := x[qU], x[qV], x[qW], x[qP], x[qQ], x[qR]
	sf, cf := math.Sincos(x[qPhi])
	st, ct := math.Sincos(x[qTheta])
	sp, cp := math.Sincos(x[qPsi])
	roll := (f[1] + f[2] - f[0] - f[3]) * dy
	pitch := (f[0] + f[2] - f[1] - f[3]) * dx

	dst[qU] = -grav*st + r*v - q*w
	dst[qV] = grav*sf*ct - r*u + p*w
	dst[qW] = -(f[0]+f[1]+f[2]+f[3])/m + grav*cf*ct + q*u - p*v
	dst[qP] = (roll + (iyy-izz)*q*r) / ixx
	dst[qQ] = (pitch + (izz-ixx)*p*r) / iyy
	dst[qR] = (ixx - iyy) * p * q / izz
	turn := q*sf + r*cf
	dst[qPhi] = p + turn*st/ct
	dst[qTheta] = q*cf - r*sf
	dst[qPsi] = turn / ct
	dst[qX] = ct*cp*u + (sf*st*cp-cf*sp)*v + (sf*sp+cf*st*cp)*w
	dst[qY] = ct*sp*u + (sf*st*sp+cf*cp)*v + (cf*st*sp-sf*cp)*w
	dst[qZ] = st*u - sf*ct*v - cf*ct*w
}

// quadrotorPush adds an acceleration d (along x, y and z of the world) to
// the body's velocities: Rᵀ d with the body's third axis pointing down.
func quadrotorPush(dst, x, d, _ []float64) {
	sf, cf := math.Sincos(x[qPhi])
	st, ct := math.Sincos(x[qTheta])
	sp, cp := math.Sincos(x[qPsi])
	dst[qU] += ct*cp*d[0] + ct*sp*d[1] + st*d[2]
	dst[qV] += (sf*st*cp-cf*sp)*d[0] + (sf*st*sp+cf*cp)*d[1] - sf*ct*d[2]
	dst[qW] += (sf*sp+cf*st*cp)*d[0] + (cf*st*sp-sf*cp)*d[1] - cf*ct*d[2]
}

// quadrotorVJP is the adjoint of quadrotor, one row of the Jacobian's transpose
// a line; a is the adjoint of dst.
func quadrotorVJP(gx, gu, gp, x, f, prm, a []float64) {
	if gx != nil {
		quadrotorStates(gx, x, prm, a)
	}
	m, ixx, iyy, izz, dx, dy := prm[0], prm[1], prm[2], prm[3], prm[4], prm[5]
	if gu != nil {
		lift, roll, pitch := -a[qW]/m, a[qP]*dy/ixx, a[qQ]*dx/iyy
		gu[0] += lift - roll + pitch
		gu[1] += lift + roll - pitch
		gu[2] += lift + roll + pitch
		gu[3] += lift - roll - pitch
	}
	if gp != nil {
		p, q, r := x[qP], x[qQ], x[qR]
		roll := f[1] + f[2] - f[0] - f[3]
		pitch := f[0] + f[2] - f[1] - f[3]
		pDot := (roll*dy + (iyy-izz)*q*r) / ixx
		qDot := (pitch*dx + (izz-ixx)*p*r) / iyy
		rDot := (ixx - iyy) * p * q / izz
		sf, cf := math.Sincos(x[qPhi])
		st, ct := math.Sincos(x[qTheta])
		gp[0] += a[qW] * (f[0] + f[1] + f[2] + f[3]) / (m * m)
		gp[1] += -a[qP]*pDot/ixx - a[qQ]*p*r/iyy + a[qR]*p*q/izz
		gp[2] += a[qP]*q*r/ixx - a[qQ]*qDot/iyy - a[qR]*p*q/izz
		gp[3] += -a[qP]*q*r/ixx + a[qQ]*p*r/iyy - a[qR]*rDot/izz
		gp[4] += a[qQ] * pitch / iyy
		gp[5] += a[qP] * roll / ixx
		gp[6] += -a[qU]*st + a[qV]*sf*ct + a[qW]*cf*ct
	}
}

func quadrotorStates(gx, x, prm, a []float64) {
	ixx, iyy, izz, grav := prm[1], prm[2], prm[3], prm[6]
	u, v, w, p, q, r := x[qU], x[qV], x[qW], x[qP], x[qQ], x[qR]
	sf, cf := math.Sincos(x[qPhi])
	st, ct := math.Sincos(x[qTheta])
	sp, cp := math.Sincos(x[qPsi])
	tt := st / ct
	kp, kq, kr := (iyy-izz)/ixx, (izz-ixx)/iyy, (ixx-iyy)/izz

	// Second and third column of the body-to-world rotation, in the order of
	// dx/dt and dy/dt; the first is (ct cp, ct sp).
	xv, xw := sf*st*cp-cf*sp, sf*sp+cf*st*cp
	yv, yw := sf*st*sp+cf*cp, cf*st*sp-sf*cp
	xDot := ct*cp*u + xv*v + xw*w
	yDot := ct*sp*u + yv*v + yw*w

	gx[qU] += -a[qV]*r + a[qW]*q + a[qX]*ct*cp + a[qY]*ct*sp + a[qZ]*st
	gx[qV] += a[qU]*r - a[qW]*p + a[qX]*xv + a[qY]*yv - a[qZ]*sf*ct
	gx[qW] += -a[qU]*q + a[qV]*p + a[qX]*xw + a[qY]*yw - a[qZ]*cf*ct
	gx[qP] += a[qV]*w - a[qW]*v + a[qQ]*kq*r + a[qR]*kr*q + a[qPhi]
	gx[qQ] += -a[qU]*w + a[qW]*u + a[qP]*kp*r + a[qR]*kr*p +
		a[qPhi]*sf*tt + a[qTheta]*cf + a[qPsi]*sf/ct
	gx[qR] += a[qU]*v - a[qV]*u + a[qP]*kp*q + a[qQ]*kq*p +
		a[qPhi]*cf*tt - a[qTheta]*sf + a[qPsi]*cf/ct
	// ∂/∂φ turns the second column into the third and the third into minus the
	// second.
	gx[qPhi] += grav*ct*(a[qV]*cf-a[qW]*sf) + (q*cf-r*sf)*(a[qPhi]*tt+a[qPsi]/ct) -
		a[qTheta]*(q*sf+r*cf) + a[qX]*(xw*v-xv*w) + a[qY]*(yw*v-yv*w) + a[qZ]*ct*(sf*w-cf*v)
	gx[qTheta] += -grav*(a[qU]*ct+a[qV]*sf*st+a[qW]*cf*st) +
		(q*sf+r*cf)*(a[qPhi]+a[qPsi]*st)/(ct*ct) +
		(a[qX]*cp+a[qY]*sp)*(-st*u+sf*ct*v+cf*ct*w) + a[qZ]*(ct*u+sf*st*v+cf*st*w)
	gx[qPsi] += -a[qX]*yDot + a[qY]*xDot
}
