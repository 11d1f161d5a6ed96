package derivative_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/derivative"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

func state(name, unit string) channel.Channel {
	return channel.Channel{Name: name, Unit: unit, Role: channel.State}
}

// A noisy, jittering, wrapped pendulum-like signal with two unrelated channels.
func TestFindsDerivatives(t *testing.T) {
	theta := state("theta", "rad")
	theta.Period = 2 * math.Pi
	states := []channel.Channel{state("omega", "rad/s"), theta, state("x", "m"), state("v", "m/s"), state("flat", "V")}
	for _, noise := range []float64{0, 0.01, 0.05} {
		rng := rand.New(rand.NewPCG(1, 7))
		d := derivative.New(states)
		var at int64 = 1772682400399326324
		for i := range 4000 {
			if i == 2000 {
				d.Break()
				at += 40_000_000_000
			}
			at += 5_000_000 + rng.Int64N(1_000_000)
			s := 1e-9 * float64(at-1772682400399326324)
			angle := 4*math.Sin(1.3*s) + 2*s
			rate := 5.2*math.Cos(1.3*s) + 2
			x := []float64{rate, angle - 2*math.Pi*math.Floor(angle/(2*math.Pi)), math.Sin(s), math.Cos(s), 3}
			for k := range x {
				x[k] += noise * rng.NormFloat64()
			}
			if i%100 == 50 {
				x[0] = math.NaN()
			}
			d.Add(at, x)
		}
		got, near := d.Found()
		if len(near) != 0 {
			t.Errorf("noise %v: near %+v", noise, near)
		}
		if len(got) != 2 || got[0].Channel != "theta" || got[0].Derivative != "omega" || got[1].Channel != "x" || got[1].Derivative != "v" {
			t.Fatalf("noise %v: found %+v", noise, got)
		}
		for _, f := range got {
			if math.Abs(f.Slope-1) > 0.05 || f.Correlation < 0.95 {
				t.Errorf("noise %v: %+v", noise, f)
			}
		}
	}
}

// On a circle flown at 1 rad/s, the rate of one axis is the
// other axis. A position is no derivative of a position.
func TestUnitsDistinguishPairs(t *testing.T) {
	d := derivative.New([]channel.Channel{state("x", "m"), state("y", "m")})
	same := derivative.New([]channel.Channel{state("x", ""), state("y", "")})
	for i := range 2000 {
		s := 0.01 * float64(i)
		p := []float64{math.Cos(s), math.Sin(s)}
		d.Add(int64(i)*10_000_000, p)
		same.Add(int64(i)*10_000_000, p)
	}
	if got, near := d.Found(); got != nil || near != nil {
		t.Errorf("found %+v, near %+v", got, near)
	}
	// Without units nothing distinguishes them: dy/dt is x.
	if got, _ := same.Found(); len(got) != 1 || got[0].Channel != "y" || got[0].Derivative != "x" {
		t.Errorf("found %+v", got)
	}
}

func TestWrongScaleAndTooFew(t *testing.T) {
	scaled := derivative.New([]channel.Channel{state("x", "m"), state("v", "km/h")})
	short := derivative.New([]channel.Channel{state("x", "m"), state("v", "m/s")})
	declared := state("x", "m")
	declared.Derivative = "v"
	given := derivative.New([]channel.Channel{declared, state("y", "mm"), state("v", "m/s")})
	for i := range 3000 {
		s, at := 0.01*float64(i), int64(i)*10_000_000
		scaled.Add(at, []float64{math.Sin(s), 3.6 * math.Cos(s)})
		if i < 30 {
			short.Add(at, []float64{math.Sin(s), math.Cos(s)})
		}
		given.Add(at, []float64{math.Sin(s), math.Sin(s), math.Cos(s)})
		given.Add(at, []float64{9, 9, 9}) // a repeated time is not used
	}
	for name, d := range map[string]*derivative.Detector{"scaled": scaled, "short": short, "given": given} {
		if got, _ := d.Found(); got != nil {
			t.Errorf("%s: found %+v", name, got)
		}
	}
}

