package autopilot_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dgm-robotics/dgm/bridge/frames"
	"github.com/dgm-robotics/dgm/bridge/mavlink/autopilot"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// close is what single precision leaves.
var near = cmpopts.EquateApprox(1e-5, 1e-5)

func float32s(q frames.Quaternion) (a, b, c, d float32) {
	return float32(q[0]), float32(q[1]), float32(q[2]), float32(q[3])
}

const start = int64(1.7e18) // this computer's time when the autopilot was started

// Attitudes at 50 Hz, positions at 10, motors at 5: a state for each attitude, the
// position carried on to its time.
func TestStatesOfSeveralMessages(t *testing.T) {
	for _, axes := range []string{"ned", "enu"} {
		channels := autopilot.DefaultChannels()
		if axes == "enu" {
			for i := range channels {
				channels[i].Frame = strings.NewReplacer("ned-frd", "enu-flu", "ned", "enu", "frd", "flu").Replace(channels[i].Frame)
			}
		}
		a, err := autopilot.New(channels)
		if err != nil {
			t.Fatal(err)
		}
		K, P := a.Dims()
		x, u := make([]float64, K), make([]float64, P)
		made := 0
		for ms := uint32(1000); ms < 3000; ms++ {
			now := start + int64(ms)*1e6 + 2e6 // each message takes 2 ms
			if ms%100 == 0 {
				a.Add(&common.MessageLocalPositionNed{TimeBootMs: ms, X: float32(ms) / 500, Y: 2, Z: -3, Vx: 2}, now)
			}
			if ms%200 == 0 {
				a.Add(&common.MessageActuatorOutputStatus{TimeUsec: uint64(ms) * 1000, Actuator: [32]float32{0.1, 0.2, 0.3, float32(ms)}}, now)
			}
			if ms%20 != 10 {
				continue
			}
			w, qx, qy, qz := float32s(frames.FromEuler([3]float64{0.1, 0.2, 0.3}))
			if !a.Add(&common.MessageAttitudeQuaternion{TimeBootMs: ms, Q1: w, Q2: qx, Q3: qy, Q4: qz, Rollspeed: 1, Pitchspeed: 2, Yawspeed: 3}, now) {
				t.Fatalf("%d ms: no state; %v", ms, a.Missing())
			}
			made++
			at := a.State(x, u)
			along := float64(ms) / 500 // x is 2 m/s for ever
			want := []float64{along, 2, -3, 2, 0, 0, 0.1, 0.2, 0.3, 1, 2, 3}
			if axes == "enu" {
				want = []float64{2, along, 3, 0, 2, 0, 0.1, -0.2, math.Pi/2 - 0.3, 1, -2, -3}
			}
			if d := cmp.Diff(want, x, near); d != "" {
				t.Fatalf("%s, %d ms: %s", axes, ms, d)
			}
			if d := cmp.Diff([]float64{0.1, 0.2, 0.3, float64(ms / 200 * 200)}, u, near); d != "" {
				t.Fatal(d)
			}
			if d := at - (start + int64(ms)*1e6); d < 1.9e6 || d > 2.5e6 { // the shortest delay cannot be separated from an offset
				t.Fatalf("%d ms: stamped %d ns off", ms, d)
			}
		}
		if made != 100 {
			t.Errorf("%d states", made)
		}
	}
}

func TestOdometryIsEnough(t *testing.T) {
	a, err := autopilot.New(autopilot.DefaultChannels()[:12])
	if err != nil {
		t.Fatal(err)
	}
	w, x, y, z := float32s(frames.FromEuler([3]float64{0, 0, math.Pi / 2}))
	m := &common.MessageOdometry{TimeUsec: 5e6, FrameId: common.MAV_FRAME_LOCAL_NED, ChildFrameId: common.MAV_FRAME_BODY_FRD, X: 1, Y: 2, Z: 3, Q: [4]float32{w, x, y, z}, Vx: 4, Rollspeed: 7}
	if !a.Add(m, start+5e9) {
		t.Fatal(a.Missing())
	}
	s := make([]float64, 12)
	a.State(s, nil)
	// Ahead at 4 m/s while the nose looks east.
	if d := cmp.Diff([]float64{1, 2, 3, 0, 4, 0, 0, 0, math.Pi / 2, 7, 0, 0}, s, near); d != "" {
		t.Error(d)
	}
	if a.Add(&common.MessageAttitudeQuaternion{TimeBootMs: 5010, Q1: 1}, start+5.01e9) {
		t.Error("an attitude beside ODOMETRY made a second state")
	}
	m.Q = [4]float32{}
	if m.TimeUsec += 1e6; a.Add(m, start+6e9) {
		t.Error("no attitude at all made a state")
	}
}

