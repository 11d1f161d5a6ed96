package paper

import (
	"context"
	"math"
	"testing"
)

// spinning is the field of a rotation whose rate and damping are unknown.
func spinning() *Known {
	return &Known{
		F: func(dst, x, p []float64) { dst[0], dst[1] = p[0]*x[1]-p[1]*x[0], -p[0]*x[0]-p[1]*x[1] },
		VJP: func(dx, dp, x, p, g []float64) {
			dx[0] += -p[1]*g[0] - p[0]*g[1]
			dx[1] += p[0]*g[0] - p[1]*g[1]
			dp[0] += x[1]*g[0] - x[0]*g[1]
			dp[1] += -x[0]*g[0] - x[1]*g[1]
		},
		Guess: []float64{1.7, 0.01}, Spread: []float64{0.7, 0.7},
	}
}

func TestSensitivityOfAKnownField(t *testing.T) {
	d := turning(2, 6, 0.05)
	set := small().Settings
	set.Steps = 5
	fit, err := Train(context.Background(), d, set, 1)
	if err != nil {
		t.Fatal(err)
	}
	f := fit.newKnown(spinning(), d)
	for i := range f.Theta {
		f.Theta[i] += 0.1 * math.Sin(float64(i+1))
	}
	end := func(w *tangent) *tangent {
		w.start([]float64{0.3, -0.7})
		if !w.advance(0.1, 10) {
			t.Fatal("left all bounds")
		}
		return w
	}
	w := end(f.tangent(true))
	for p := range f.Theta {
		const h = 1e-6
		old := f.Theta[p]
		f.Theta[p] = old + h
		plus := end(f.tangent(false)).z
		f.Theta[p] = old - h
		minus := end(f.tangent(false)).z
		f.Theta[p] = old
		for k := range 2 {
			if want := (plus[k] - minus[k]) / (2 * h); !(math.Abs(w.S[k*len(f.Theta)+p]-want) <= 1e-8) {
				t.Errorf("state %d by parameter %d: %v, difference %v", k, p, w.S[k*len(f.Theta)+p], want)
			}
		}
	}
}

// With a known form of the field the parameters are found to within their claimed
// uncertainty.
func TestParametersAreFound(t *testing.T) {
	d := turning(5, 8, 0.05)
	r := small()
	r.Known, r.Members = spinning(), 1
	m, err := Learn(context.Background(), d, r, 1)
	if err != nil {
		t.Fatal(err)
	}
	p, spread := m.Flows[0].Parameters()
	// 80 numbers of noise 0.05 on radii of 1, over 5 s: the rate is good to 0.003.
	if !(math.Abs(p[0]-1) <= 0.012) || !(spread[0] <= 0.006) || !(math.Abs(math.Log(p[0])) <= 4*spread[0]) {
		t.Errorf("rate %v, spread %v; it is 1", p[0], spread[0])
	}
	// The damping is 0, and its logarithm is bounded by the prior alone.
	if !(p[1] <= 0.02) || !(spread[1] > 0.3) {
		t.Errorf("damping %v, spread of its logarithm %v", p[1], spread[1])
	}
}
