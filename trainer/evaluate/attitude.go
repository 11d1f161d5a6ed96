package evaluate

import (
	"math"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// Attitude holds errors of an attitude, rad: root mean squares of the angle of the one
// rotation that takes the predicted attitude into the measured one. Errors of roll, pitch
// and yaw are not that: where the nose points up two of them turn about one axis, and
// large errors of both may be no error at all.
type Attitude struct {
	RMSE     float64 `json:"rmse"`
	Hold     float64 `json:"hold"`
	Velocity float64 `json:"velocity"`
	Linear   float64 `json:"linear"`
}

// attitudeOf returns which states are an attitude: as the model declares it, else as
// the log does; where neither declares anything, states called roll, pitch and yaw that
// are angles of one period, with textbook signs. nil if none are.
func attitudeOf(m *model.Model, law *channel.Kinematics) *priordynamics.Body {
	if len(m.PriorDynamics.Body.Attitude) > 0 {
		return &m.PriorDynamics.Body
	}
	states := m.Channels[:m.K]
	if law.Relation != "" || !m.PriorDynamics.Body.Empty() {
		b, err := priordynamics.NewBody(law, states)
		if err != nil || len(b.Attitude) == 0 {
			return nil // something is declared, and it is no attitude of these states
		}
		return &b
	}
	b := &priordynamics.Body{Sign: slices.Repeat([]float64{1}, 12)}
	for _, name := range []string{"roll", "pitch", "yaw"} {
		k := slices.IndexFunc(states, func(c channel.Channel) bool { return strings.EqualFold(c.Name, name) && c.Period > 0 })
		if k < 0 {
			return nil
		}
		b.Attitude = append(b.Attitude, k)
	}
	period := states[b.Attitude[0]].Period
	if states[b.Attitude[1]].Period != period || states[b.Attitude[2]].Period != period {
		return nil
	}
	b.Omega = 2 * math.Pi / period
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

// attitudeErrors are the errors of one window at one horizon, rad; NaN where the attitude was not
// measured.
type attitudeErrors struct{ model, hold, velocity, linear float64 }

// attitudeSums are sums of their squares over n windows.
type attitudeSums struct {
	n int
	attitudeErrors
}

func (s *attitudeSums) add(t attitudeErrors) {
	if math.IsNaN(t.model) {
		return
	}
	s.n++
	s.model += t.model * t.model
	s.hold += t.hold * t.hold
	s.velocity += t.velocity * t.velocity
	s.linear += t.linear * t.linear
}

// result is nil if nothing was measured.
func (s *attitudeSums) result() *Attitude {
	if s.n == 0 {
		return nil
	}
	rms := func(sum float64) float64 { return math.Sqrt(sum / float64(s.n)) }
	return &Attitude{RMSE: rms(s.model), Hold: rms(s.hold), Velocity: rms(s.velocity), Linear: rms(s.linear)}
}

// turned sets dst.turns from the displacements of a window that starts at x0.
func (r *replayer) turned(dst *outcome, x0 []float64) {
	K := r.m.K
	at := func(d []float64) [3]float64 {
		for k, x := range x0 {
			r.moved[k] = x + d[k]
		}
		return r.attitude.Euler(r.moved)
	}
	for i := range dst.turns {
		row := func(v []float64) [3]float64 { return at(v[i*K : (i+1)*K]) }
		truth := row(dst.truth)
		dst.turns[i] = attitudeErrors{
			model: rotationAngle(row(dst.mean), truth), hold: rotationAngle(at(dst.shift), truth),
			velocity: rotationAngle(row(dst.velocity), truth), linear: rotationAngle(row(dst.linear), truth),
		}
	}
}
