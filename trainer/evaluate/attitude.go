package evaluate

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// attitudeOf returns which states are an attitude: as the model declares it, else as
// the log does; where neither declares anything, states called roll, pitch and yaw that
// are angles of one period, with textbook signs. nil if none are.
func attitudeOf(m *model.Model, log *channel.Kinematics) *priordynamics.Body {
	equation := model.EquationOf(m.Stack)
	if equation != nil && len(equation.Body.Attitude) > 0 {
		return &equation.Body
	}
	states := m.Channels[:m.K]
	if log.Relation != "" || equation != nil && !equation.Body.Empty() {
		b, err := priordynamics.NewBody(log, states)
		if err != nil || len(b.Attitude) == 0 {
			return nil // something is declared, and it is no attitude of these states
		}
		return &b
	}
	b := &priordynamics.Body{Sign: slices.Repeat([]float64{1}, 12), Attitude: channel.NamedAttitude(states)}
	if b.Attitude == nil {
		return nil
	}
	b.Omega = 2 * math.Pi / states[b.Attitude[0]].Period
	return b
}

// bodyOf returns the rigid body that the model declares, else the log; empty if neither
// declares one of these states.
func bodyOf(m *model.Model, log *channel.Kinematics) priordynamics.Body {
	if e := model.EquationOf(m.Stack); e != nil && !e.Body.Empty() {
		return e.Body
	}
	b, err := priordynamics.NewBody(log, m.Channels[:m.K])
	if err != nil {
		return priordynamics.Body{}
	}
	return b
}

// rotationAngle returns the angle, 0…π, of the rotation that takes one attitude into another,
// both roll, pitch and yaw in rad. NaN if one of them is.
func rotationAngle(a, b [3]float64) float64 {
	p, q := quaternion(a), quaternion(b)
	w := p[0]*q[0] + p[1]*q[1] + p[2]*q[2] + p[3]*q[3]
	x := p[0]*q[1] - p[1]*q[0] - (p[2]*q[3] - p[3]*q[2])
	y := p[0]*q[2] - p[2]*q[0] - (p[3]*q[1] - p[1]*q[3])
	z := p[0]*q[3] - p[3]*q[0] - (p[1]*q[2] - p[2]*q[1])
	return 2 * math.Atan2(math.Sqrt(x*x+y*y+z*z), math.Abs(w))
}

// quaternion returns w, x, y, z of Rz(yaw) Ry(pitch) Rx(roll).
func quaternion(a [3]float64) [4]float64 {
	sr, cr := math.Sincos(a[0] / 2)
	sp, cp := math.Sincos(a[1] / 2)
	sy, cy := math.Sincos(a[2] / 2)
	return [4]float64{cr*cp*cy + sr*sp*sy, sr*cp*cy - cr*sp*sy, cr*sp*cy + sr*cp*sy, cr*cp*sy - sr*sp*cy}
}
