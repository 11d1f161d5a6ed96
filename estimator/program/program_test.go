package program_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/program"
)

// sample is a program of all operations, on registers of one column and of several.
func sample(rng *rand.Rand, cols int) *program.Program {
	p := &program.Program{}
	normal := func(n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = 0.7 * rng.NormFloat64()
		}
		return out
	}
	x, u := p.Input("x", 3, 1), p.Input("u", 2, cols+2)
	step := &program.Program{}
	at, in := step.Input("x", 3, 1), step.Input("u", 2, 1)
	square := step.Products(3, at, in, []program.Term{{0, 0, 1, 0.3}, {1, 2, 0, -0.4}, {2, 1, 1, 0.2}})
	next := step.Affine(3, normal(3), program.Part{X: at, M: normal(9)}, program.Part{X: step.Function(program.Tanh, square), M: normal(9)})
	step.Output("x", next)
	roll := &program.Repeat{Body: step, Times: cols + 2, All: true, Count: program.None, Carried: []program.Carried{{Initial: x, In: at, Next: next}}, Each: []program.Bound{{u, in}}}
	p.Repeat(roll)
	nodes := roll.Carried[0].Out
	var mean []program.Entry
	for j := range cols {
		mean = append(mean, program.Entry{To: j, From: j, W: 0.25}, program.Entry{To: j, From: j + 1, W: 0.5}, program.Entry{To: j, From: j + 2, W: 0.25})
	}
	now, drive := p.Columns(nodes, cols, mean), p.Columns(u, cols, mean)
	all := p.Stack(now, drive, x)
	trig := p.SinCos(p.Affine(4, normal(4), program.Part{X: all, M: normal(4 * 8)}, program.Part{X: x, M: normal(12)}))
	lower := normal(64)
	for i := range 8 {
		for j := i + 1; j < 8; j++ {
			lower[i*8+j] = 0
		}
	}
	v := p.Affine(8, nil, program.Part{X: trig, M: lower, Lower: true}, program.Part{X: p.Weigh(x, cols, normal(3*cols), normal(3*cols)), M: normal(24)})
	squares := p.Affine(1, []float64{0.3}, program.Part{X: p.Function(program.Square, v), M: []float64{1, 1, 1, 1, 1, 1, 1, 1}})
	root := p.Function(program.Sqrt, squares)
	log := p.Function(program.Log, p.Function(program.Exp, p.Function(program.Sigmoid, all)))
	near := p.Function(program.Abs, p.Distances(now, normal(12)))
	far := p.Largest(2, near)
	bounded := p.Clamp(all, fill(8, -0.6), fill(8, 0.8))
	one := p.Local(bounded, 3, cols, normal(24*cols))
	two := p.Local(x, 3, cols, normal(9*cols))
	part := &program.Program{}
	s, dt := part.Input("s", 3, 1), part.Input("dt", 1, 1)
	after := part.Products(3, part.Affine(3, nil, program.Part{X: s, M: normal(9)}), dt, []program.Term{{0, 0, 0, 1}, {1, 1, 0, 1}, {2, 2, 0, 1}})
	moved := part.Affine(3, nil, program.Part{X: s, M: identity(3)}, program.Part{X: after, M: identity(3)})
	part.Output("s", moved)
	inner := &program.Repeat{Body: part, Times: 3, Count: program.None, Carried: []program.Carried{{Initial: p.Times(one, two), In: s, Next: moved}}, Fixed: []program.Bound{{root, dt}}}
	p.Repeat(inner)
	out := p.Stack(root, log, far, inner.Carried[0].Out, p.Function(program.Reciprocal, squares))
	p.Output("y", out)
	p.Output("sum", p.Columns(out, 1, mean[:1]))
	return p
}

