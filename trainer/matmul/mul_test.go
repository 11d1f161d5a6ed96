package matmul

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
)

func random(rng *rand.Rand, r, c int) blas64.General {
	g := blas64.General{Rows: r, Cols: c, Stride: c + 3, Data: make([]float64, r*(c+3))}
	for i := range g.Data {
		g.Data[i] = rng.NormFloat64()
	}
	return g
}

// Shapes on both sides of every tile and block, all transposes.
func TestProductIsGonums(t *testing.T) {
	if !fast {
		t.Skip("this processor has no kernel")
	}
	rng := rand.New(rand.NewPCG(1, 1))
	var quick Work
	plain := Work{plain: true}
	for _, s := range [][3]int{{1, 1, 1}, {4, 12, 1}, {5, 13, 7}, {100, 100, 100}, {97, 25, 256}, {200, 11, 257}, {3, 120, 600}, {40, 40, 0}} {
		m, n, k := s[0], s[1], s[2]
		for flags := range 4 {
			ta, tb := flags&1 == 1, flags&2 == 2
			a, b := random(rng, m, k), random(rng, k, n)
			if ta {
				a = random(rng, k, m)
			}
			if tb {
				b = random(rng, n, k)
			}
			for _, beta := range []float64{0, 1, -0.5} {
				c := random(rng, m, n)
				want := c
				want.Data = append([]float64(nil), c.Data...)
				quick.Mul(c, 0.7, ta, a, tb, b, beta)
				plain.Mul(want, 0.7, ta, a, tb, b, beta)
				for i, v := range c.Data {
					// k products, added in another order; numbers beside the matrix stay.
					if math.Abs(v-want.Data[i]) > 1e-14*float64(k+1)*4 {
						t.Fatalf("%v %v %v beta %v: %v, gonum %v", s, ta, tb, beta, v, want.Data[i])
					}
				}
			}
		}
	}
}

func TestLowerIsTheLowerTriangle(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	var w Work
	for _, n := range []int{1, 12, 50, 101} {
		a := random(rng, 300, n)
		c, want := random(rng, n, n), random(rng, n, n)
		w.Mul(want, 2, true, a, false, a, 0)
		w.MulLower(c, 2, true, a, false, a, 0)
		for i := range n {
			for j := range i + 1 {
				if c.Data[i*c.Stride+j] != want.Data[i*want.Stride+j] {
					t.Fatalf("n %d: element %d,%d differs", n, i, j)
				}
			}
		}
	}
}

// L Lᵀ is what was factorised, and L⁻¹ L is one.
func TestCholesky(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	var w Work
	for _, n := range []int{1, 2, 12, 13, 25, 100, 101, 130} {
		x := random(rng, n+20, n)
		a, inv, got := random(rng, n, n), random(rng, n, n), random(rng, n, n)
		w.Mul(a, 1, true, x, false, x, 0)
		want := append([]float64(nil), a.Data...)
		if !w.Cholesky(a, inv) {
			t.Fatalf("n %d: not factorised", n)
		}
		for i := range n {
			clear(a.Data[i*a.Stride+i+1 : i*a.Stride+n])
		}
		w.Mul(got, 1, false, a, true, a, 0)
		for i := range n {
			for j := range i + 1 {
				if math.Abs(got.Data[i*got.Stride+j]-want[i*a.Stride+j]) > 1e-10 {
					t.Fatalf("n %d: L Lᵀ at %d,%d", n, i, j)
				}
			}
		}
		w.Mul(got, 1, false, inv, false, a, 0)
		for i := range n {
			for j := range n {
				one := 0.0
				if i == j {
					one = 1
				}
				// The condition number of L is below 10³.
				if math.Abs(got.Data[i*got.Stride+j]-one) > 1e-11 {
					t.Fatalf("n %d: L⁻¹L at %d,%d is %v", n, i, j, got.Data[i*got.Stride+j])
				}
			}
		}
	}
	bad := random(rng, 40, 40)
	bad.Data[30*bad.Stride+30] = math.NaN()
	if w.Cholesky(bad, random(rng, 40, 40)) {
		t.Error("factorised what is no number")
	}
}

func TestProductTakesNoMemory(t *testing.T) {
	if !fast {
		t.Skip("this processor has no kernel")
	}
	rng := rand.New(rand.NewPCG(3, 3))
	var w Work
	a, b, c := random(rng, 500, 100), random(rng, 100, 90), random(rng, 500, 90)
	w.Mul(c, 1, false, a, false, b, 0)
	if n := testing.AllocsPerRun(3, func() { w.Mul(c, 1, false, a, false, b, 0) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestWrongShapesPanic(t *testing.T) {
	defer func() {
		if recover() != badShape {
			t.Error("no panic")
		}
	}()
	rng := rand.New(rand.NewPCG(4, 4))
	new(Work).Mul(random(rng, 2, 2), 1, false, random(rng, 2, 3), false, random(rng, 2, 2), 0)
}

func BenchmarkMul(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, plain := range []bool{false, true} {
		name := "kernel"
		if plain {
			name = "gonum"
		}
		b.Run(name, func(b *testing.B) {
			w := Work{plain: plain}
			x, y, z := random(rng, 1000, 100), random(rng, 100, 100), random(rng, 1000, 100)
			for b.Loop() {
				w.Mul(z, 1, false, x, false, y, 0)
			}
			b.ReportMetric(2e7*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}

func TestSpinMultiplies(t *testing.T) {
	s := NewSpin(9)
	if n := s.Run(); n != 729 {
		t.Errorf("%v multiply-adds", n)
	}
	want := 0.0
	for k := range 9 {
		want += s.a.Data[2*9+k] * s.b.Data[k*9+3]
	}
	if got := s.c.Data[2*9+3]; got != want {
		t.Errorf("element %v, want %v", got, want)
	}
}
