package c99

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// full returns the matrix that a form stands for.
func (f form) full(rows, cols int) []float64 {
	m := make([]float64, rows*cols)
	switch f.kind {
	case none:
	case scaled:
		for r := range rows {
			m[r*cols+r] = f.scale
		}
	case picked:
		for _, p := range pairs(f.index) {
			m[p[0]*cols+p[1]] = f.scale
		}
	case sparse:
		for i, p := range pairs(f.index) {
			m[p[0]*cols+p[1]] = f.numbers[i]
		}
	case ranges:
		at := 0
		for r, p := range pairs(f.index) {
			at += copy(m[r*cols+p[0]:], f.numbers[at:at+p[1]])
		}
	default:
		return f.numbers
	}
	return m
}

// A form stands for its matrix, and takes no more memory than the dense one.
func TestForms(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	seen := map[kind]bool{}
	for range 3000 {
		rows, cols := 1+rng.IntN(8), 1+rng.IntN(8)
		m := make([]float64, rows*cols)
		kind, v := rng.IntN(6), rng.NormFloat64()
		for i := range m {
			r, c := i/cols, i%cols
			switch {
			case kind == 0, kind == 1 && r >= c, kind == 2 && rng.IntN(5) == 0:
				m[i] = 10 * rng.NormFloat64()
			case kind == 3 && r == c, kind == 4 && c == (3*r+1)%cols:
				m[i] = v
			}
		}
		f := formOf(m, rows, cols)
		seen[f.kind] = true
		if !slices.Equal(f.full(rows, cols), m) {
			t.Fatalf("%v of %d×%d is not %v", f, rows, cols, m)
		}
		if n := realBytes*len(f.numbers) + placeBytes*len(f.index); n > realBytes*len(m) {
			t.Errorf("%v of %d×%d takes %d bytes", f, rows, cols, n)
		}
	}
	if len(seen) != int(compensated)+1 {
		t.Errorf("forms that were met: %v", seen)
	}
}
