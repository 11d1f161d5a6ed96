package feature

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The vector unit and the standard library agree to rounding at all sizes, near zero,
// near multiples of π/4 and at the end of what is reduced.
func TestSincosIsThatOfTheLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var all []float64
	for i := range 20000 {
		all = append(all, (2*rng.Float64()-1)*math.Pow(10, float64(i%12)-6)*0.1)
	}
	for n := -200; n <= 200; n++ {
		x := float64(n) * math.Pi / 4
		all = append(all, x, math.Nextafter(x, 1e9), math.Nextafter(x, -1e9), 1e5-float64(n+200))
	}
	all = append(all, 0, math.Copysign(0, -1), 5e-324, -1e-300, farthest, -farthest)
	for from := 0; from < len(all); {
		n := 1 + from%23
		theta := all[from:min(from+n, len(all))]
		from += n
		sin, cos := make([]float64, len(theta)+1), make([]float64, len(theta)+1)
		sin[len(theta)], cos[len(theta)] = 7, 7
		sincos(sin[:len(theta)], cos[:len(theta)], theta)
		for i, v := range theta {
			s, c := math.Sincos(v)
			if math.Abs(sin[i]-s) > 2.3e-16 || math.Abs(cos[i]-c) > 2.3e-16 {
				t.Fatalf("%v: %v %v, the library's %v %v", v, sin[i], cos[i], s, c)
			}
			if math.Abs(v) < 1e-5 && math.Abs(sin[i]-s) > 2.3e-16*math.Abs(v) {
				t.Fatalf("%v: sine %v", v, sin[i])
			}
		}
		if sin[len(theta)] != 7 || cos[len(theta)] != 7 {
			t.Fatalf("%d angles: more was written", len(theta))
		}
	}
}

func TestSincosFarAway(t *testing.T) {
	theta := []float64{1, 1e6, math.Inf(1), math.NaN(), -1e300, 2}
	sin, cos := make([]float64, 6), make([]float64, 6)
	sincos(sin, cos, theta)
	for i, v := range theta {
		s, c := math.Sincos(v)
		if !(sin[i] == s || math.IsNaN(s) && math.IsNaN(sin[i])) || !(cos[i] == c || math.IsNaN(c) && math.IsNaN(cos[i])) {
			t.Errorf("%v: %v %v, want %v %v", v, sin[i], cos[i], s, c)
		}
	}
}

func BenchmarkSincos(b *testing.B) {
	theta, sin, cos := make([]float64, 50), make([]float64, 50), make([]float64, 50)
	for i := range theta {
		theta[i] = float64(i) / 5
	}
	for b.Loop() {
		sincos(sin, cos, theta)
	}
}
