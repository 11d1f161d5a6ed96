package mlp_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

func randomNet(rng *rand.Rand, widths []int, acts ...mlp.Activation) mlp.Net {
	n := mlp.New(widths, acts)
	n.Glorot(rng)
	for i := range n.Layers {
		for j := range n.Layers[i].B {
			n.Layers[i].B[j] = rng.NormFloat64()
		}
	}
	return n
}

func normal(rng *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = rng.NormFloat64()
	}
	return out
}

// plain evaluates one row by the definition.
func plain(n *mlp.Net, x []float64) []float64 {
	for _, l := range n.Layers {
		y := make([]float64, l.Out)
		for o := range y {
			a := l.B[o]
			for i, v := range x {
				a += v * l.W[i*l.Out+o]
			}
			switch l.Act {
			case mlp.Sigmoid:
				a = 1 / (1 + math.Exp(-a))
			case mlp.Tanh:
				a = math.Tanh(a)
			}
			y[o] = a
		}
		x = y
	}
	return x
}

// Rows and widths on both sides of the tiles that products are computed in.
func TestForwardIsTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	n := randomNet(rng, []int{3, 7, 200, 5}, mlp.Sigmoid, mlp.Tanh, mlp.Linear)
	for _, rows := range []int{1, 63, 64, 65, 300} {
		x := normal(rng, rows*3)
		tape := mlp.NewTape(&n, rows, false)
		n.Forward(tape, rows, x, nil)
		for r := range rows {
			for o, want := range plain(&n, x[r*3:(r+1)*3]) {
				// The order of 200 terms differs.
				if got := tape.Out()[r*5+o]; !(math.Abs(got-want) <= 1e-13*(1+math.Abs(want))) {
					t.Fatalf("%d rows, row %d, output %d: %v, expected %v", rows, r, o, got, want)
				}
			}
		}
	}
}

func TestRowsDoNotDependOnTheirNeighbours(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	n := randomNet(rng, []int{4, 9, 3}, mlp.Tanh, mlp.Linear)
	x := normal(rng, 150*4)
	all, one := mlp.NewTape(&n, 150, false), mlp.NewTape(&n, 1, false)
	n.Forward(all, 150, x, nil)
	for r := range 150 {
		n.Forward(one, 1, x[r*4:(r+1)*4], nil)
		for o, v := range one.Out() {
			if all.Out()[r*3+o] != v {
				t.Fatalf("row %d alone is %v, among others %v", r, v, all.Out()[r*3+o])
			}
		}
	}
}

func TestTangentIsTheDerivative(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, acts := range [][]mlp.Activation{
		{mlp.Tanh, mlp.Linear}, {mlp.Sigmoid, mlp.Linear}, {mlp.Linear, mlp.Linear}, {mlp.Sigmoid, mlp.Tanh},
	} {
		n := randomNet(rng, []int{5, 8, 4}, acts...)
		rows := 6
		x, dx := normal(rng, rows*5), normal(rng, rows*5)
		tape := mlp.NewTape(&n, rows, true)
		n.Forward(tape, rows, x, dx)
		const h = 1e-5
		for r := range rows {
			plus, minus := make([]float64, 5), make([]float64, 5)
			for i := range 5 {
				plus[i], minus[i] = x[r*5+i]+h*dx[r*5+i], x[r*5+i]-h*dx[r*5+i]
			}
			a, b := plain(&n, plus), plain(&n, minus)
			for o := range a {
				want := (a[o] - b[o]) / (2 * h)
				// Truncation is h² = 1e-10 times a third derivative, rounding 1e-11.
				if got := tape.DOut()[r*4+o]; !(math.Abs(got-want) <= 1e-8) {
					t.Errorf("%v: tangent %v, difference %v", acts, got, want)
				}
			}
		}
	}
}

func TestActivationsSaturateWithoutOverflow(t *testing.T) {
	for act, want := range map[mlp.Activation][2]float64{mlp.Sigmoid: {0, 1}, mlp.Tanh: {-1, 1}} {
		n := mlp.New([]int{1, 1}, []mlp.Activation{act})
		n.Layers[0].W[0] = 1
		tape := mlp.NewTape(&n, 2, true)
		n.Forward(tape, 2, []float64{-1e308, 1e308}, []float64{1, 1})
		for i, v := range tape.Out() {
			if !(math.Abs(v-want[i]) <= 1e-307) || !(math.Abs(tape.DOut()[i]) <= 1e-307) {
				t.Errorf("%v at ±1e308: %v with slope %v", act, v, tape.DOut()[i])
			}
		}
	}
}

// Products of 100 rows and more, and of wide layers, stay in one goroutine.
func TestForwardDoesNotAllocate(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, c := range []struct {
		rows  int
		inner int
	}{{100, 32}, {1000, 48}, {100, 72}, {300, 600}} {
		n := randomNet(rng, []int{9, c.inner, c.inner}, mlp.Tanh, mlp.Linear)
		tape := mlp.NewTape(&n, c.rows, true)
		x := normal(rng, c.rows*9)
		if a := testing.AllocsPerRun(3, func() { n.Forward(tape, c.rows, x, x) }); a != 0 {
			t.Errorf("%d rows, width %d: %v allocations", c.rows, c.inner, a)
		}
	}
}

func TestBindMovesParameters(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	n := randomNet(rng, []int{3, 4, 2}, mlp.Tanh, mlp.Linear)
	x := normal(rng, 3)
	before := plain(&n, x)
	flat := make([]float64, n.Params()+1)
	if rest := n.Bind(flat); len(rest) != 1 {
		t.Fatalf("%d of %d numbers left", len(rest), len(flat))
	}
	for i, v := range plain(&n, x) {
		if v != before[i] {
			t.Error("the net has changed")
		}
	}
	flat[n.Params()-1] = math.NaN() // the last bias
	if b := n.Layers[len(n.Layers)-1].B; !math.IsNaN(b[len(b)-1]) {
		t.Error("a view of flat does not see its NaN")
	}
}

func TestWrongShapesPanic(t *testing.T) {
	n := mlp.New([]int{2, 1}, []mlp.Activation{mlp.Linear})
	tape := mlp.NewTape(&n, 2, false)
	for name, f := range map[string]func(){
		"activations":    func() { mlp.New([]int{1, 2, 3}, []mlp.Activation{mlp.Linear}) },
		"too many rows":  func() { n.Forward(tape, 3, make([]float64, 6), nil) },
		"short input":    func() { n.Forward(tape, 2, make([]float64, 3), nil) },
		"no tangent":     func() { n.Forward(tape, 2, make([]float64, 4), make([]float64, 4)) },
		"the activation": func() { n.Layers[0].Act = 9; n.Forward(tape, 1, make([]float64, 2), nil) },
	} {
		func() {
			defer func() {
				if _, constant := recover().(string); !constant {
					t.Errorf("%s: no panic with a constant", name)
				}
			}()
			f()
		}()
	}
}
