package priordynamics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

type constant []float64

func (c constant) Mean(dst []float64, _, _ float64) { copy(dst, c) }

func (c constant) At(dst []float64, _ float64) { copy(dst, c) }

// random returns a model of an angle, its rate and a position, with two inputs.
func random(degree int, size float64) *Model {
	rng := rand.New(rand.NewPCG(uint64(degree), 9))
	m := &Model{Step: 0.1, Degree: degree, UMean: []float64{1, 0}, UStd: []float64{2, 0.5}}
	m.Lift = channel.NewLift([]channel.Channel{{Name: "a", Period: channel.Angle}, {Name: "b"}, {Name: "c", Invariant: true}})
	m.Lift.Mean[2], m.Lift.Std[2] = 0.3, 1.5
	m.Lift.AddFriction(1, 0.4)
	m.Bound = []float64{9, 9, 9, 9, 9, 9}
	m.Weights = make([]float64, m.Terms()*3)
	for i := range m.Weights {
		m.Weights[i] = size * rng.NormFloat64()
	}
	if degree > 1 {
		m.Ellipsoid = skewed(m.Lift.Dim() + 2)
	}
	return m
}

// skewed bounds n coordinates to a length of about 2, which roll-outs of the tests exceed.
func skewed(n int) (e Ellipsoid) {
	for i := range n {
		for j := range i {
			e = append(e, 0.1*math.Sin(float64(i+3*j)))
		}
		e = append(e, 0.5)
	}
	return e
}

// withNet returns a model with a net on top of degree 2.
func withNet(size float64) *Model {
	m := random(2, size)
	addNet(m, 3, size)
	return m
}

// addNet adds a net of two hidden layers to a model of K states.
func addNet(m *Model, K int, size float64) {
	rng := rand.New(rand.NewPCG(4, 9))
	m.Net = mlp.New([]int{m.Lift.Dim() + len(m.UMean), 7, 5, K}, []mlp.Activation{mlp.Tanh, mlp.Sigmoid, mlp.Linear})
	m.Net.Glorot(rng)
	m.NetScale = nil
	for k := range K {
		m.NetScale = append(m.NetScale, size*float64(1+k%3))
	}
}

// chained returns a model of a chain of so many links, in degrees, with two inputs and a
// net on top.
func chained(links int, relative bool, size float64) *Model {
	rng := rand.New(rand.NewPCG(uint64(links), 10))
	m := &Model{Step: 0.1, Degree: 1, UMean: []float64{1, 0}, UStd: []float64{2, 0.5}}
	var states []channel.Channel
	for i := range links {
		states = append(states, channel.Channel{Period: 360}, channel.Channel{})
		m.Chain.Angles, m.Chain.Rates, m.Chain.Unit = append(m.Chain.Angles, 2*i), append(m.Chain.Rates, 2*i+1), append(m.Chain.Unit, math.Pi/180)
	}
	m.Lift = channel.NewLift(states)
	m.Bound = slices.Repeat([]float64{9}, m.Lift.Dim()+2)
	draw := func(n int, scale float64) (out []float64) {
		for range n {
			out = append(out, scale*rng.NormFloat64())
		}
		return out
	}
	c := &m.Chain
	c.Relative, c.Sine, c.Cosine, c.Gain = relative, draw(links, 5), draw(links, 1), draw(2*links, 2)
	c.Viscous, c.Dry = slices.Repeat([]float64{0.3}, links), slices.Repeat([]float64{0.2}, links)
	c.Mass, c.Rotor = []float64{0.5, 0.2, 0.6, 0.3, 0.5}[:links*(links+1)/2-1], []float64{0.1, 0.2}[:links-1]
	if links == 2 {
		c.Mass = []float64{0.5, 0.6}
	}
	m.Weights = draw(m.Terms()*2*links, size)
	addNet(m, 2*links, size)
	return m
}

// equations returns models of every kind, with increments of the given size.
func equations(size float64) map[string]*Model {
	return map[string]*Model{
		"degree 1": random(1, size), "degree 2": random(2, size), "degree 3": random(3, size), "net": withNet(size),
		"one link": chained(1, false, size), "two links": chained(2, true, size), "three links": chained(3, false, size),
	}
}

// sized returns numbers for the states of a model.
func sized(m *Model) (K int, x0, dx []float64) {
	K = len(m.Weights) / m.Terms()
	return K, []float64{0.4, -0.7, 2, 0.6, -0.3, 0.5}[:K], []float64{0.3, -0.5, 0.8, 0.2, -0.1, 0.4}[:K]
}

