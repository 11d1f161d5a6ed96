package mlp

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Activations are those of the library to a few units in the last place, at all sizes, and
// the same bits wherever a number stands; nothing beside them is written.
func TestActivationsAreThoseOfTheLibrary(t *testing.T) {
	both(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 3))
		var all []float64
		for i := range 30000 {
			all = append(all, rng.NormFloat64()*math.Pow(10, float64(i%24)/4-3))
		}
		for n := -60; n <= 60; n++ { // where the reduction goes from one power of two to the next
			x := (float64(n) + 0.5) * math.Ln2
			all = append(all, x, math.Nextafter(x, 1e9), math.Nextafter(x, -1e9), x/2)
		}
		all = append(all, 0, 1e-300, -1e-300, 5e-324, 19, 20, -19, -20, 353, 354, 355, -355, 707, -707, 1e5)
		for a, want := range map[Activation]func(float64) float64{Sigmoid: sigmoid, Tanh: math.Tanh} {
			for from := 0; from < len(all); {
				n := 1 + from%11
				x := all[from:min(from+n, len(all))]
				from += n
				y := append(append([]float64(nil), x...), 7)
				a.Activate(y[:len(x)])
				if y[len(x)] != 7 {
					t.Fatalf("%d numbers: more was written", len(x))
				}
				for i, v := range x {
					w := want(v)
					if !(math.Abs(y[i]-w) <= 9e-16*math.Abs(w)) && math.Abs(v) < 700 {
						t.Fatalf("%s of %v: %v, the library's %v", a, v, y[i], w)
					}
					one := []float64{v}
					if a.Activate(one); one[0] != y[i] {
						t.Fatalf("%s of %v: %v alone, %v among others", a, v, one[0], y[i])
					}
				}
			}
		}
	})
}

func TestActivationsOfNaN(t *testing.T) {
	both(t, func(t *testing.T) {
		for i := range 7 {
			for a, ends := range map[Activation][2]float64{Sigmoid: {0, 1}, Tanh: {-1, 1}} {
				y := []float64{1, 1, 1, 1, 1, 1, 1}
				y[i] = math.NaN()
				y[(i+1)%7], y[(i+2)%7] = math.Inf(-1), math.Inf(1)
				a.Activate(y)
				if !math.IsNaN(y[i]) || !(math.Abs(y[(i+1)%7]-ends[0]) <= 1e-307) || y[(i+2)%7] != ends[1] || y[(i+3)%7] != y[(i+4)%7] {
					t.Errorf("%s: %v", a, y)
				}
			}
		}
	})
}

func BenchmarkActivate(b *testing.B) {
	y := make([]float64, 1000)
	for _, a := range []Activation{Sigmoid, Tanh} {
		b.Run(a.String(), func(b *testing.B) {
			for i := range y {
				y[i] = float64(i%41)/10 - 2
			}
			for b.Loop() {
				a.Activate(y)
			}
		})
	}
}
