package leastsquares

import (
	"math/rand/v2"
	"testing"
)

// The sums are those of one row after the other, over several chunks and after others were forgotten.
func TestProducts(t *testing.T) {
	const n = 5
	rng := rand.New(rand.NewPCG(1, 1))
	p := NewProducts(n)
	for _, rows := range []int{3, chunk, 2*chunk + 1} {
		p.Clear()
		want := make([]float64, n*n)
		for range rows {
			row := p.Row()
			for i := range row {
				row[i] = rng.NormFloat64()
			}
			for i, a := range row {
				for j, b := range row[:i+1] {
					want[i*n+j] += a * b
				}
			}
		}
		sums := p.Sums()
		for i := range n {
			for j := range i + 1 {
				close(t, "product", sums.Data[i*sums.Stride+j], want[i*n+j], 1e-9)
			}
		}
	}
}
