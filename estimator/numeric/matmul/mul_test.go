package matmul

import (
	"math"
	"math/rand/v2"
	"os"
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

// copied returns a copy of m with memory of its own.
func copied(m blas64.General) blas64.General {
	m.Data = append([]float64(nil), m.Data...)
	return m
}

// near fails unless got is want, up to the rounding of k products of normal numbers that
// are added in another order. Numbers beside the matrix must be the same.
func near(t *testing.T, got, want blas64.General, k int, what ...any) {
	t.Helper()
	for i, v := range got.Data {
		if math.IsNaN(v) != math.IsNaN(want.Data[i]) || !(math.Abs(v-want.Data[i]) <= 1e-14*float64(k+1)*4) {
			t.Fatalf("%v: row %d, column %d is %v, gonum's %v", what, i/got.Stride, i%got.Stride, v, want.Data[i])
		}
	}
}

// fence puts NaN beside a matrix, where rows of its memory are longer, so that what is
// read there shows.
func fence(m blas64.General) blas64.General {
	for i := range m.Rows {
		for j := m.Cols; j < m.Stride; j++ {
			m.Data[i*m.Stride+j] = math.NaN()
		}
	}
	m.Data = m.Data[:max(0, (m.Rows-1)*m.Stride+m.Cols):max(0, (m.Rows-1)*m.Stride+m.Cols)]
	return m
}

// The variable that switches off the vectors of the other packages does so here.
func TestKernelsCanBeSwitchedOff(t *testing.T) {
	if os.Getenv("SIMD_DISABLE") == "all" && fast {
		t.Error("SIMD_DISABLE is all, and the kernels are used")
	}
}

func needKernel(t *testing.T) {
	if !fast {
		t.Skip("this processor has no kernel")
	}
}

// Shapes on both sides of every tile and block, all transposes.
func TestProductIsGonums(t *testing.T) {
	needKernel(t)
	rng := rand.New(rand.NewPCG(1, 1))
	var quick Work
	plain := Work{plain: true}
	shapes := [][3]int{{1, 1, 1}, {4, 12, 1}, {5, 13, 7}, {100, 100, 100}, {97, 25, 256}, {200, 11, 257}, {3, 120, 600}, {1, 100, 300}, {40, 40, 0}, {60, 50, 0}}
	for n := range 40 {
		shapes = append(shapes, [3]int{1 + n%7, n + 1, 5}, [3]int{48 + n%9, n + 1, 9}, [3]int{n + 1, 9, 30})
	}
	for _, s := range shapes {
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
			a, b = fence(a), fence(b)
			var packed Packed
			packed.Pack(b, tb, false)
			for _, beta := range []float64{0, 1, -0.5} {
				c := random(rng, m, n)
				want, other := copied(c), copied(c)
				quick.Mul(c, 0.7, ta, a, tb, b, beta)
				plain.Mul(want, 0.7, ta, a, tb, b, beta)
				near(t, c, want, k, s, ta, tb, beta)
				quick.MulPacked(other, 0.7, ta, a, &packed, beta)
				near(t, other, want, k, s, ta, tb, beta, "packed")
			}
		}
	}
}

// Half of a factor that is zero anyway is left out, and nothing else.
func TestTriangularFactors(t *testing.T) {
	both(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 7))
		var quick Work
		plain := Work{plain: true}
		for _, n := range []int{1, 3, 8, 12, 13, 40, 100, 101, 300} {
			for _, m := range []int{1, 6, 50} {
				for _, trans := range []bool{false, true} {
					l, x := random(rng, n, n), random(rng, m, n)
					for i := range n {
						clear(l.Data[i*l.Stride+i+1 : i*l.Stride+n])
					}
					var p Packed
					p.Pack(fence(l), trans, true)
					for _, beta := range []float64{0, 1} {
						c := random(rng, m, n)
						want := copied(c)
						quick.MulPacked(c, -1, false, fence(x), &p, beta)
						plain.Mul(want, -1, false, x, trans, l, beta)
						near(t, c, want, n, n, m, trans, beta)
					}
					left := product{c: random(rng, n, m), alpha: 2, a: factor{m: l, trans: trans, zero: above}, b: factor{m: random(rng, n, m)}}
					if trans {
						left.a.zero = below
					}
					want := left
					want.c = copied(left.c)
					quick.run(left)
					plain.run(want)
					near(t, left.c, want.c, n, n, m, trans, "left")
				}
			}
		}
	})
}

func TestGramIsTheLowerTriangle(t *testing.T) {
	both(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(8, 8))
		var w Work
		plain := Work{plain: true}
		for _, n := range []int{1, 7, 12, 50, 101} {
			a := fence(random(rng, 300, n))
			d := random(rng, 1, 300).Data[:300]
			c := random(rng, n, n)
			want := copied(c)
			w.Gram(c, -2, a, d, 1)
			plain.Gram(want, -2, a, d, 1)
			for i := range n {
				for j := i + 1; j < n; j++ {
					c.Data[i*c.Stride+j], want.Data[i*c.Stride+j] = 0, 0
				}
			}
			near(t, c, want, 600, n)
		}
	})
}

