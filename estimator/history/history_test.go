package history

import (
	"math"
	"testing"
)

func TestSpecsThatContradictThemselves(t *testing.T) {
	for _, edges := range [][]float64{
		{0}, {-1}, {math.NaN()}, {math.Inf(1)}, {61}, {0.2, 0.1}, {0.1, 0.1}, {1e-7}, {0.001, 20}, make([]float64, 65),
	} {
		if (Spec{Edges: edges}).Check() == nil {
			t.Errorf("edges %v are accepted", edges)
		}
	}
	for _, s := range []Spec{{}, widening, evenly(64, 0.9), {Edges: []float64{60}}} {
		if err := s.Check(); err != nil {
			t.Error(err)
		}
	}
	if widening.Rows() != 8 || widening.Reach() != 0.4 || (Spec{}).Reach() != 0 {
		t.Error("rows and reach")
	}
}
