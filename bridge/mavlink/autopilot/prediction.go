package autopilot

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"

	"github.com/dgm-robotics/dgm/bridge/frames"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// PayloadType is what the tunnels of a horizon carry; types from 32768 on are free.
const PayloadType = 40001

// maxPayload is what fits into a TUNNEL.
const maxPayload = 128

// Odometry returns the prediction at point i of the horizon as ODOMETRY, stamped
// with the autopilot's time. ok is false where the prediction has no position and
// attitude, or the autopilot's clock is not known.
func (a *Assembler) Odometry(p *wire.Prediction, i int) (m *common.MessageOdometry, ok bool) {
	offset, ok := a.Clock.Offset()
	K := len(p.Channels)
	if !ok || i >= len(p.Horizon) {
		return nil, false
	}
	mean, std := p.Mean[i*K:(i+1)*K], p.Std[i*K:(i+1)*K]
	get := func(names ...string) (v, variance [3]float64, ok bool) {
		for k, name := range names {
			at := slices.Index(p.Channels, name)
			if at < 0 {
				return v, variance, false
			}
			v[k], variance[k] = mean[at], std[at]*std[at]
		}
		return v, variance, true
	}
	pos, posVar, okPos := get("x", "y", "z")
	euler, eulerVar, okAtt := get("roll", "pitch", "yaw")
	if !okPos || !okAtt {
		return nil, false
	}
	q := frames.Attitude(frames.FromEuler(euler), a.world, a.body, frames.NED, frames.FRD)
	pos = frames.Vector(pos, a.world, frames.NED)
	posVar = swapped(posVar, a.world)
	t := p.T + int64(1e9*p.Horizon[i]) - offset
	m = &common.MessageOdometry{
		TimeUsec: uint64(max(0, t) / 1000), FrameId: common.MAV_FRAME_LOCAL_NED, ChildFrameId: common.MAV_FRAME_BODY_FRD,
		X: float32(pos[0]), Y: float32(pos[1]), Z: float32(pos[2]),
		Q: [4]float32{float32(q[0]), float32(q[1]), float32(q[2]), float32(q[3])}, EstimatorType: common.MAV_ESTIMATOR_TYPE_UNKNOWN,
	}
	unknown := float32(math.NaN())
	m.VelocityCovariance[0] = unknown
	m.Vx, m.Vy, m.Vz, m.Rollspeed, m.Pitchspeed, m.Yawspeed = unknown, unknown, unknown, unknown, unknown, unknown
	m.PoseCovariance = upper(diagonal(posVar), diagonal(eulerVar))
	vel, velVar, okVel := get("vx", "vy", "vz")
	rate, rateVar, okRate := get("p", "q", "r")
	if !okVel || !okRate {
		return m, true
	}
	// The velocity is given in the axes of the body: R turns the world into them, and
	// its covariance becomes R C Rᵀ.
	back := q.Conj()
	vel = back.Rotate(frames.Vector(vel, a.world, frames.NED))
	rate = frames.Vector(rate, a.body, frames.FRD)
	m.Vx, m.Vy, m.Vz = float32(vel[0]), float32(vel[1]), float32(vel[2])
	m.Rollspeed, m.Pitchspeed, m.Yawspeed = float32(rate[0]), float32(rate[1]), float32(rate[2])
	m.VelocityCovariance = upper(rotated(back, swapped(velVar, a.world)), diagonal(rateVar))
	return m, true
}

// swapped gives variances along the axes of a world in ned: signs do not matter.
func swapped(v [3]float64, world frames.Frame) [3]float64 {
	if world == frames.ENU {
		return [3]float64{v[1], v[0], v[2]}
	}
	return v
}

type matrix [3][3]float64

func diagonal(v [3]float64) (m matrix) {
	for i := range v {
		m[i][i] = v[i]
	}
	return m
}

// rotated returns R diag(v) Rᵀ, R the rotation of q.
func rotated(q frames.Quaternion, v [3]float64) (m matrix) {
	for k := range v {
		var e [3]float64
		e[k] = 1
		column := q.Rotate(e)
		for i := range m {
			for j := range m {
				m[i][j] += column[i] * v[k] * column[j]
			}
		}
	}
	return m
}

// upper returns the upper triangle of the 6×6 matrix of two blocks, row after row.
func upper(a, b matrix) (out [21]float32) {
	n := 0
	for i := range 6 {
		for j := i; j < 6; j++ {
			switch {
			case j < 3:
				out[n] = float32(a[i][j])
			case i >= 3:
				out[n] = float32(b[i-3][j-3])
			}
			n++
		}
	}
	return out
}

// Tunnels calls send with a message for each point of the horizon. It returns false
// where a point does not fit into one: more than 14 states.
func Tunnels(p *wire.Prediction, send func(*common.MessageTunnel)) bool {
	K := len(p.Channels)
	n := 12 + 8*K
	if n > maxPayload {
		return false
	}
	for i, h := range p.Horizon {
		m := &common.MessageTunnel{PayloadType: PayloadType, PayloadLength: uint8(n)}
		b := m.Payload[:0]
		b = binary.LittleEndian.AppendUint32(b, uint32(p.Seq))
		b = binary.LittleEndian.AppendUint16(b, uint16(i))
		b = binary.LittleEndian.AppendUint16(b, uint16(len(p.Horizon)))
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(h)))
		for k := range K {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(p.Mean[i*K+k])))
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(p.Std[i*K+k])))
		}
		send(m)
	}
	return true
}
