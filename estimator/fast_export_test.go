package estimator

import (
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// NewFastOn is NewFast on a given unit.
func NewFastOn(m *model.Model, times []float64, unit simd.Unit) (*Fast, error) {
	plain, err := New(m, times)
	if err != nil {
		return nil, err
	}
	return newFast(plain, compileChecked(m, unit)), nil
}