func fill(n int, v float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

func identity(n int) []float64 {
	out := make([]float64, n*n)
	for i := range n {
		out[i*n+i] = 1
	}
	return out
}

// port returns the register of a name.
func port(ports []program.Port, name string) program.Reg {
	for _, p := range ports {
		if p.Name == name {
			return p.Reg
		}
	}
	panic(name)
}

// set sets the inputs x and u of a lane.
func set[T program.Float](m *program.Machine[T], p *program.Program, lane int, x, u []float64) {
	for i, v := range x {
		m.Set(port(p.Inputs, "x"), i, 0, min(lane, m.Lanes(port(p.Inputs, "x"))-1), v)
	}
	cols := len(u) / 2
	for i, v := range u {
		m.Set(port(p.Inputs, "u"), i/cols, i%cols, min(lane, m.Lanes(port(p.Inputs, "u"))-1), v)
	}
}

// answers returns all outputs of a lane.
func answers[T program.Float](m *program.Machine[T], p *program.Program, lane int) (out []float64) {
	for _, o := range p.Outputs {
		s := p.Shape(o.Reg)
		for r := range s.Rows {
			for c := range s.Cols {
				out = append(out, m.Get(o.Reg, r, c, lane))
			}
		}
	}
	return out
}

var numbers = []int{1, 4, 16, 21}

func TestValuesAreThoseOfOneLane(t *testing.T) {
	for _, cols := range numbers {
		for _, by := range [][]string{{"u"}, {"x"}, {"x", "u"}} {
			t.Run(fmt.Sprint(cols, by), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(1, uint64(cols)))
				p := sample(rng, cols)
				if err := p.Check(); err != nil {
					t.Fatal(err)
				}
				one := program.New[float64](p, program.Options{})
				many := program.New[float64](p, program.Options{Lanes: 16, ByLane: by})
				single := program.New[float32](p, program.Options{Lanes: 16, ByLane: by})
				x, u := make([]float64, 3), make([]float64, 2*(cols+2))
				draw := func(v []float64) {
					for i := range v {
						v[i] = rng.NormFloat64()
					}
				}
				draw(x)
				draw(u)
				var want [][]float64
				for lane := range 16 {
					if by[0] == "x" {
						draw(x)
					}
					if by[len(by)-1] == "u" {
						draw(u)
					}
					set(one, p, 0, x, u)
					one.Value()
					want = append(want, answers(one, p, 0))
					set(many, p, lane, x, u)
					set(single, p, lane, x, u)
				}
				many.Value()
				single.Value()
				for lane := range 16 {
					compare(t, answers(many, p, lane), want[lane], 1e-11)  // as below, where a processor fuses a*b + c in one of them
					compare(t, answers(single, p, lane), want[lane], 1e-3) // the repeats magnify a rounding of 6e-8 some thousand times
				}
			})
		}
	}
}

func compare(t *testing.T, got, want []float64, tolerance float64) {
	t.Helper()
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= tolerance*(1+math.Abs(w))) {
			t.Fatalf("number %d is %v, expected %v", i, got[i], w)
		}
	}
}

// Tangents are compared with differences, adjoints with tangents.
func TestTangentsAndAdjoints(t *testing.T) {
	for _, cols := range numbers {
		for _, lanes := range []int{1, 16} {
			for _, by := range [][]string{{"u"}, {"x"}, {"x", "u"}} {
				t.Run(fmt.Sprint(cols, lanes, by), func(t *testing.T) { differentiate(t, cols, lanes, by) })
			}
		}
	}
}

func differentiate(t *testing.T, cols, lanes int, by []string) {
	rng := rand.New(rand.NewPCG(2, uint64(cols)))
	p := sample(rng, cols)
	n := 3 + 2*(cols+2)
	m := program.New[float64](p, program.Options{Lanes: lanes, ByLane: by, Tangents: []string{"x", "u"}, Seeds: n, Adjoint: true})
	at := make([]float64, n)
	for i := range at {
		at[i] = rng.NormFloat64()
	}
	x, u := port(p.Inputs, "x"), port(p.Inputs, "u")
	for lane := range lanes {
		set(m, p, lane, at[:3], at[3:])
	}
	for i := range 3 {
		m.SetTangent(x, i, 0, i, 1)
	}
	for i := range n - 3 {
		m.SetTangent(u, i/(cols+2), i%(cols+2), 3+i, 1)
	}
	m.Value()
	m.Tangent()
	lane := lanes / 3
	one := program.New[float64](p, program.Options{})
	const h = 1e-6
	J := make([][]float64, n)
	for i := range n {
		value := func(by float64) []float64 {
			moved := append([]float64(nil), at...)
			moved[i] += by
			set(one, p, 0, moved[:3], moved[3:])
			one.Value()
			return answers(one, p, 0)
		}
		plus, minus := value(h), value(-h)
		for _, o := range p.Outputs {
			s := p.Shape(o.Reg)
			for r := range s.Rows {
				for c := range s.Cols {
					J[i] = append(J[i], m.TangentOf(o.Reg, r, c, lane, i))
				}
			}
		}
		for j, got := range J[i] {
			if want := (plus[j] - minus[j]) / (2 * h); math.Abs(got-want) > 1e-6*(1+math.Abs(want)+math.Abs(plus[j])) {
				t.Fatalf("derivative of output %d by input %d is %v, by differences %v", j, i, got, want)
			}
		}
	}
	m.ClearAdjoints()
	var bars []float64
	for _, o := range p.Outputs {
		s := p.Shape(o.Reg)
		for r := range s.Rows {
			for c := range s.Cols {
				bars = append(bars, rng.NormFloat64())
				m.SetAdjoint(o.Reg, r, c, lane, bars[len(bars)-1])
			}
		}
	}
	m.Adjoint()
	for i := range n {
		want := 0.0
		for j, bar := range bars {
			want += bar * J[i][j]
		}
		r, row, col := x, i, 0
		if i >= 3 {
			r, row, col = u, (i-3)/(cols+2), (i-3)%(cols+2)
		}
		if got := m.AdjointOf(r, row, col, min(lane, m.Lanes(r)-1)); math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
			t.Fatalf("adjoint of input %d is %v, by tangents %v", i, got, want)
		}
	}
}
