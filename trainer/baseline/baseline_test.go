package baseline

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/linear"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// cart is a position, its velocity with friction, and a rotor angle that turns
// at its own rate; the input pushes. Exactly linear over a step of 10 ms.
var cart = []channel.Channel{
	{Name: "x", Role: channel.State, Invariant: true, Derivative: "v"},
	{Name: "v", Role: channel.State},
	{Name: "rotor", Role: channel.State, Period: channel.Angle},
}

// drive simulates n samples of the cart.
func drive(rng *rand.Rand, n int) window.Series {
	x, v, a, u := 5.0, 0.3, 0.0, 0.0
	var s window.Series
	for i := range n {
		if i%7 == 0 {
			u = rng.NormFloat64()
		}
		s.T = append(s.T, int64(i)*10_000_000)
		s.X = append(s.X, x, v, math.Remainder(a, channel.Angle))
		s.U = append(s.U, u)
		x, v, a = x+0.01*v+0.0001*u, 0.98*v+0.02*u, a+0.15
	}
	return s
}

func TestLinearSystemIsFoundExactly(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	train := window.Prepare(0, drive(rng, 2000), cart, 1, window.Options{})
	m, err := Linear(train, window.Task{States: cart, Inputs: 1, Horizon: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	Z := 4
	for j, want := range []float64{1, 0.01, 0, 0.98} {
		if m.Step < 0.02 && math.Abs(m.A[j/2*Z+j%2]-want) > 1e-6 {
			t.Errorf("A[%d][%d] = %v, want %v", j/2, j%2, m.A[j/2*Z+j%2], want)
		}
	}
	if m.A[1*Z+0] != 0 || m.A[2*Z+0] != 0 || m.A[0] != 1 {
		t.Error("the position is read")
	}
	test := window.Prepare(0, drive(rng, 300), cart, 1, window.Options{})[0]
	times := []float64{0.05, 0.25, 0.5, 2}
	r, err := linear.New(m, cart, 1, times)
	if err != nil {
		t.Fatal(err)
	}
	dst, truth := make([]float64, 12), make([]float64, 3)
	if !r.Predict(dst, test.State(40), &window.Input{Flight: &test, Start: 40}) {
		t.Fatal("not finite")
	}
	for i, h := range times {
		test.Displacement(truth, 40, h)
		for k := range 3 {
			if math.Abs(dst[i*3+k]-truth[k]) > 1e-4 {
				t.Errorf("%s after %v s: %v, want %v", cart[k].Name, h, dst[i*3+k], truth[k])
			}
		}
	}
}

func TestLongerStepWinsWhereVelocityIsNoisy(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	states := []channel.Channel{{Name: "x", Role: channel.State, Derivative: "v"}, {Name: "v", Role: channel.State}}
	var s window.Series
	for i := range 4000 {
		at := float64(i) * 0.01
		s.T = append(s.T, int64(i)*10_000_000)
		s.X = append(s.X, math.Sin(2*at)+0.01*rng.NormFloat64(), 2*math.Cos(2*at)+0.2*rng.NormFloat64())
	}
	m, err := Linear(window.Prepare(0, s, states, 0, window.Options{}), window.Task{States: states, Inputs: 0, Horizon: 1})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(m.Step-0.05) > 1e-9 {
		t.Errorf("step %v s, want 5 samples", m.Step)
	}
}

func TestTooShortALogIsAnError(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	short := window.Prepare(0, drive(rng, 5), cart, 1, window.Options{})
	for _, f := range [][]window.Flight{nil, short} {
		if _, err := Linear(f, window.Task{States: cart, Inputs: 1, Horizon: 0.02}); err == nil || !strings.Contains(err.Error(), "linear baseline") {
			t.Errorf("error %v", err)
		}
	}
}

func TestConstantChannelsDoNotBreakTheFit(t *testing.T) {
	states := append([]channel.Channel{{Name: "stuck", Role: channel.State}}, cart[:2]...)
	s := drive(rand.New(rand.NewPCG(7, 8)), 1000)
	var x []float64
	for i := range s.T {
		x = append(x, 17, s.X[3*i], s.X[3*i+1])
	}
	s.X = x
	m, err := Linear(window.Prepare(0, s, states, 1, window.Options{}), window.Task{States: states, Inputs: 1, Horizon: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	r, _ := linear.New(m, states, 1, []float64{0.5})
	dst := make([]float64, 3)
	f := window.Prepare(0, s, states, 1, window.Options{})[0]
	if !r.Predict(dst, f.State(0), &window.Input{Flight: &f}) || math.Abs(dst[0]) > 1e-9 {
		t.Errorf("a constant channel moves by %v", dst[0])
	}
}
