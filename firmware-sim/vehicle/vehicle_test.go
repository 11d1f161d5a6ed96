package vehicle

import (
	"math"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/ode"
	"github.com/dgm-robotics/dgm/firmware-sim/disturb"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
)

// roll returns n+1 samples of states and inputs of the first segment.
func roll(t *testing.T, c Config, n int) (x, u [][]float64) {
	t.Helper()
	v := New(c)
	v.Start(0, nil)
	for i := range n + 1 {
		x, u = append(x, slices.Clone(v.X())), append(u, slices.Clone(v.U()))
		if !v.Step() {
			t.Fatalf("%s: not finite after sample %d", c.Plant.Name, i)
		}
	}
	return x, u
}

func TestRunsOfASeedAreEqual(t *testing.T) {
	for _, p := range plant.All() {
		c := Config{Plant: p, Rate: 100, Seed: 3, Noise: p.Noise}
		if p.Push != nil {
			c.Gusts.Std = 0.1
		}
		x1, u1 := roll(t, c, 200)
		x2, u2 := roll(t, c, 200)
		for i := range x1 {
			if !slices.Equal(x1[i], x2[i]) || !slices.Equal(u1[i], u2[i]) {
				t.Fatalf("%s: sample %d differs", p.Name, i)
			}
		}
		c.Seed = 4
		if x3, _ := roll(t, c, 200); (c.Gusts.Std > 0 || len(p.Inputs) > 0 && p.Push != nil) && slices.Equal(x1[200], x3[200]) {
			t.Errorf("%s: another seed gives the same flight", p.Name)
		}
	}
}

// What a robot does must not depend on how often it is looked at.
func TestTheSampleRateDoesNotChangeTheFlight(t *testing.T) {
	for _, name := range []string{"pendulum", "quadrotor-flown"} {
		p, _ := plant.Named(name)
		slow, _ := roll(t, Config{Plant: p, Rate: 40, Seed: 1}, 200)
		fast, _ := roll(t, Config{Plant: p, Rate: 1000, Seed: 1}, 200*25)
		for i := range slow {
			for k := range p.States {
				if e := math.Abs(slow[i][k] - fast[25*i][k]); e > 1e-6 {
					t.Fatalf("%s: after %v s %s differs by %v", name, float64(i)/40, p.States[k].Name, e)
				}
			}
		}
	}
}

// Between samples the input is held: integrating the recorded inputs piece by
// piece must give the recorded states.
func TestRecordedInputsExplainTheStates(t *testing.T) {
	p := plant.QuadrotorFlown()
	x, u := roll(t, Config{Plant: p, Rate: 250, Seed: 2, Noise: p.Noise}, 1000)
	r, now, prm := ode.NewRK4(12), slices.Clone(x[0]), p.Values()
	for i := range 1000 {
		r.Advance(func(dst []float64, _ float64, y []float64) { p.F(dst, y, u[i], prm) }, now, 0, 1./250, 4)
		for k := range now {
			if math.Abs(now[k]-x[i+1][k]) > 1e-5 {
				t.Fatalf("sample %d: %s = %v, recorded %v", i+1, p.States[k].Name, now[k], x[i+1][k])
			}
		}
	}
}

func TestAPlanIsWhatWillBeCommanded(t *testing.T) {
	cases := []struct {
		name      string
		rate      float64
		rows      int
		tolerance float64 // of the input's own unit
	}{
		{"quadrotor", 200, 10, 1e-12},
		{"pendulum", 200, 200, 1e-12},      // a row for each sample
		{"pendulum", 1000, 100, 1e-12},     // commands every fifth sample, rows of ten samples
		{"pendulum", 200, 7, 1e-12},        // blocks that cut base steps
		{"cartpole", 200, 50, 1e-5},        // feedback: RK4 against the adaptive integrator
		{"quadrotor-flown", 200, 50, 1e-5}, //
		{"quadrotor-flown", 400, 20, 1e-5}, //
	}
	for _, c := range cases {
		p, _ := plant.Named(c.name)
		v := New(Config{Plant: p, Rate: c.rate, Seed: 5})
		v.Start(0, nil)
		for range int(c.rate*2) + 1 { // somewhere between two commands
			v.Step()
		}
		n := len(p.Inputs)
		plan, want := make([]float64, c.rows*n), make([]float64, c.rows*n)
		if !v.Plan(plan, 1) {
			t.Fatalf("%s: no plan", c.name)
		}
		before := slices.Clone(v.X())
		if !v.Plan(plan, 1) || !slices.Equal(before, v.X()) {
			t.Fatalf("%s: planning moved the robot", c.name)
		}
		// The same means from what really happens, in steps of a tenth of a
		// sample.
		fine := int(c.rate) * 10 * c.rows
		for i := range fine {
			row := i * c.rows / fine
			for k, u := range v.U() {
				want[row*n+k] += u * float64(c.rows) / float64(fine)
			}
			if (i+1)%(10*c.rows) == 0 {
				v.Step()
			}
		}
		for i := range want {
			if e := math.Abs(plan[i] - want[i]); e > c.tolerance {
				t.Fatalf("%s at %v Hz: row %d: plan %v, commanded %v", c.name, c.rate, i/n, plan[i], want[i])
			}
		}
	}
}

