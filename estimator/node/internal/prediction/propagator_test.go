package prediction

import "testing"

func TestThePlanIsShiftedWithTheTick(t *testing.T) {
	b := propagator{horizon: 1, inputs: 2}
	plan := []float64{0, 10, 1, 20, 2, 30, 3, 40}
	for age, want := range map[float64][]float64{
		0:     plan,
		0.25:  {1, 20, 2, 30, 3, 40, 3, 40},
		0.125: {0.5, 15, 1.5, 25, 2.5, 35, 3, 40},
		0.9:   {3, 40, 3, 40, 3, 40, 3, 40},
		5:     {3, 40, 3, 40, 3, 40, 3, 40},
	} {
		if got := b.planFrom(plan, 0, age); !near(got, want, 1e-12) {
			t.Errorf("after %v s: %v, want %v", age, got, want)
		}
	}
	if got := b.planFrom(plan, 0.5, 0.25); !near(got, []float64{0.5, 15, 1.5, 25, 2.5, 35, 3, 40}, 1e-12) {
		t.Errorf("in steps of 0.5 s, after 0.25 s: %v", got)
	}
	if got := b.planFrom(plan, 1e-300, 0.25); !near(got, []float64{3, 40, 3, 40, 3, 40, 3, 40}, 1e-12) {
		t.Errorf("of an instant: %v", got)
	}
	if b.planFrom(nil, 0, 0.1) != nil {
		t.Error("a plan of nothing")
	}
}
