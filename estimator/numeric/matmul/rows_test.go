package matmul

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestDotsAndSumsOfRows(t *testing.T) {
	both(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(11, 11))
		for n := range 70 {
			for _, m := range []int{0, 1, 5} {
				a, b, one := fence(random(rng, m, n)), fence(random(rng, m, n)), fence(random(rng, 1, n))
				each, all := make([]float64, m), make([]float64, m)
				Dots(each, a, b)
				Dots(all, a, one)
				sums := random(rng, 1, n).Data[:n]
				want := append([]float64(nil), sums...)
				AddRows(sums, a)
				for i := range m {
					var x, y float64
					for j := range n {
						v := a.Data[i*a.Stride+j]
						x += v * b.Data[i*b.Stride+j]
						y += v * one.Data[j]
						want[j] += v
					}
					if !(math.Abs(each[i]-x) <= 1e-12) || !(math.Abs(all[i]-y) <= 1e-12) {
						t.Fatalf("%d columns, row %d of %d: %v and %v, want %v and %v", n, i, m, each[i], all[i], x, y)
					}
				}
				for j, v := range sums {
					if !(math.Abs(v-want[j]) <= 1e-13) {
						t.Fatalf("%d columns: the sum of column %d is %v, want %v", n, j, v, want[j])
					}
				}
			}
		}
	})
}

func TestWrongRowsPanic(t *testing.T) {
	both(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(12, 12))
		a, two := random(rng, 3, 4), random(rng, 2, 4)
		long := a
		long.Rows = 9
		var p Packed
		for name, f := range map[string]func(){
			"dots: one number too few":         func() { Dots(make([]float64, 2), a, a) },
			"dots: rows that do not match":     func() { Dots(make([]float64, 3), a, two) },
			"dots: less memory than its shape": func() { Dots(make([]float64, 9), long, long) },
			"sums: columns":                    func() { AddRows(make([]float64, 3), a) },
			"a triangle that is not square":    func() { p.Pack(a, false, true) },
			"precisions":                       func() { new(Work).Gram(random(rng, 4, 4), 1, a, make([]float64, 4), 0) },
			"bias":                             func() { new(Work).Affine(random(rng, 3, 4), a, random(rng, 4, 4), make([]float64, 3)) },
			"product: memory":                  func() { new(Work).Mul(random(rng, 9, 4), 1, false, long, false, random(rng, 4, 4), 0) },
		} {
			func() {
				defer func() {
					if recover() != badShape {
						t.Errorf("%s: no panic", name)
					}
				}()
				f()
			}()
		}
	})
}

func TestLinearCombination(t *testing.T) {
	both(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 5))
		for n := range 40 {
			var v [4][]float64
			for i := range v {
				v[i] = make([]float64, n+1)
				for j := range v[i] {
					v[i][j] = rng.NormFloat64()
				}
			}
			dst, x, y, z := v[0], v[1], v[2], v[3]
			dst[n] = 7
			LinearCombination(dst[:n], 0.5, x, -2, y, 3, z)
			for i := range n {
				if want := 0.5*x[i] - 2*y[i] + 3*z[i]; !(math.Abs(dst[i]-want) <= 1e-14) {
					t.Fatalf("number %d of %d: %v, want %v", i, n, dst[i], want)
				}
			}
			if dst[n] != 7 {
				t.Fatalf("%d numbers: more was written", n)
			}
		}
	})
}