func TestWindPushesAndParametersMatter(t *testing.T) {
	p := plant.QuadrotorFlown()
	calm, _ := roll(t, Config{Plant: p, Rate: 100, Seed: 1}, 500)
	gusty, _ := roll(t, Config{Plant: p, Rate: 100, Seed: 1, Gusts: disturb.Gusts{Std: 1}}, 500)
	heavy := p.Values()
	heavy[0] *= 1.2
	loaded, _ := roll(t, Config{Plant: p, Rate: 100, Seed: 1, Params: heavy}, 500)
	if d := math.Abs(calm[500][9] - gusty[500][9]); d < 1e-3 || d > 3 {
		t.Errorf("wind moved it by %v m", d)
	}
	// 20 % more mass against a controller without an integrator: it sags by
	// 0.2 g / (position gain × velocity gain) = 0.66 m times the thrust's share.
	if d := calm[500][11] - loaded[500][11]; d < 0.3 || d > 1 {
		t.Errorf("the payload made it sag by %v m", d)
	}
}

func TestStartingPlaces(t *testing.T) {
	p := plant.Lorenz()
	v := New(Config{Plant: p, Rate: 100, Seed: 1})
	v.Start(0, nil)
	if !slices.Equal(v.X(), p.X0) {
		t.Errorf("first segment begins at %v", v.X())
	}
	seen := [][]float64{slices.Clone(v.X())}
	for s := 1; s < 20; s++ {
		v.Start(s, nil)
		for k, x := range v.X() {
			if x < p.Low[k] || x > p.High[k] {
				t.Errorf("segment %d begins outside of the box: %v", s, v.X())
			}
		}
		for _, other := range seen {
			if slices.Equal(other, v.X()) {
				t.Errorf("segment %d begins where another did", s)
			}
		}
		seen = append(seen, slices.Clone(v.X()))
	}
	if v.Start(7, []float64{1, 2, 3}); !slices.Equal(v.X(), []float64{1, 2, 3}) {
		t.Errorf("asked for 1 2 3, began at %v", v.X())
	}
}

func TestAnExplodingStateIsReported(t *testing.T) {
	p := plant.Lorenz()
	p.F = func(dst, x, _, _ []float64) { dst[0], dst[1], dst[2] = x[0]*x[0], 0, 0 }
	v := New(Config{Plant: p, Rate: 1})
	v.Start(0, []float64{10, 0, 0})
	if v.Step() {
		t.Error("stepped through a pole")
	}
}

func TestMisusePanics(t *testing.T) {
	p := plant.Pendulum()
	for name, c := range map[string]Config{
		"rate":   {Plant: p},
		"params": {Plant: p, Rate: 1, Params: []float64{1}},
		"noise":  {Plant: p, Rate: 1, Noise: []float64{1}},
		"wind":   {Plant: plant.Lorenz(), Rate: 1, Gusts: disturb.Gusts{Std: 1}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			New(c)
		}()
	}
}

func TestFlyingAllocatesNothing(t *testing.T) {
	p := plant.QuadrotorFlown()
	v := New(Config{Plant: p, Rate: 200, Seed: 1, Noise: p.Noise, Gusts: disturb.Gusts{Std: 0.3}})
	v.Start(0, nil)
	plan := make([]float64, 50*4)
	if n := testing.AllocsPerRun(20, func() { v.Step(); v.Plan(plan, 1) }); n != 0 {
		t.Errorf("%v allocations a step and plan", n)
	}
}