func TestTermsAreCounted(t *testing.T) {
	for degree, want := range map[int]int{1: 7, 2: 28, 3: 48} {
		m := random(degree, 0.1)
		psi := make([]float64, want)
		for i := range psi {
			psi[i] = math.NaN()
		}
		m.Monomials(psi, []float64{1, 2, 3, 4, 5, 6})
		for i, v := range psi {
			if math.IsNaN(v) {
				t.Errorf("degree %d: term %d was not written", degree, i)
			}
		}
		if m.Terms() != want {
			t.Errorf("degree %d: %d terms, want %d", degree, m.Terms(), want)
		}
		if err := m.Check(3, 2); err != nil {
			t.Errorf("degree %d: %v", degree, err)
		}
	}
}

// TestJVP compares the derivative by x0 with differences of rollouts.
func TestJVP(t *testing.T) {
	for name, m := range equations(0.03) {
		K, x0, dx := sized(m)
		p, u := New(m, K, 1), constant{1.2, -0.1}
		at := func(h, time float64) []float64 {
			x := make([]float64, K)
			for i := range x {
				x[i] = x0[i] + h*dx[i]
			}
			p.Run(x, u)
			out := make([]float64, K)
			p.At(out, nil, time)
			return out
		}
		for _, time := range []float64{0.03, 0.5, 0.87, 1} {
			const h = 1e-5
			up, down := at(h, time), at(-h, time)
			p.Run(x0, u)
			p.JVP(dx)
			got := make([]float64, K)
			p.JVPAt(got, time)
			for k := range got {
				want := (up[k] - down[k]) / (2 * h)
				if math.Abs(got[k]-want) > 1e-7*(1+math.Abs(want)) {
					t.Errorf("%s, t %g, channel %d: %v, differences %v", name, time, k, got[k], want)
				}
			}
		}
	}
}

// TestDerivative compares the time derivative with differences, and the parabola's
// order with an exact solution: ẋ = −x, rolled out by its exact increment.
func TestDerivative(t *testing.T) {
	err := func(step float64) float64 {
		m := &Model{Step: step, Degree: 1, Lift: channel.Identity(1), Bound: []float64{10}, Weights: []float64{0, math.Expm1(-step)}}
		p := New(m, 1, 1)
		p.Run([]float64{1}, nil)
		worst := 0.0
		for i := range 200 {
			time := float64(i+1) / 200
			d, dd := []float64{0}, []float64{0}
			p.At(d, dd, time)
			worst = math.Max(worst, math.Abs(d[0]-math.Expm1(-time)))
			node := math.Abs(time/step-math.Round(time/step)) < 1e-6 // the slope may jump there
			if i > 0 && i < 199 && !node {
				const h = 1e-6
				a, b := []float64{0}, []float64{0}
				p.At(a, nil, time-h)
				p.At(b, nil, time+h)
				if want := (b[0] - a[0]) / (2 * h); math.Abs(dd[0]-want) > 1e-4 {
					t.Errorf("derivative at %g: %v, differences %v", time, dd[0], want)
				}
			}
		}
		return worst
	}
	if a, b := err(0.1), err(0.05); b > a/5 {
		t.Errorf("error %.2g with step 0.1, %.2g with 0.05: it should have order 3", a, b)
	}
}

func TestFieldAdjoint(t *testing.T) {
	for name, m := range equations(0.2) {
		t.Run(name, func(t *testing.T) { checkAdjoint(t, m) })
	}
}

func checkAdjoint(t *testing.T, m *Model) {
	K, x, fbar := sized(m)
	f, u := NewField(m, K), []float64{1.2, -0.1}
	xbar, up, down := make([]float64, K), make([]float64, K), make([]float64, K)
	f.Adjoint(xbar, x, u, fbar)
	for k := range x {
		const h = 1e-6
		a, b := append([]float64(nil), x...), append([]float64(nil), x...)
		a[k] += h
		b[k] -= h
		f.At(up, a, u)
		f.At(down, b, u)
		want := 0.0
		for c := range fbar {
			want += fbar[c] * (up[c] - down[c]) / (2 * h)
		}
		if math.Abs(xbar[k]-want) > 1e-7*(1+math.Abs(want)) {
			t.Errorf("x[%d]: %v, differences %v", k, xbar[k], want)
		}
	}
}

// TestBounded: however far off the state, a step stays within what the bounds
// allow, so a rollout cannot overflow.
func TestBounded(t *testing.T) {
	for name, m := range equations(0.2) {
		t.Run(name, func(t *testing.T) { checkBounded(t, m) })
	}
}

