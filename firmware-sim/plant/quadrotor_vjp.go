package plant

import "math"

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
