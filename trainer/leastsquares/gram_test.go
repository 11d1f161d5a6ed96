package leastsquares

import (
	"math"
	"math/rand/v2"
	"testing"
)

// rows returns n rows of three columns, the last of which does not vary, and y = 2 a − 3 b + 5
// far from zero.
func rows(n int) [][]float64 {
	rng := rand.New(rand.NewPCG(1, 2))
	var out [][]float64
	for range n {
		a, b := 1e6+rng.NormFloat64(), 100*rng.NormFloat64()
		out = append(out, []float64{a, b, 7, 2*a - 3*b + 5})
	}
	return out
}

func close(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestExactCoefficients(t *testing.T) {
	g := New(3, 1, nil)
	for _, r := range rows(600) {
		g.Add(r)
	}
	W, c, ok := g.Solve(3, 1e-12)
	if !ok || g.N() != 600 {
		t.Fatal("no solution")
	}
	close(t, "a", W[0], 2, 1e-8)
	close(t, "b", W[1], -3, 1e-8)
	close(t, "constant column", W[2], 0, 0)
	close(t, "c", c[0], 5, 1e-2)
}

// One standardised column: the coefficient shrinks by 1 + penalty.
func TestPenaltyIsOfStandardisedColumns(t *testing.T) {
	g := New(2, 1, nil)
	for _, r := range rows(300) {
		g.Add([]float64{1000 * r[1], r[0], -3 * r[1]})
	}
	free, _, _ := g.Solve(1, 0)
	shrunk, _, ok := g.Solve(1, 0.25)
	if !ok || len(shrunk) != 1 {
		t.Fatal("no solution on the first column")
	}
	close(t, "shrunk", shrunk[0], free[0]/1.25, 1e-12)
}

func TestMergedPartsAreTheWhole(t *testing.T) {
	all := rows(700)
	whole, merged := New(3, 1, all[0]), New(3, 1, all[0])
	parts := []*Gram{New(3, 1, all[0]), New(3, 1, all[0])}
	for i, r := range all {
		whole.Add(r)
		parts[i%2].Add(r)
	}
	for _, p := range parts {
		merged.Merge(p)
	}
	W, c, _ := whole.Solve(3, 1e-3)
	V, d, ok := merged.Solve(3, 1e-3)
	if !ok || merged.N() != 700 {
		t.Fatal("no solution")
	}
	for i := range W {
		close(t, "merged", V[i], W[i], 1e-9)
	}
	close(t, "merged constant", d[0], c[0], 1e-3)
}

// The solution of fewer columns is that of a solver of these alone.
func TestFewerColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const V, Y = 40, 3
	g := New(V, Y, nil)
	row := make([]float64, V+Y)
	for range 500 {
		for i := range row {
			row[i] = rng.NormFloat64() + row[max(0, i-1)]
		}
		g.Add(row)
	}
	s := g.Solver()
	for _, n := range []int{V, 25, 12, V} {
		for _, penalty := range []float64{1e-6, 0.1} {
			W, c, ok := s.Solve(n, penalty)
			want, offset, also := g.Solve(n, penalty)
			if !ok || !also {
				t.Fatalf("%d columns: %v, %v", n, ok, also)
			}
			for i := range want {
				close(t, "weight", W[i], want[i], 1e-9)
			}
			close(t, "offset", c[1], offset[1], 1e-9)
		}
	}
}

func TestNoSolution(t *testing.T) {
	if _, _, ok := New(2, 1, nil).Solve(2, 1); ok {
		t.Error("a solution without rows")
	}
	g := New(1, 1, nil)
	g.Add([]float64{1, 2})
	g.Add([]float64{math.Inf(1), 2})
	if _, _, ok := g.Solve(1, 1); ok {
		t.Error("a solution of what is not finite")
	}
}

// The mean square of what a solution leaves is that of its residuals.
func TestMeanSquare(t *testing.T) {
	g, all := New(3, 1, nil), rows(300)
	rng := rand.New(rand.NewPCG(3, 4))
	for _, r := range all {
		r[3] += 10 * rng.NormFloat64()
		g.Add(r)
	}
	W, c, _ := g.Solve(2, 0.5)
	sum := 0.0
	for _, r := range all {
		e := r[3] - W[0]*r[0] - W[1]*r[1] - c[0]
		sum += e * e / float64(len(all))
	}
	close(t, "mean square", g.Scorer().MeanSquare(2, W, c)[0]/sum, 1, 1e-8)
}

// Leverage is the squared Mahalanobis distance; of columns that vary with others, what
// contradicts that counts most. A column that does not vary counts by the floor.
func TestLeverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	g := New(3, 0, nil)
	for range 20000 {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		g.Add([]float64{5 + 2*a, a + 0.5*b, 7})
	}
	for rank, want := range map[int]float64{3: 5, 2: 5, 1: 7.4} {
		mean, std, G, rest, ok := g.Leverage(3, rank, 1e-6)
		if !ok {
			t.Fatal("none")
		}
		of := func(v ...float64) float64 {
			sum, row := 0.0, 0.0
			for j := range v {
				v[j] = (v[j] - mean[j]) / std[j]
				sum += v[j] * v[j]
			}
			for i := range len(G) / 3 {
				row = 0
				for j := range v {
					row += G[3*i+j] * v[j]
				}
				sum -= row * row
			}
			return sum / rest
		}
		close(t, "mean", of(5, 0, 7), 0, 0.01)
		if rank > 1 {
			close(t, "a = 1, b = 2", of(7, 2, 7), want, 0.2)
			close(t, "beyond a column that does not vary", of(5, 0, 7.01), 1e-4/1e-6, 1)
		} else if got := of(7, -1, 7); got < 20 {
			t.Errorf("a contradiction has %v", got)
		}
	}
}

// Part of a Gram is the Gram of those columns.
func TestPart(t *testing.T) {
	whole, alone := New(3, 1, nil), New(2, 1, nil)
	for _, r := range rows(300) {
		whole.Add(r)
		alone.Add([]float64{r[1], r[2], r[0]})
	}
	part := whole.Part([]int{1, 2, 0}, 2)
	got, gotOffset, ok := part.Solve(2, 0.1)
	want, wantOffset, _ := alone.Solve(2, 0.1)
	if !ok || part.N() != alone.N() {
		t.Fatalf("%d rows, solved %v", part.N(), ok)
	}
	close(t, "weight", got[0], want[0], 1e-12)
	close(t, "weight of a column that does not vary", got[1], 0, 0)
	close(t, "offset", gotOffset[0], wantOffset[0], 1e-6)
	if part.Add([]float64{1, 7, 2}); whole.N() != 300 {
		t.Error("a row of the part is one of the whole")
	}
}
