//go:build linux

package mlp

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/internal/guardtest"
)

// Numbers beside a page that cannot be touched are activated as elsewhere, those beside
// them stay, and what is no number stays so.
func TestActivationsStayInTheirSlice(t *testing.T) {
	both(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(4, 4))
		var g guardtest.Pages
		defer g.Release()
		for _, end := range []bool{false, true} {
			const most = 41
			body := g.Numbers(t, most, end)
			for n := range most + 1 {
				for a, want := range map[Activation]func(float64) float64{Sigmoid: sigmoid, Tanh: math.Tanh} {
					for i := range body {
						body[i] = rng.NormFloat64() * math.Pow(10, 5*rng.Float64()-3)
					}
					body[rng.IntN(most)] = math.NaN()
					was := append([]float64(nil), body...)
					from := 0
					if end {
						from = most - n
					}
					a.Activate(body[from : from+n])
					for i, v := range was {
						if i >= from && i < from+n {
							v = want(v)
						}
						if got := body[i]; !(math.Abs(got-v) <= 9e-16*math.Abs(v)) && !(math.IsNaN(got) && math.IsNaN(v)) {
							t.Fatalf("%s of %d numbers: number %d, %v, becomes %v, want %v", a, n, i-from, was[i], got, v)
						}
					}
				}
			}
		}
	})
}
