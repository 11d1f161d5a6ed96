//go:build linux

package matmul

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/dgm-robotics/dgm/estimator/internal/guardtest"
)

// guarded draws matrices beside pages that cannot be touched.
type guarded struct {
	guardtest.Pages
	*testing.T
	rng *rand.Rand
}

func (g *guarded) draw(n int) []float64 {
	d := g.Numbers(g.T, n, g.rng.IntN(4) > 0)
	for i := range d {
		d[i] = g.rng.NormFloat64()
	}
	return d
}

// matrix has NaN beside its rows, where its memory is longer.
func (g *guarded) matrix(r, c int) blas64.General {
	m := blas64.General{Rows: r, Cols: c, Stride: max(1, c+g.rng.IntN(2)*g.rng.IntN(5))}
	m.Data = g.draw(max(0, (r-1)*m.Stride+c))
	for i := range m.Data {
		if i%m.Stride >= c {
			m.Data[i] = math.NaN()
		}
	}
	return m
}

// factor is op(r×c), zero above its diagonal if asked for.
func (g *guarded) factor(r, c int, trans bool, zero zeros) factor {
	f := factor{m: g.matrix(r, c), trans: trans, zero: zero}
	if trans {
		f.m = g.matrix(c, r)
	}
	if zero != nowhere {
		for i := range f.m.Rows {
			clear(f.m.Data[i*f.m.Stride+i+1 : i*f.m.Stride+f.m.Cols])
		}
		if trans {
			f.zero = zero.transposed()
		}
	}
	return f
}

// size is on either side of tiles and blocks.
func (g *guarded) size() int {
	switch g.rng.IntN(8) {
	case 0:
		return g.rng.IntN(4)
	case 1:
		return manyRows - 5 + g.rng.IntN(10)
	case 2:
		return 90 + g.rng.IntN(12)
	case 3:
		return inner - 2 + g.rng.IntN(6)
	}
	return 1 + g.rng.IntN(30)
}

func (f *factor) number(i, j int) float64 {
	if f.trans {
		i, j = j, i
	}
	return f.m.Data[i*f.m.Stride+j]
}

// is fails unless c is the product as loops say it, and what is beside its rows was left.
func (g *guarded) is(c blas64.General, was []float64, p product, what string) {
	g.Helper()
	m, k := p.a.shape()
	for i := range m {
		for j := range c.Cols {
			if p.lower && j > i {
				continue
			}
			want := 0.0
			for q := range k {
				v := p.alpha * p.a.number(i, q) * p.b.number(q, j)
				if p.d != nil {
					v *= p.d[q]
				}
				want += v
			}
			if p.bias != nil {
				want += p.bias[j]
			}
			if p.beta != 0 {
				want += p.beta * was[i*c.Stride+j]
			}
			if got := c.Data[i*c.Stride+j]; !(math.Abs(got-want) <= 1e-13*float64(k+10)) {
				g.Fatalf("%s: %d×%d×%d: row %d, column %d is %v, want %v", what, m, k, c.Cols, i, j, got, want)
			}
		}
		if i == m-1 {
			break // behind the last row there is nothing
		}
		for _, v := range c.Data[i*c.Stride+c.Cols : (i+1)*c.Stride] {
			if !math.IsNaN(v) {
				g.Fatalf("%s: %d×%d×%d: what is beside row %d was written", what, m, k, c.Cols, i)
			}
		}
	}
}

// Products of all kinds are those of plain loops, and touch no number that is not theirs:
// a page beside every matrix cannot be read.
func TestProductsStayInTheirViews(t *testing.T) {
	both(t, func(t *testing.T) {
		g := &guarded{T: t, rng: rand.New(rand.NewPCG(14, 14))}
		defer g.Release()
		rng := g.rng
		var w Work
		var packed Packed
		for draw := range 400 {
			m, n, k := g.size(), g.size(), g.size()
			for m*n*k > 3e5 {
				m, n, k = g.size(), g.size(), g.size()
			}
			p := product{alpha: []float64{1, -1, 0.7}[rng.IntN(3)], beta: []float64{0, 1, -0.5}[rng.IntN(3)]}
			ta, tb := rng.IntN(2) == 1, rng.IntN(2) == 1
			kind := draw % 6
			switch kind {
			case 0, 1: // Mul, MulPacked
				p.a, p.b = g.factor(m, k, ta, nowhere), g.factor(k, n, tb, nowhere)
			case 2: // MulPacked by a triangle
				n = k
				p.a, p.b = g.factor(m, k, ta, nowhere), g.factor(k, n, tb, above)
			case 3: // Gram
				m = n
				p.a = g.factor(n, k, true, nowhere)
				p.b, p.d, p.lower = factor{m: p.a.m}, g.draw(k), true
			case 4: // Affine
				p.a, p.b, p.alpha, p.beta = g.factor(m, k, false, nowhere), g.factor(k, n, false, nowhere), 1, 0
				if rng.IntN(2) == 1 {
					p.bias = g.draw(n)
				}
			case 5: // what a factorisation needs
				m = k
				if p.lower = rng.IntN(2) == 1; p.lower {
					n = m
				}
				p.a, p.b = g.factor(m, k, ta, above), g.factor(k, n, tb, nowhere)
			}
			p.c = g.matrix(m, n)
			was := append([]float64(nil), p.c.Data...)
			if p.beta == 0 { // then c may hold anything
				for i := range m {
					for j := range n {
						p.c.Data[i*p.c.Stride+j] = math.NaN()
					}
				}
			}
			switch kind {
			case 0:
				w.Mul(p.c, p.alpha, ta, p.a.m, tb, p.b.m, p.beta)
			case 1, 2:
				packed.Pack(p.b.m, tb, kind == 2)
				w.MulPacked(p.c, p.alpha, ta, p.a.m, &packed, p.beta)
			case 3:
				w.Gram(p.c, p.alpha, p.a.m, p.d, p.beta)
			case 4:
				w.Affine(p.c, p.a.m, p.b.m, p.bias)
			case 5:
				w.run(p)
			}
			g.is(p.c, was, p, fmt.Sprint("draw ", draw, " of kind ", kind))
			g.Release()
		}
	})
}

func TestRowsStayInTheirViews(t *testing.T) {
	both(t, func(t *testing.T) {
		g := &guarded{T: t, rng: rand.New(rand.NewPCG(15, 15))}
		defer g.Release()
		for n := range 45 {
			for _, m := range []int{1, 2, 7} {
				a, b, one := g.matrix(m, n), g.matrix(m, n), g.matrix(1, n)
				each, all, sums := g.draw(m), g.draw(m), g.draw(n)
				want := append([]float64(nil), sums...)
				Dots(each, a, b)
				Dots(all, a, one)
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
				dst, x, y, z := g.draw(n), g.draw(n), g.draw(n), g.draw(n)
				LinearCombination(dst, 2, x, 3, y, -1, z)
				for j := range n {
					if !(math.Abs(sums[j]-want[j]) <= 1e-13) || !(math.Abs(dst[j]-(2*x[j]+3*y[j]-z[j])) <= 1e-13) {
						t.Fatalf("%d columns: sum %d is %v, want %v; combined %v", n, j, sums[j], want[j], dst[j])
					}
				}
				g.Release()
			}
		}
	})
}
