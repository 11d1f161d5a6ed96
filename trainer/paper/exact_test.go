package paper

import (
	"context"
	"math"
	"testing"
)

// The exact kernel fits a rotation too, and its intervals cover the truth.
func TestExactKernelPredicts(t *testing.T) {
	set := small().Settings
	set.Exact = true
	f, err := Train(context.Background(), turning(3, 6, 0.05), set, 1)
	if err != nil {
		t.Fatal(err)
	}
	e, err := f.Exact()
	if err != nil {
		t.Fatal(err)
	}
	mean, std := make([]float64, 6), make([]float64, 6)
	e.Predict(mean, std, []float64{1, 0}, []float64{1, 2.5, 4})
	for i, at := range []float64{1, 2.5, 4} {
		for k, x := range rotated(1, at) {
			if j := 2*i + k; !(std[j] > 0.005) || !(std[j] <= 0.3) || !(math.Abs(mean[j]-x) <= 4*std[j]) {
				t.Errorf("%v s, state %d: %v ± %v, the truth is %v", at, k, mean[j], std[j], x)
			}
		}
	}
}
