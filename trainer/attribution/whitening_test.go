package attribution

import (
	"math"
	"math/rand/v2"
	"testing"
)

// steady returns moments in which channel 0 is a sum of noise and of what a moment before had with the opposite sign, as what
// predictions from single samples leave, and channel 1 has a part of it.
func steady(n int, seed uint64) []moment {
	rng := rand.New(rand.NewPCG(seed, 1))
	out, last := make([]moment, n), 0.0
	for i := range out {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		out[i] = moment{keep: kept(1.0 / starts), z: []float64{a - 0.7*last, 0.5*b + 0.8*a}}
		last = a
	}
	return out
}

// Innovations of moments that the whitening was not fitted to have variance 1, and depend neither on each other
// nor on those before, where some were not measured, too.
func TestWhitening(t *testing.T) {
	_, w, err := fit([2][][]moment{{steady(4000, 1)}, {steady(4000, 2)}}, 2)
	if err != nil {
		t.Fatal(err)
	}
	test := steady(4000, 3)
	for i := range test {
		if i%10 == 0 {
			test[i].z[1] = math.NaN()
		}
	}
	past, e, before := make([]float64, len(spans)*2), make([]float64, 2), make([]float64, 2)
	var square [2]float64
	var across, lagged, raw float64
	for i := range test {
		w.innovations(e, past, test[i].z, w.offset, &test[i])
		square[0] += e[0] * e[0] / float64(len(test))
		if i%10 != 0 {
			square[1] += e[1] * e[1] / (0.9 * float64(len(test)))
			across += e[0] * e[1] / float64(len(test))
		}
		lagged += e[0] * before[0] / float64(len(test))
		if i > 0 {
			raw += test[i].z[0] * test[i-1].z[0] / 1.49 / float64(len(test))
		}
		copy(before, e)
	}
	if math.Abs(raw+0.47) > 0.05 {
		t.Fatalf("the moments' own correlation is %.2f, expected -0.47", raw)
	}
	if math.Abs(square[0]-1) > 0.1 || math.Abs(square[1]-1) > 0.1 || math.Abs(across) > 0.05 || math.Abs(lagged) > 0.1 {
		t.Errorf("variances %.3f, correlation %.3f, with those before %.3f", square, across, lagged)
	}
}
