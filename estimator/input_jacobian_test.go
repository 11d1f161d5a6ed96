package estimator_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// inputDifferences returns ∂mean/∂v (T×K×len(v)) by central differences; v are numbers of the
// query.
func inputDifferences(t *testing.T, m *model.Model, times, v []float64, q *estimator.Query) []float64 {
	t.Helper()
	const h = 1e-5
	p := newPredictor(t, m, times)
	plus, minus := p.NewPrediction(), p.NewPrediction()
	out := make([]float64, len(plus.Mean)*len(v))
	for r, at := range v {
		v[r] = at + h
		p.Predict(plus, q)
		v[r] = at - h
		p.Predict(minus, q)
		v[r] = at
		for j := range plus.Mean {
			out[j*len(v)+r] = (plus.Mean[j] - minus.Mean[j]) / (2 * h)
		}
	}
	return out
}

// The derivative of the mean by the plan, or by the input held, is that of central
// differences, within and between the steps of the prior dynamics.
func TestInputJacobian(t *testing.T) {
	largest := 0.0
	for name := range shapes {
		m, rng := make1(name, 71)
		if m.P == 0 {
			continue
		}
		times := grid(13)
		fast := newFastOn(t, m, times, simd.Best())
		for _, rows := range []int{0, 1, 3, 17} {
			what := fmt.Sprintf("%s, %d rows", name, rows)
			q := query(rng, m, rows)
			v := q.Plan
			if rows == 0 {
				v = q.U
			}
			want := inputDifferences(t, m, times, v, &q)
			p := newPredictor(t, m, times)
			got, without := p.NewPrediction().WithInputJacobian(len(v)), p.NewPrediction()
			if !p.Predict(got, &q) || !p.Predict(without, &q) {
				t.Fatalf("%s: not finite", what)
			}
			if !slices.Equal(got.Mean, without.Mean) || !slices.Equal(got.Std, without.Std) {
				t.Errorf("%s: the Jacobian changes the prediction", what)
			}
			for j, w := range want {
				if math.Abs(got.InputJacobian[j]-w) > 1e-6*(1+math.Abs(w)) {
					n := len(v)
					t.Fatalf("%s: ∂mean of channel %d at %.3g s by number %d is %v, expected %v", what, j/n%m.K, times[j/n/m.K], j%n, got.InputJacobian[j], w)
				}
				largest = max(largest, math.Abs(w))
			}
			same := fast.NewPrediction().WithInputJacobian(len(v))
			if !fast.Predict(same, &q) || !slices.Equal(same.InputJacobian, got.InputJacobian) {
				t.Errorf("%s: that of a Fast is another", what)
			}
		}
	}
	if largest < 0.1 {
		t.Errorf("no mean changes by more than %v with the input", largest)
	}
}
