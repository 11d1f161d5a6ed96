package datacheck

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

func TestGimbalIsNamedWithItsTime(t *testing.T) {
	stamps := even(20, 100)
	rng := rand.New(rand.NewPCG(6, 6))
	cols := make([][]float64, 6)
	peak := 85 * math.Pi / 180 // once, around 10 s
	for _, at := range stamps {
		s := at - 100
		pitch := 0.3*math.Sin(1.7*s) + (peak-0.3*math.Sin(1.7*10))*math.Exp(-(s-10)*(s-10)/0.1)
		rate := 0.3*1.7*math.Cos(1.7*s) - 20*(s-10)*(peak-0.3*math.Sin(17))*math.Exp(-(s-10)*(s-10)/0.1)
		for k, v := range []float64{0.4 * math.Sin(1.1*s), pitch, 0.2 * math.Sin(0.7*s), 0.44 * math.Cos(1.1*s), rate, 0.14 * math.Cos(0.7*s)} {
			cols[k] = append(cols[k], v+1e-3*rng.NormFloat64())
		}
	}
	for _, names := range [][]string{{"Roll", "Pitch", "Yaw"}, {"phi", "theta", "psi"}} {
		var channels []channel.Channel
		for _, n := range names {
			channels = append(channels, channel.Channel{Name: n, Unit: "rad", Role: channel.State, Period: channel.Angle})
		}
		for _, n := range []string{"p", "q", "r"} {
			channels = append(channels, channel.Channel{Name: n, Unit: "rad/s", Role: channel.State})
		}
		log := build(channels, stamps, nil, cols)
		if names[0] == "phi" {
			if got := find(Check(log, Options{}), Gimbal); len(got) != 0 {
				t.Errorf("angles of which nothing is said: %+v", got)
			}
			log.Kinematics = channel.Kinematics{Law: channel.Quadrotor, Attitude: []string{"phi", "-theta", "psi"}, Rates: []string{"p", "q", "r"}}
		}
		got := find(Check(log, Options{}), Gimbal)
		if len(got) != 1 || got[0].Channel != names[1] || got[0].Severity != Note || got[0].From < 9.7 || got[0].To > 10.3 || got[0].From > got[0].To || !strings.Contains(got[0].Text, "up to 85°") {
			t.Errorf("%v: %+v", names, got)
		}
	}
}