func checkBounded(t *testing.T, m *Model) {
	K, _, _ := sized(m)
	p := New(m, K, 1)
	for _, big := range []float64{1e3, 1e9, 1e300} {
		p.Run([]float64{big, -big, big, big, big, -big}[:K], constant{big, big})
		d := make([]float64, K)
		p.At(d, nil, 1)
		for k, v := range d {
			if math.IsNaN(v) || math.Abs(v) > 1e6 {
				t.Errorf("start %g: channel %d moved by %g", big, k, v)
			}
		}
	}
}

func TestRollDoesNotAllocate(t *testing.T) {
	checkAllocations(t, random(3, 0.02), []float64{0.1, 0.2, 0.3})
	checkAllocations(t, withNet(0.02), []float64{0.1, 0.2, 0.3})
	checkAllocations(t, chained(3, true, 0.02), []float64{0.1, 0.2, 0.3, 0.1, 0.2, 0.3})
	checkAllocations(t, flown(t, 1, true, 360, 0.01), aloft(0.3, 360))
}

func checkAllocations(t *testing.T, m *Model, x0 []float64) {
	t.Helper()
	p := New(m, len(x0), 1)
	u, d := constant{1, 0}, make([]float64, len(x0))
	var s channel.Signal = u
	if n := testing.AllocsPerRun(20, func() {
		p.Run(x0, s)
		p.At(d, d, 0.5)
		p.JVP(x0)
		p.JVPAt(d, 1)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// steps is an input that is 1 before a time and 5 from then on.
type steps float64

func (s steps) Mean(dst []float64, a, b float64) {
	for i := range dst {
		dst[i] = 1 + 4*math.Max(0, b-math.Max(a, float64(s)))/(b-a)
	}
}

func (s steps) At(dst []float64, t float64) {
	for i := range dst {
		dst[i] = 1
		if t >= float64(s) {
			dst[i] = 5
		}
	}
}

// TestCausal: what the input does after t changes nothing at t, to the last bit;
// what it did before does.
func TestCausal(t *testing.T) {
	for name, m := range equations(0.03) {
		t.Run(name, func(t *testing.T) { checkCausal(t, m) })
	}
}

func checkCausal(t *testing.T, m *Model) {
	K, x0, _ := sized(m)
	p := New(m, K, 1)
	at := func(step, time float64) (d, dd [6]float64) {
		p.Run(x0, steps(step))
		p.At(d[:K], dd[:K], time)
		return d, dd
	}
	for i := range 100 {
		time := 0.01 * float64(i+1)
		d, dd := at(time+1e-6, time)
		e, de := at(9, time)
		if d != e || dd != de {
			t.Errorf("t %g: an input after it changed %v to %v", time, e, d)
		}
		if f, _ := at(time-0.005, time); f == e {
			t.Errorf("t %g: an input before it changed nothing", time)
		}
	}
}

// TestDerivativeUnderInput compares the time derivative with differences while
// the mean of the input moves.
func TestDerivativeUnderInput(t *testing.T) {
	for name, m := range equations(0.05) {
		t.Run(name, func(t *testing.T) { checkDerivative(t, m) })
	}
}

func checkDerivative(t *testing.T, m *Model) {
	K, x0, _ := sized(m)
	p := New(m, K, 1)
	p.Run(x0, steps(0.33))
	for _, time := range []float64{0.05, 0.32, 0.36, 0.395, 0.45, 0.77} {
		const h = 1e-6
		up, down, d, dd := make([]float64, K), make([]float64, K), make([]float64, K), make([]float64, K)
		p.At(up, nil, time+h)
		p.At(down, nil, time-h)
		p.At(d, dd, time)
		for k := range dd {
			if want := (up[k] - down[k]) / (2 * h); math.Abs(dd[k]-want) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("t %g, channel %d: %v, differences %v", time, k, dd[k], want)
			}
		}
	}
}

// asked is an input that notes the last time up to which it was read.
type asked struct {
	constant
	last *float64
}

func (a asked) Mean(dst []float64, from, to float64) {
	*a.last = math.Max(*a.last, to)
	a.constant.Mean(dst, from, to)
}

// A roll-out goes as far as it is asked for, whatever its horizon.
func TestRollsOutAsFarAsAsked(t *testing.T) {
	for name, m := range equations(0.3) {
		K, x0, _ := sized(m)
		p, last, d := New(m, K, 20*m.Step), 0.0, make([]float64, K)
		p.Run(x0, asked{make(constant, len(m.UMean)), &last})
		for _, steps := range []float64{3, 2.5, 7.5} {
			before := last
			if p.At(d, nil, steps*m.Step); len(m.UMean) > 0 && math.Abs(last-math.Max(before, steps*m.Step)) > 1e-9 {
				t.Errorf("%s: displacements after %v steps read the input up to %v steps", name, steps, last/m.Step)
			}
		}
	}
}
