package datacheck

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// An accelerometer whose gravity turns against roll or pitch, or with the other one, is named with the mend; one that agrees is not, in either axes,
// degrees or g, nor one without gravity, nor that of a copter, whose thrust is along its own axis.
func TestAccelerometerAgainstAttitude(t *testing.T) {
	t.Parallel()
	type axes = func(f [3]float64, roll, pitch float64) ([3]float64, float64, float64)
	for name, c := range map[string]struct {
		change   axes
		unit     string
		degrees  bool
		hovering bool
		free     bool // of gravity
		signed   bool // the kinematics turns the pitch round
		channel  string
		says     string
	}{
		"agree":                   {unit: "m/s²"},
		"agree, in g and degrees": {unit: "g", degrees: true},
		"right and down": {unit: "m/s^2", change: func(f [3]float64, roll, pitch float64) ([3]float64, float64, float64) {
			return [3]float64{f[0], -f[1], -f[2]}, roll, -pitch
		}},
		"up, attitude down": {unit: "m/s²", change: func(f [3]float64, roll, pitch float64) ([3]float64, float64, float64) { return f, roll, -pitch }, channel: "acc_x", says: "has the opposite sign to pitch"},
		"declared":          {unit: "m/s²", signed: true, change: func(f [3]float64, roll, pitch float64) ([3]float64, float64, float64) { return f, roll, -pitch }},
		"left, attitude right": {unit: "m/s²", change: func(f [3]float64, roll, pitch float64) ([3]float64, float64, float64) {
			return [3]float64{f[0], -f[1], f[2]}, roll, pitch
		}, channel: "acc_y", says: "has the opposite sign to roll"},
		"axes changed places": {unit: "m/s²", change: func(f [3]float64, roll, pitch float64) ([3]float64, float64, float64) {
			return [3]float64{f[1], f[0], f[2]}, roll, pitch
		}, channel: "acc_x", says: "follows roll, not pitch"},
		"no gravity": {unit: "m/s²", free: true, change: func(f [3]float64, roll, pitch float64) ([3]float64, float64, float64) { return f, roll, -pitch }},
		"a copter":   {unit: "m/s²", hovering: true, change: func(f [3]float64, roll, pitch float64) ([3]float64, float64, float64) { return f, roll, -pitch }},
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 3))
			stamps, cols := even(60, 50), make([][]float64, 6)
			for _, at := range stamps {
				s := at - 100
				roll, pitch := 0.3*math.Sin(0.5*s), 0.2*math.Sin(0.31*s+1)
				f := [3]float64{-9.81 * math.Sin(pitch), 9.81 * math.Sin(roll) * math.Cos(pitch), 9.81 * math.Cos(roll) * math.Cos(pitch)}
				if c.hovering {
					f = [3]float64{0.5 * math.Sin(0.31*s), 0.5 * math.Cos(0.5*s), 9.81}
				}
				if c.free {
					f[2] -= 9.81
				}
				if c.change != nil {
					f, roll, pitch = c.change(f, roll, pitch)
				}
				for i := range f {
					if f[i] += 0.8 * rng.NormFloat64(); c.unit == "g" {
						f[i] /= 9.80665
					}
				}
				if c.degrees {
					roll, pitch = roll*180/math.Pi, pitch*180/math.Pi
				}
				for k, v := range []float64{roll, pitch, 0.1 * math.Sin(s), f[0], f[1], f[2]} {
					cols[k] = append(cols[k], v)
				}
			}
			angle := "rad"
			if c.degrees {
				angle = "deg"
			}
			var channels []channel.Channel
			for _, n := range []string{"roll", "pitch", "yaw"} {
				channels = append(channels, channel.Channel{Name: n, Unit: angle, Role: channel.State})
			}
			for _, n := range []string{"acc_x", "acc_y", "acc_z"} {
				channels = append(channels, channel.Channel{Name: n, Unit: c.unit, Role: channel.Aux})
			}
			log := build(channels, stamps, nil, cols)
			if c.signed {
				log.Kinematics = channel.Kinematics{Relation: channel.Quadrotor, Attitude: []string{"roll", "-pitch", "yaw"}}
			}
			got := find(Check(log, Options{}), Axes)
			var of []string
			for _, p := range got {
				of = append(of, p.Channel)
				if p.Severity != Note || !p.Misread {
					t.Errorf("%+v", p)
				}
			}
			switch {
			case c.channel == "" && len(got) > 0, c.channel != "" && (len(got) == 0 || got[0].Channel != c.channel || !strings.Contains(got[0].Text, c.says)):
				t.Errorf("%v, expected %q: %+v", of, c.channel, got)
			}
		})
	}
}