// A derivative in another unit is not taken, and is shown.
func TestNearDerivativeIsReported(t *testing.T) {
	d := derivative.New([]channel.Channel{state("angle", "rad"), state("rate", "rad/s"), state("x", ""), state("v", "")})
	for i := range 3000 {
		s := 0.01 * float64(i)
		d.Add(int64(i)*10_000_000, []float64{math.Sin(s), 57.3 * math.Cos(s), math.Sin(1.7 * s), 1.25 * 1.7 * math.Cos(1.7*s)})
	}
	found, near := d.Found()
	if len(found) != 0 || len(near) != 2 || near[0].Derivative != "rate" || math.Abs(near[0].Slope*57.3-1) > 0.01 || near[1].Derivative != "v" {
		t.Errorf("found %+v, near %+v", found, near)
	}
}

// Spikes in either channel, and a part of the log in degrees, do not hide a pair; a
// channel that contradicts itself as often as it agrees is none.
func TestOutliersDoNotHideAPair(t *testing.T) {
	for name, spoil := range map[string]func(i int, x []float64){
		"spikes": func(i int, x []float64) {
			if i%75 == 35 {
				x[i/75%2] += 3 * math.Sin(float64(i))
			}
		},
		"a burst of nonsense": func(i int, x []float64) {
			if i >= 3000 && i < 3020 {
				x[0] = 1e9
			}
		},
		"degrees in the end": func(i int, x []float64) {
			if i >= 3500 {
				x[0] *= 180 / math.Pi
			}
		},
		"another sign for most": func(i int, x []float64) {
			if i >= 2000 {
				x[1] = -x[1]
			}
		},
	} {
		rng := rand.New(rand.NewPCG(2, 7))
		d := derivative.New([]channel.Channel{state("theta", "rad"), state("omega", "rad/s")})
		for i := range 6000 {
			s := 0.01 * float64(i)
			x := []float64{math.Sin(1.3*s) + 0.003*rng.NormFloat64(), 1.3*math.Cos(1.3*s) + 0.01*rng.NormFloat64()}
			spoil(i, x)
			d.Add(int64(i)*10_000_000, x)
		}
		got, _ := d.Found()
		if pair := name != "another sign for most"; pair != (len(got) == 1) || pair && (math.Abs(got[0].Slope-1) > 0.05 || got[0].Correlation < 0.9) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A car that goes straight on for most of the time: its speed is not the derivative of its x, though the two agree then. Without a
// heading among the states nothing contradicts it; a true derivative beside a heading is found.
func TestSpeedAlongAHeadingIsNoDerivative(t *testing.T) {
	for _, share := range []float64{0.5, 0.9, 0.97} {
		for _, unit := range []string{"rad", "deg", ""} {
			scale := 1.
			if unit == "deg" {
				scale = 180 / math.Pi
			}
			car := derivative.New([]channel.Channel{state("x", ""), state("v", ""), state("heading", unit), state("vx", "")})
			alone := derivative.New([]channel.Channel{state("x", ""), state("v", "")})
			rng := rand.New(rand.NewPCG(8, 9))
			x, heading := 0., 0.
			for i := range 6000 {
				s := 0.01 * float64(i)
				v, steer := 1.5+0.8*math.Sin(0.7*s), 0.
				if math.Mod(s, 20) > 20*share {
					steer = 0.8 * math.Sin(0.9*s)
				} else {
					heading *= 0.97
				}
				heading += 0.01 * steer * v
				vx := v * math.Cos(heading)
				x += 0.01 * vx
				noisy := x + 1e-4*rng.NormFloat64()
				car.Add(int64(i)*10_000_000, []float64{noisy, v, scale * heading, math.NaN()})
				alone.Add(int64(i)*10_000_000, []float64{noisy, v})
			}
			if got, near := car.Found(); len(got) != 0 || len(near) != 1 || near[0].Derivative != "v" || near[0].Heading != "heading" {
				t.Errorf("%v straight on, heading in %q: found %+v, near %+v", share, unit, got, near)
			}
			if got, _ := alone.Found(); len(got) != 1 {
				t.Errorf("%v straight on, without a heading: found %+v", share, got)
			}
		}
	}
}

// Samples that come a nanosecond apart, as where a time is in another unit than it
// has, take no memory without end, and are judged all the same.
func TestMemoryIsBoundedAtHighSampleRates(t *testing.T) {
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	d := derivative.New([]channel.Channel{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}})
	before := heap()
	for i := range int64(1_000_000) {
		s := 1e-9 * float64(i)
		d.Add(i, []float64{math.Sin(1e5 * s), 1e5 * math.Cos(1e5*s), math.Sin(3e5 * s), 1})
	}
	if after := heap(); after > before+4<<20 {
		t.Errorf("%d bytes are held", after-before)
	}
	found, _ := d.Found()
	if len(found) != 1 || found[0].Channel != "a" || found[0].Derivative != "b" {
		t.Errorf("found %+v", found)
	}
}

// An encoder at a tenth of the rate of a gyroscope, on its stamps or on others: the gyroscope is its derivative all the same.
func TestSensorsOfDifferentRates(t *testing.T) {
	for _, together := range []bool{true, false} {
		differentRates(t, together)
	}
}

func differentRates(t *testing.T, together bool) {
	theta := state("theta", "rad")
	theta.Period = 2 * math.Pi
	d := derivative.New([]channel.Channel{theta, state("omega", "rad/s")})
	for i := range 8000 {
		s := 0.005 * float64(i)
		x := []float64{math.NaN(), 6 * math.Cos(3*s)}
		if i%11 == 0 {
			x[0] = math.Mod(4*math.Pi+2*math.Sin(3*s), 2*math.Pi)
			if !together {
				x[1] = math.NaN()
			}
		}
		d.Add(int64(i)*5_000_000, x)
		if i%2000 == 1999 {
			d.Break()
		}
	}
	got, _ := d.Found()
	if len(got) != 1 || got[0].Channel != "theta" || got[0].Derivative != "omega" || math.Abs(got[0].Slope-1) > 0.05 {
		t.Errorf("found %+v", got)
	}
}

// A rate in another unit is no derivative, and nearly one with the units that explain it.
func TestRatesInOtherUnits(t *testing.T) {
	none := derivative.Units{Channel: "none"}
	for scale, want := range map[float64]derivative.Units{1: {}, 180 / math.Pi: {"radians", "degrees per second"}, math.Pi / 180: {"degrees", "radians per second"}, 1000: {"units", "thousandths of a unit per second"}, 7: none} {
		d := derivative.New([]channel.Channel{state("theta", ""), state("omega", "")})
		for i := range 2000 {
			s := 0.01 * float64(i)
			d.Add(int64(i)*10_000_000, []float64{math.Sin(s) + 0.3*math.Sin(3.1*s), scale * (math.Cos(s) + 0.93*math.Cos(3.1*s))})
		}
		found, near := d.Found()
		switch {
		case want == derivative.Units{} && len(found) == 1 && len(near) == 0, want == none && len(found)+len(near) == 0:
		case len(found) > 0 || len(near) != 1 || near[0].Units != want:
			t.Errorf("%g: found %+v, near %+v", scale, found, near)
		}
	}
}

// A rate with the other sign is reported as such, and one whose sign turns within the log; a spring, whose acceleration is opposite to its
// position, is neither, and is no rate by its name.
func TestSignsOfRates(t *testing.T) {
	for name, c := range map[string]struct {
		states [2]string
		units  [2]string
		sign   func(s float64) float64
		want   derivative.Sign
	}{
		"same":          {[2]string{"theta", "omega"}, [2]string{"", ""}, func(float64) float64 { return 1 }, 0},
		"opposite":      {[2]string{"theta", "omega"}, [2]string{"", ""}, func(float64) float64 { return -1 }, derivative.Opposite},
		"by its unit":   {[2]string{"a", "b"}, [2]string{"m", "m/s"}, func(float64) float64 { return -1 }, derivative.Opposite},
		"by no name":    {[2]string{"a", "b"}, [2]string{"", ""}, func(float64) float64 { return -1 }, 0},
		"turns":         {[2]string{"theta", "theta_rate"}, [2]string{"", ""}, func(s float64) float64 { return math.Copysign(1, 30-s) }, derivative.Turned},
		"wrong at once": {[2]string{"theta", "theta_rate"}, [2]string{"", ""}, func(s float64) float64 { return math.Copysign(1, 57-s) }, 0},
	} {
		d := derivative.New([]channel.Channel{state(c.states[0], c.units[0]), state(c.states[1], c.units[1])})
		for i := range 3000 {
			s := 0.02 * float64(i)
			d.Add(int64(i)*20e6, []float64{math.Sin(1.3*s) + 0.4*math.Sin(3.1*s), c.sign(s) * (1.3*math.Cos(1.3*s) + 1.24*math.Cos(3.1*s))})
		}
		found, near := d.Found()
		if got := c.want; len(near) > 0 && near[0].Sign != got || len(near) == 0 && got != 0 || (name == "same" || name == "wrong at once") != (len(found) == 1) {
			t.Errorf("%s: found %+v, near %+v", name, found, near)
		}
	}
}
