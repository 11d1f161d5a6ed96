package paper

import (
	"context"
	"math"
	"testing"
)

func TestSeparateSmoothersShareTheirDynamics(t *testing.T) {
	d := turning(3, 8, 0.05)
	set := small().Settings
	set.Support = 10
	fits, err := TrainSeparate(context.Background(), d, set, 1)
	if err != nil {
		t.Fatal(err)
	}
	for j, f := range fits {
		for i, l := range f.Params.Dynamics.Layers {
			for w, v := range l.W {
				if v != fits[0].Params.Dynamics.Layers[i].W[w] {
					t.Fatalf("fit %d has dynamics of its own", j)
				}
			}
		}
		mean, v := make([]float64, 4), make([]float64, 4)
		x0 := d.Trajectories[j].X0
		f.Predict(mean, v, x0, []float64{1.5, 3.5})
		for i, at := range []float64{1.5, 3.5} {
			for k, x := range rotated(x0[0], at) {
				// 8 observations each: good to a few times their noise.
				if !(math.Abs(mean[2*i+k]-x) <= 0.2) || !(v[2*i+k] > 0) {
					t.Errorf("fit %d, %v s, state %d: %v ± %v, the truth is %v", j, at, k, mean[2*i+k], math.Sqrt(v[2*i+k]), x)
				}
			}
		}
	}
	if a, b := fits[0].Params.Map.Core.Layers[0].W[0], fits[1].Params.Map.Core.Layers[0].W[0]; a == b {
		t.Error("smoothers are the same")
	}
}