func TestMissingMessagesAreReportedAndOldOnesNotUsed(t *testing.T) {
	a, err := autopilot.New(autopilot.DefaultChannels())
	if err != nil {
		t.Fatal(err)
	}
	att := func(ms uint32) bool {
		return a.Add(&common.MessageAttitude{TimeBootMs: ms, Roll: 0.1}, start+int64(ms)*1e6)
	}
	if att(1000) {
		t.Error("a state without a position")
	}
	a.Add(&common.MessageLocalPositionNed{TimeBootMs: 1000}, start+1e9)
	a.Add(&common.MessageServoOutputRaw{TimeUsec: 1e6, Servo1Raw: 1500}, start+1e9)
	if !att(1020) {
		t.Error(a.Missing())
	}
	if att(1300) {
		t.Error("a state with a position of 300 ms ago")
	}
	missing := strings.Join(a.Missing(), "\n")
	if missing != "2 states without position (LOCAL_POSITION_NED or ODOMETRY)\n1 state without motors (ACTUATOR_OUTPUT_STATUS or SERVO_OUTPUT_RAW)" {
		t.Error(missing)
	}
	// The autopilot starts anew: nothing of before is used.
	if a.Add(&common.MessageAttitude{TimeBootMs: 10}, start+3e9) {
		t.Error("a state of an autopilot that has sent nothing since its start")
	}
	a.Add(&common.MessageLocalPositionNed{TimeBootMs: 20}, start+3e9+1e7)
	a.Add(&common.MessageServoOutputRaw{TimeUsec: 2e4}, start+3e9+1e7)
	if !a.Add(&common.MessageAttitude{TimeBootMs: 30}, start+3e9+2e7) {
		t.Error(a.Missing())
	}
	x, u := make([]float64, 12), make([]float64, 4)
	if at := a.State(x, u); at < start+3e9+1.9e7 || at > start+3e9+2.1e7 {
		t.Errorf("stamped %d ns after the first start", at-start)
	}
}

func TestUnknownChannels(t *testing.T) {
	if _, err := autopilot.New([]channel.Channel{{Name: "theta", Role: channel.State}}); err == nil || !strings.Contains(err.Error(), `channel "theta" is not in MAVLink's messages`) {
		t.Error(err)
	}
}

// A prediction goes back to the autopilot in its own axes: a vehicle that looks
// east and drifts north has its covariance turned with it.
func TestOdometryOut(t *testing.T) {
	for _, axes := range []string{"ned", "enu"} {
		channels := autopilot.DefaultChannels()
		p := &wire.Prediction{T: start + 10e9, Horizon: []float64{0.1, 0.5}, Std: make([]float64, 24), Mean: make([]float64, 24)}
		mean := []float64{1, 2, -3, 5, 0, 0, 0, 0, math.Pi / 2, 0.1, 0.2, 0.3}
		std := []float64{1, 2, 3, 4, 5, 6, 0.1, 0.2, 0.3, 7, 8, 9}
		if axes == "enu" {
			for i := range channels {
				channels[i].Frame = strings.NewReplacer("ned-frd", "enu-flu", "ned", "enu", "frd", "flu").Replace(channels[i].Frame)
			}
			mean = []float64{2, 1, 3, 0, 5, 0, 0, 0, 0, 0.1, -0.2, -0.3}
			std = []float64{2, 1, 3, 5, 4, 6, 0.1, 0.2, 0.3, 7, 8, 9}
		}
		for i, c := range channels[:12] {
			p.Channels = append(p.Channels, c.Name)
			p.Mean[12+i], p.Std[12+i] = mean[i], std[i]
		}
		a, err := autopilot.New(channels)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := a.Odometry(p, 1); ok {
			t.Error("stamped without a clock")
		}
		a.Clock.Stamp(0, start)
		m, ok := a.Odometry(p, 1)
		if !ok || m.TimeUsec != 10_500_000 || m.FrameId != common.MAV_FRAME_LOCAL_NED || m.ChildFrameId != common.MAV_FRAME_BODY_FRD {
			t.Fatalf("%s: %+v", axes, m)
		}
		got := []float32{m.X, m.Y, m.Z, m.Vx, m.Vy, m.Vz, m.Rollspeed, m.Pitchspeed, m.Yawspeed}
		// North is to the left of a nose that looks east: −y of the body.
		if d := cmp.Diff([]float32{1, 2, -3, 0, -5, 0, 0.1, 0.2, 0.3}, got, near); d != "" {
			t.Errorf("%s: %s", axes, d)
		}
		if d := cmp.Diff([21]float32{0: 1, 6: 4, 11: 9, 15: 0.01, 18: 0.04, 20: 0.09}, m.PoseCovariance, near); d != "" {
			t.Errorf("%s: pose: %s", axes, d)
		}
		// Along the body x is east, y north.
		if d := cmp.Diff([21]float32{0: 25, 6: 16, 11: 36, 15: 49, 18: 64, 20: 81}, m.VelocityCovariance, near); d != "" {
			t.Errorf("%s: velocity: %s", axes, d)
		}
		p.Channels[0] = "distance"
		if _, ok := a.Odometry(p, 1); ok {
			t.Error("ODOMETRY without a position")
		}
	}
}

func TestTunnels(t *testing.T) {
	p := &wire.Prediction{Seq: 77, Channels: []string{"a", "b"}, Horizon: []float64{0.25, 0.5}, Mean: []float64{1, 2, 3, 4}, Std: []float64{5, 6, 7, 8}}
	var got []*common.MessageTunnel
	if !autopilot.Tunnels(p, func(m *common.MessageTunnel) { got = append(got, m) }) || len(got) != 2 {
		t.Fatal(len(got))
	}
	m := got[1]
	f := func(at int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(m.Payload[at:])) }
	if m.PayloadType != 40001 || m.PayloadLength != 28 || binary.LittleEndian.Uint32(m.Payload[:]) != 77 || binary.LittleEndian.Uint16(m.Payload[4:]) != 1 ||
		binary.LittleEndian.Uint16(m.Payload[6:]) != 2 || f(8) != 0.5 || f(12) != 3 || f(16) != 7 || f(20) != 4 || f(24) != 8 {
		t.Errorf("%+v", m)
	}
	if autopilot.Tunnels(&wire.Prediction{Channels: make([]string, 15), Horizon: []float64{1}}, nil) {
		t.Error("15 states were sent in a tunnel")
	}
}
