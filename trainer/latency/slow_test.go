package latency

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/trainer/window"
)

// smooth returns a signal of five sines of frequencies up to a greatest one, Hz, within ±size.
func smooth(r *rand.Rand, fastest, size float64) func(t float64) float64 {
	var f, phase, share [5]float64
	sum := 0.0
	for i := range f {
		f[i], phase[i], share[i] = 0.05+(fastest-0.05)*r.Float64(), 2*math.Pi*r.Float64(), r.ExpFloat64()
		sum += share[i]
	}
	return func(t float64) (v float64) {
		for i := range f {
			v += size * share[i] / sum * math.Sin(2*math.Pi*f[i]*t+phase[i])
		}
		return v
	}
}

var boat = plant{
	name: "boat", states: []string{"heading*", "surge", "sway", "yaw_rate"}, inputs: 2, start: []float64{0, 1, 0, 0},
	field: func(d, x, v []float64) {
		u, w, r := x[1], x[2], x[3]
		lift := v[1] * u * math.Abs(u)
		d[0] = r
		d[1] = v[0] - 0.35*u - 0.2*u*math.Abs(u) + 1.4*w*r
		d[2] = -0.9*w - 1.5*w*math.Abs(w) - 0.75*u*r + 0.2*lift
		d[3] = -1.1*r - 0.8*r*math.Abs(r) - 0.3*u*w + 0.8*lift
	},
	pilot: func(r *rand.Rand) func(float64, []float64) []float64 {
		a, b := smooth(r, .2, .6), smooth(r, .4, .9)
		return func(t float64, x []float64) []float64 { return []float64{.9 + a(t), b(t)} }
	},
}

// A boat's thruster that is later than its commands change fast: noise hides its dead time in short windows, and not in long ones.
func TestSlowActuator(t *testing.T) {
	var flights []window.Flight
	for seed := range uint64(2) {
		flights = append(flights, boat.fly(seed, 60, 0.02, 0.02, []pair{{0.2, 0.3}, {0, 0.15}})...)
	}
	channels := boat.channels()
	channels[len(channels)-1].Unit = "rad" // a rudder is no thruster
	res, err := Estimate(t.Context(), flights, channels)
	if err != nil {
		t.Fatal(err)
	}
	short := res.shorter
	if short == nil || short.Inputs[0].Known || short.open == 0 {
		t.Fatalf("short windows: %+v", short)
	}
	l := res.Inputs[0]
	t.Logf("%v; short windows %v; %.3f, %.3f is left", res.Inputs, short.Inputs, res.Gain, short.Gain)
	if !l.Known || math.Abs(l.Dead-0.2) > 0.04 || math.Abs(l.Lag-0.3) > 0.05 || l.DeadLow > 0.2 || l.DeadHigh < 0.2 || l.LagLow > 0.3 || l.LagHigh < 0.3 {
		t.Errorf("%+v, expected 200 and 300 ms", l)
	}
	if used := res.Actuators(); used == nil || used[0].Dead != l.Dead {
		t.Errorf("equations read %v", used)
	}
}

// A car at a constant speed, whose tyres settle in less time than passes between two samples.
var slalom = plant{
	name: "car", states: []string{"heading*", "sway", "yaw_rate"}, inputs: 1, start: []float64{0, 0, 0},
	field: func(d, x, v []float64) {
		w, r := x[1], x[2]
		d[0], d[1], d[2] = r, -47*w-2*r+52*v[0], 15*w-80*r+540*v[0]
	},
	pilot: func(r *rand.Rand) func(float64, []float64) []float64 {
		a := smooth(r, .7, .15)
		return func(t float64, x []float64) []float64 { return []float64{a(t)} }
	},
}

// In short windows noise makes the poles of the tyres seem slow, and the steering's latency is what makes up for it; long ones have less noise.
func TestLatencyBehindFastPoles(t *testing.T) {
	const truth = 0.14
	var flights []window.Flight
	for seed := range uint64(4) {
		flights = append(flights, slalom.fly(seed, 30, 0.025, 0.03, []pair{{0.08, 0.06}})...)
	}
	res, err := Estimate(t.Context(), flights, slalom.channels())
	if err != nil {
		t.Fatal(err)
	}
	if res.shorter == nil {
		t.Fatalf("short windows were taken: %+v", res.Inputs[0])
	}
	l, short := res.fitted[0], res.shorter.fitted[0]
	t.Logf("%+v; short windows %+v", l, short)
	if off := math.Abs(short.Dead + short.Lag - truth); off < 0.06 {
		t.Errorf("short windows are off by %.3f s: they show nothing", off)
	}
	if off := math.Abs(l.Dead + l.Lag - truth); off > 0.06 {
		t.Errorf("off by %.3f s", off)
	}
}

// Windows of which a log has too few leave all inputs open, and take nothing from shorter ones.
func TestTooFewWindowsLeaveInputsOpen(t *testing.T) {
	flights := slalom.fly(1, 20, 0.025, 0.01, []pair{{0.08, 0.06}})
	for _, times := range []int{1, longer} {
		r, err := estimate(t.Context(), flights, slalom.channels(), times)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[int]int{1: 0, longer: 1}[times]; r.open != want {
			t.Errorf("windows %d times as long: %d inputs are open, expected %d: %+v", times, r.open, want, r.Inputs)
		}
	}
}
