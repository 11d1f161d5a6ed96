package datacheck

import (
	"math"
	"math/rand/v2"
	"slices"
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
				t.Errorf("undeclared angles: %+v", got)
			}
			log.Kinematics = channel.Kinematics{Relation: channel.Quadrotor, Attitude: []string{"phi", "-theta", "psi"}, Rates: []string{"p", "q", "r"}}
		}
		got := find(Check(log, Options{}), Gimbal)
		if len(got) != 1 || got[0].Channel != names[1] || got[0].Severity != Note || got[0].From < 9.7 || got[0].To > 10.3 || got[0].From > got[0].To || !strings.Contains(got[0].Text, "up to 85°") {
			t.Errorf("%v: %+v", names, got)
		}
	}
}

// A rigid body that pitches over the top: its yaw turns by half a turn within a few
// samples there, and nothing pushed it.
func TestLoopIsNotReportedAsDisturbance(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	stamps := even(50, 100)
	cols := make([][]float64, 6)
	q := [4]float64{1, 0, 0, 0}
	rates := func(s float64) (p, r, y float64) {
		loop := 0.0
		for _, l := range []struct{ from, takes float64 }{{12, 1.5}, {20, 5}, {28, 2}, {38, 3}} {
			if s > l.from && s < l.from+l.takes {
				loop = 2 * math.Pi / l.takes * (1 - math.Cos(2*math.Pi/l.takes*(s-l.from)))
			}
		}
		return 0.4*math.Cos(1.1*s) + 0.1*math.Sin(3*s), 0.3*math.Cos(1.7*s) + loop, 0.2*math.Cos(0.7*s) + 0.05
	}
	const fine = 10
	for i := range stamps {
		s := float64(i) / 100
		w, x, y, z := q[0], q[1], q[2], q[3]
		p, r, u := rates(s)
		for k, v := range []float64{
			math.Atan2(2*(w*x+y*z), 1-2*(x*x+y*y)), math.Asin(math.Max(-1, math.Min(1, 2*(w*y-z*x)))), math.Atan2(2*(w*z+x*y), 1-2*(y*y+z*z)), p, r, u,
		} {
			cols[k] = append(cols[k], v+1e-3*rng.NormFloat64())
		}
		for j := range fine {
			p, r, u := rates(s + (float64(j)+0.5)/100/fine)
			h := 0.5 / 100 / fine
			d := [4]float64{-q[1]*p - q[2]*r - q[3]*u, q[0]*p + q[2]*u - q[3]*r, q[0]*r - q[1]*u + q[3]*p, q[0]*u + q[1]*r - q[2]*p}
			n := 0.0
			for a := range q {
				q[a] += h * d[a]
				n += q[a] * q[a]
			}
			for a := range q {
				q[a] /= math.Sqrt(n)
			}
		}
	}
	var channels []channel.Channel
	for _, n := range []string{"roll", "pitch", "yaw"} {
		channels = append(channels, channel.Channel{Name: n, Unit: "rad", Role: channel.State, Period: channel.Angle})
	}
	for _, n := range []string{"p", "q", "r"} {
		channels = append(channels, channel.Channel{Name: n, Unit: "rad/s", Role: channel.State})
	}
	found := Check(build(channels, stamps, nil, cols), Options{})
	if len(find(found, Gimbal)) == 0 {
		t.Fatal("it never pointed up")
	}
	for _, p := range find(found, Outlier) {
		if slices.Contains([]string{"roll", "pitch", "yaw"}, p.Channel) {
			t.Errorf("%+v", p)
		}
	}
}

// Beside a stretch where the nose pointed up, and in its segment alone, angles are not
// compared with the regression.
func TestSteepNear(t *testing.T) {
	s := &segment{index: 1, t: even(10, 100)}
	for i := range s.t {
		s.t[i] -= 100
	}
	c := &recording{found: &findings{problems: []Problem{{Kind: Gimbal, Index: 1, From: 5, To: 5.2}, {Kind: Gap, Index: 1, From: 2, To: 3}}}}
	for _, w := range []struct {
		first, last int
		want        bool
	}{{480, 495, true}, {505, 510, true}, {525, 540, true}, {460, 488, false}, {540, 560, false}, {210, 220, false}} {
		if got := c.steepNear(s, w.first, w.last); got != w.want {
			t.Errorf("samples %d to %d, %v to %v s: %v", w.first, w.last, s.t[w.first], s.t[w.last], got)
		}
	}
	if s.index = 0; c.steepNear(s, 505, 510) {
		t.Error("another segment is steep")
	}
}
