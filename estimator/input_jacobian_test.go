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
		unit := simd.Units()[rng.IntN(len(simd.Units()))]
		fast := newFastOn(t, m, times, unit)
		for _, rows := range []int{0, 1, 3, 17} {
			what := fmt.Sprintf("%s on %v, %d rows", name, unit, rows)
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
			if !fast.Predict(same, &q) {
				t.Fatalf("%s: not finite", what)
			}
			differs, size, most := 0.0, 0.0, 1e-5
			for j, w := range got.InputJacobian {
				differs, size = max(differs, math.Abs(w-same.InputJacobian[j])), max(size, math.Abs(w))
			}
			switch {
			case rows > 1: // the input changes within the steps
				most = 0.1
			case len(m.Actuators) > 0: // what acts of it does
				most = 1e-3
			}
			if differs > most*size {
				t.Errorf("%s: that of a Fast differs by %v of %v", what, differs, size)
			}
		}
	}
	if largest < 0.1 {
		t.Errorf("no mean changes by more than %v with the input", largest)
	}
}

// The derivative by the plan is the same at few and at many points, with and without that by
// the start, and allocates nothing.
func TestInputJacobianOfAFastAtManyPoints(t *testing.T) {
	m, rng := make1("stack", 72)
	q := query(rng, m, 5)
	few, many := grid(20), grid(100)
	small, large := newFastOn(t, m, few, simd.Best()), newFastOn(t, m, many, simd.Best())
	if !large.Interpolates() {
		t.Fatal("variances are not interpolated")
	}
	a, b := small.NewPrediction().WithInputJacobian(len(q.Plan)), large.NewPrediction().WithInputJacobian(len(q.Plan)).WithJacobian()
	for _, P0 := range [][]float64{nil, diagonal(m.K, 0.01)} {
		q.P0 = P0
		if n := testing.AllocsPerRun(2, func() { small.Predict(a, &q); large.Predict(b, &q) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
		row := m.K * len(q.Plan)
		for i := range few {
			for j, w := range a.InputJacobian[i*row : (i+1)*row] {
				near(t, "InputJacobian", b.InputJacobian[(5*i+4)*row+j], w, 1e-5)
			}
		}
	}
}