// What a row comes to depends neither on its neighbours nor on their number.
func TestRowsAreIndependent(t *testing.T) {
	both(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(9, 9))
		var w Work
		shapes := [][2]int{{3, 5}, {20, 7}, {9, 23}, {300, 33}, {100, 100}, {64, 21}}
		if os.Getenv("DGM_SLOW") == "" {
			shapes = shapes[:3]
		}
		for _, s := range shapes {
			k, n := s[0], s[1]
			const most = 203
			x, b, bias := random(rng, most, k), random(rng, k, n), random(rng, 1, n).Data[:n]
			all := random(rng, most, n)
			w.Affine(all, x, b, bias)
			for _, m := range []int{1, 2, 3, 4, 5, 7, 47, 48, 49, 97, 202} {
				for _, from := range []int{0, 1, (most - m) / 2, most - m} {
					some := random(rng, m, n)
					w.Affine(some, sub(x, from, 0, m, k), b, bias)
					for i := range m {
						for j := range n {
							if got, want := some.Data[i*some.Stride+j], all.Data[(from+i)*all.Stride+j]; got != want {
								t.Fatalf("%v: row %d, alone with %d others %v, among all %v", s, from+i, m-1, got, want)
							}
						}
					}
				}
			}
		}
	})
}

func TestAffine(t *testing.T) {
	both(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(10, 10))
		for _, plain := range []bool{false, true} {
			w := Work{plain: plain}
			want := Work{plain: true}
			for _, m := range []int{1, 5, 64, 150} {
				for _, bias := range [][]float64{nil, random(rng, 1, 200).Data[:200]} {
					a, b, c := fence(random(rng, m, 300)), fence(random(rng, 300, 200)), random(rng, m, 200)
					sum := copied(c)
					for i := range m {
						clear(sum.Data[i*sum.Stride : i*sum.Stride+200])
						copy(sum.Data[i*sum.Stride:], bias)
					}
					want.Mul(sum, 1, false, a, false, b, 1)
					w.Affine(c, a, b, bias)
					near(t, c, sum, 300, m)
				}
			}
		}
	})
}

func TestLowerIsTheLowerTriangle(t *testing.T) {
	both(t, func(t *testing.T) {
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
	})
}

// L Lᵀ is what was factorised, L⁻¹ L is one, and L⁻ᵀL⁻¹ its inverse.
func TestCholesky(t *testing.T) {
	both(t, func(t *testing.T) {
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
					if !(math.Abs(got.Data[i*got.Stride+j]-want[i*a.Stride+j]) <= 1e-10) {
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
					if !(math.Abs(got.Data[i*got.Stride+j]-one) <= 1e-11) {
						t.Fatalf("n %d: L⁻¹L at %d,%d is %v", n, i, j, got.Data[i*got.Stride+j])
					}
				}
			}
		}
		l, inv := random(rng, 70, 70), random(rng, 70, 70)
		for i := range 70 {
			clear(l.Data[i*l.Stride+i+1 : i*l.Stride+70])
		}
		want := copied(inv)
		w.Inverse(inv, l)
		w.MulLower(want, 1, true, l, false, l, 0)
		for i := range 70 {
			for j := range i + 1 {
				if at := i*inv.Stride + j; inv.Data[at] != want.Data[at] {
					t.Fatalf("the inverse at %d,%d is %v, want %v", i, j, inv.Data[at], want.Data[at])
				}
			}
		}
		bad := random(rng, 40, 40)
		bad.Data[30*bad.Stride+30] = math.NaN()
		if w.Cholesky(bad, random(rng, 40, 40)) {
			t.Error("factorised what is no number")
		}
	})
}

func TestProductDoesNotAllocate(t *testing.T) {
	needKernel(t)
	rng := rand.New(rand.NewPCG(3, 3))
	var w Work
	a, b, c := random(rng, 500, 100), random(rng, 100, 90), random(rng, 500, 90)
	w.Mul(c, 1, false, a, false, b, 0)
	if n := testing.AllocsPerRun(3, func() { w.Mul(c, 1, false, a, false, b, 0) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Affine takes none at all after a Reserve, not even the first time.
func TestAffineDoesNotAllocate(t *testing.T) {
	both(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(13, 13))
		for _, plain := range []bool{false, true} {
			for _, m := range []int{1, 5, 64, 300} {
				b := random(rng, 300, 200)
				a, c := random(rng, m, 300), random(rng, m, 200)
				least := math.Inf(1)
				for range 5 { // for the runtime may take some meanwhile
					works := make([]Work, 2) // AllocsPerRun runs once before it counts
					for i := range works {
						works[i].Reserve(300, 200)
						works[i].plain = plain
					}
					if least = min(least, testing.AllocsPerRun(1, func() { works[0].Affine(c, a, b, nil); works = works[1:] })); least == 0 {
						break
					}
				}
				if least != 0 {
					t.Errorf("%d rows: %v allocations", m, least)
				}
			}
		}
	})
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
