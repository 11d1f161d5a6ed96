package plant_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
)

// TestKinematicsAreThePlants: what a plant's logs declare is what it does.
func TestKinematicsAreThePlants(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	declared := 0
	for _, p := range plant.All() {
		body, err := priordynamics.NewBody(&p.Kinematics, p.States)
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		if body.Empty() {
			continue
		}
		declared++
		x, want, got := make([]float64, len(p.States)), make([]float64, len(p.States)), make([]float64, len(p.States))
		for range 20 {
			for k := range x {
				x[k] = 0.5 * rng.NormFloat64()
			}
			p.F(want, x, p.U0, p.Values())
			body.Derivative(got, x)
			for k := range x {
				// the law's secant is softened by less than one part in 500 at these angles
				if body.Determines(k) && math.Abs(got[k]-want[k]) > 0.01*(1+math.Abs(want[k])) {
					t.Errorf("%s: %s moves at %v, declared %v", p.Name, p.States[k].Name, want[k], got[k])
				}
			}
		}
	}
	if declared != 2 {
		t.Errorf("%d plants declare kinematics", declared)
	}
}
