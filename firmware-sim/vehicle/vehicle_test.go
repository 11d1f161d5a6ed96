package vehicle

import (
	"math"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/numeric/ode"
	"github.com/dgm-robotics/dgm/firmware-sim/disturb"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
)

// roll returns n+1 samples of states and inputs of the first segment.
func roll(t *testing.T, c Config, n int) (x, u [][]float64) {
	t.Helper()
	v := New(c)
	v.Start(0, 0, nil)
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
	for _, name := range []string{"pendulum", "quadrotor"} {
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
		{"quadrotor-paper", 200, 10, 1e-12},
		{"pendulum", 200, 200, 1e-12},  // a row for each sample
		{"pendulum", 1000, 100, 1e-12}, // commands every fifth sample, rows of ten samples
		{"pendulum", 200, 7, 1e-12},    // blocks that cut base steps
		{"cartpole", 200, 50, 1e-5},    // feedback: RK4 against the adaptive integrator
		{"quadrotor", 200, 50, 1e-5},   //
		{"quadrotor", 400, 20, 1e-5},   //
	}
	for _, c := range cases {
		p, _ := plant.Named(c.name)
		v := New(Config{Plant: p, Rate: c.rate, Seed: 5})
		v.Start(0, 0, nil)
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

// A change that comes at 2 s of log time leaves everything before it as it was, to
// the bit, and is felt after it; the commands are logged, not what arrives of them.
func TestChangesComeInTheirTime(t *testing.T) {
	p := plant.QuadrotorFlown()
	before := Config{Plant: p, Rate: 100, Seed: 1}
	at := disturb.Onset{At: 2, Over: 1}
	for name, change := range map[string]func(c *Config){
		"payload": func(c *Config) { c.Payload = disturb.Payload{Mass: 0.3, Onset: at} },
		"worn":    func(c *Config) { c.Worn = []disturb.Wear{{Loss: 0.2, Inputs: []int{1}, Onset: at}} },
		"wind":    func(c *Config) { c.Gusts = disturb.Gusts{Std: 1, Time: 1, Onset: at} },
	} {
		changed := before
		change(&changed)
		want, u := roll(t, before, 600)
		got, v := roll(t, changed, 600)
		for i := range 201 {
			if !slices.Equal(got[i], want[i]) || !slices.Equal(u[i], v[i]) {
				t.Fatalf("%s: sample %d differs, before its time", name, i)
			}
		}
		early, late := math.Abs(got[210][11]-want[210][11])+math.Abs(got[210][9]-want[210][9]), 0.
		for k := 9; k < 12; k++ {
			late += math.Abs(got[600][k] - want[600][k])
		}
		if !(early < 2e-3) || !(late > 0.1) || !(late < 5) {
			t.Errorf("%s: moved by %v m a tenth of a second after it began to grow, by %v m at last", name, early, late)
		}
	}
	// A rotor that lost a fifth hovers with a command a quarter larger than its equal.
	worn := before
	worn.Worn = []disturb.Wear{{Loss: 0.2}}
	_, u := roll(t, before, 600)
	_, v := roll(t, worn, 600)
	more := 0.
	for i := 300; i < 600; i++ {
		for k := range 4 {
			more += (v[i][k] - u[i][k]) / (4 * 300) / p.U0[0]
		}
	}
	if more < 0.15 || more > 0.3 {
		t.Errorf("commands are %v larger, a quarter expected", more)
	}
	v2 := New(Config{Plant: p, Rate: 100, Seed: 1, Payload: disturb.Payload{Mass: 0.3, Onset: disturb.Onset{At: 100}}})
	v2.Start(0, 100, nil) // the log is 100 s old
	v2.Step()
	calm, _ := roll(t, before, 1)
	if slices.Equal(v2.X(), calm[1]) {
		t.Error("what comes at 100 s is not there in a segment that begins then")
	}
}

func TestStartingPlaces(t *testing.T) {
	p := plant.Lorenz()
	v := New(Config{Plant: p, Rate: 100, Seed: 1})
	v.Start(0, 0, nil)
	if !slices.Equal(v.X(), p.X0) {
		t.Errorf("first segment begins at %v", v.X())
	}
	seen := [][]float64{slices.Clone(v.X())}
	for s := 1; s < 20; s++ {
		v.Start(s, 0, nil)
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
	if v.Start(7, 0, []float64{1, 2, 3}); !slices.Equal(v.X(), []float64{1, 2, 3}) {
		t.Errorf("asked for 1 2 3, began at %v", v.X())
	}
}

func TestAnExplodingStateIsReported(t *testing.T) {
	p := plant.Lorenz()
	p.F = func(dst, x, _, _ []float64) { dst[0], dst[1], dst[2] = x[0]*x[0], 0, 0 }
	v := New(Config{Plant: p, Rate: 1})
	v.Start(0, 0, []float64{10, 0, 0})
	if v.Step() {
		t.Error("stepped through a pole")
	}
}

func TestFlyingAllocatesNothing(t *testing.T) {
	p := plant.QuadrotorFlown()
	v := New(Config{Plant: p, Rate: 200, Seed: 1, Noise: p.Noise, Gusts: disturb.Gusts{Std: 0.3}})
	v.Start(0, 0, nil)
	plan := make([]float64, 50*4)
	if n := testing.AllocsPerRun(20, func() { v.Step(); v.Plan(plan, 1) }); n != 0 {
		t.Errorf("%v allocations a step and plan", n)
	}
}

// The noise on a plant's inputs moves it as a command would, is new with every command, and
// is not in what is logged.
func TestInputNoiseArrivesAndIsNotLogged(t *testing.T) {
	p := plant.PlanarQuadrotor()
	exact := p
	exact.InputNoise = nil
	shaken, u := roll(t, Config{Plant: p, Rate: 60, Seed: 1}, 60)
	calm, v := roll(t, Config{Plant: exact, Rate: 60, Seed: 1}, 60)
	if !slices.Equal(u[0], v[0]) {
		t.Errorf("first commands are %v and %v", u[0], v[0])
	}
	square := 0.0
	r, now, prm := ode.NewRK4(6), make([]float64, 6), p.Values()
	for i := range 60 {
		copy(now, shaken[i])
		r.Advance(func(dst []float64, _ float64, y []float64) { p.F(dst, y, u[i], prm) }, now, 0, 1./60, 4)
		d := (shaken[i+1][5] - now[5]) * 60 / prm[4]
		square += d * d / 60
	}
	if std := math.Sqrt(square); math.Abs(std/p.InputNoise[1]-1) > 0.3 || slices.Equal(shaken[60], calm[60]) {
		t.Errorf("the pitch command is shaken by %v rad, want %v", std, p.InputNoise[1])
	}
}
