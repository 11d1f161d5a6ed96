package datacheck

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Values of all signs, sizes and numbers are sorted as by comparisons.
func TestSortIsThatByComparisons(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, 1, -1, math.MaxFloat64, math.SmallestNonzeroFloat64}
	for _, n := range []int{0, 1, fewValues - 1, fewValues, 5000, 1 << 16} {
		for kind := range 5 {
			v := make([]float64, n)
			for i := range v {
				switch kind {
				case 0:
					v[i] = rng.NormFloat64() * math.Exp(20*rng.NormFloat64())
				case 1:
					v[i] = float64(rng.IntN(5))
				case 2:
					v[i] = special[rng.IntN(len(special))]
				case 3:
					v[i] = 7
				case 4:
					v[i] = math.NaN()
				}
			}
			want := slices.Clone(v)
			slices.Sort(want)
			sort(v)
			for i, x := range v {
				if x != want[i] && !(math.IsNaN(x) && math.IsNaN(want[i])) {
					t.Fatalf("%d values of kind %d: number %d is %v, expected %v", n, kind, i, x, want[i])
				}
			}
		}
	}
}

func BenchmarkSort(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	from, v := make([]float64, sketched), make([]float64, sketched)
	for i := range from {
		from[i] = rng.NormFloat64()
	}
	for _, by := range []struct {
		name string
		sort func([]float64)
	}{{"digits", sort}, {"comparisons", slices.Sort[[]float64]}} {
		b.Run(by.name, func(b *testing.B) {
			for b.Loop() {
				copy(v, from)
				by.sort(v)
			}
		})
	}
}
