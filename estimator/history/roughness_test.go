package history

import (
	"math"
	"math/rand/v2"
	"testing"
)

// means returns a start of 0 and the means over the rows of a polynomial in time, with noise.
func means(edges, coefficients []float64, noise float64, rng *rand.Rand) []float64 {
	integral := func(t float64) (sum float64) {
		for p, c := range coefficients {
			sum += c * math.Pow(t, float64(p+2)) / float64(p+2)
		}
		return sum
	}
	var out []float64
	from := 0.0
	for _, e := range edges {
		mean := (integral(e) - integral(from)) / (e - from)
		out = append(out, 99, mean+noise*rng.NormFloat64(), 99)
		from = e
	}
	return out
}

var roughEdges = []float64{0.01, 0.02, 0.03, 0.04, 0.05, 0.1, 0.2, 0.4}

// A cubic is smooth, a power of four is not; noise is rough, whatever it lies on.
func TestRoughness(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	r := NewRoughness(Spec{Edges: roughEdges})
	if !r.Measures() {
		t.Fatal("eight rows measure nothing")
	}
	if got := r.Of(means(roughEdges, []float64{3, -20, 400}, 0, rng), 3, 1, 0); got > 1e-12 {
		t.Errorf("of a cubic %v", got)
	}
	if got := r.Of(means(roughEdges, []float64{3, -20, 400, 500}, 0, rng), 3, 1, 0); got < 1e-3 {
		t.Errorf("of a power of four %v", got)
	}
	square := 0.0
	const n = 2000
	for range n {
		noise := 0.1 * rng.NormFloat64() // of the start
		h := means(roughEdges, []float64{3, -20, 400}, 0.1, rng)
		for j := 1; j < len(h); j += 3 {
			h[j] += 7 - noise
		}
		got := r.Of(h, 3, 1, 7)
		square += got * got / n
	}
	if got := math.Sqrt(square); math.Abs(got-0.1) > 0.005 {
		t.Errorf("of a noise of 0.1: %v", got)
	}
	if few := NewRoughness(Spec{Edges: roughEdges[:4]}); few.Measures() {
		t.Error("four rows measure something")
	}
}
