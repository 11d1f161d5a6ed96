package estimator_test

import (
	"math"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
)

func TestWhatIsNotFiniteIsRefused(t *testing.T) {
	for name := range shapes {
		m, rng := make1(name, 9)
		p := newPredictor(t, m, grid(4))
		dst := p.NewPrediction()
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			good := query(rng, m, 2)
			good.P0 = make([]float64, m.K*m.K)
			if !p.Predict(dst, &good) {
				t.Fatalf("%s: a good query is refused", name)
			}
			for what, v := range map[string][]float64{"x0": good.X0, "P0": good.P0, "u": good.U, "plan": good.Plan} {
				for i := range v {
					was := v[i]
					v[i] = bad
					if p.Predict(dst, &good) {
						t.Errorf("%s: %s[%d] = %v is taken", name, what, i, bad)
					}
					v[i] = was
				}
			}
		}
	}
}

func TestWrongLengthsPanic(t *testing.T) {
	m, _ := make1("windows", 10)
	p := newPredictor(t, m, grid(4))
	n := make([]float64, 100)
	good := func() (*estimator.Prediction, *estimator.Query) {
		return p.NewPrediction().WithDerivatives(), &estimator.Query{X0: n[:4], P0: n[:16], U: n[:2], Plan: n[:6]}
	}
	for name, edit := range map[string]func(d *estimator.Prediction, q *estimator.Query){
		"x0":     func(_ *estimator.Prediction, q *estimator.Query) { q.X0 = n[:3] },
		"P0":     func(_ *estimator.Prediction, q *estimator.Query) { q.P0 = n[:4] },
		"u":      func(_ *estimator.Prediction, q *estimator.Query) { q.U = n[:3] },
		"plan":   func(_ *estimator.Prediction, q *estimator.Query) { q.Plan = n[:3] },
		"mean":   func(d *estimator.Prediction, _ *estimator.Query) { d.Mean = n[:15] },
		"std":    func(d *estimator.Prediction, _ *estimator.Query) { d.Std = nil },
		"obsstd": func(d *estimator.Prediction, _ *estimator.Query) { d.ObsStd = n[:17] },
		"dstd":   func(d *estimator.Prediction, _ *estimator.Query) { d.DStd = nil },
	} {
		func() {
			defer func() {
				if p := recover(); p != estimator.WrongLength {
					t.Errorf("%s: %v", name, p)
				}
			}()
			d, q := good()
			edit(d, q)
			p.Predict(d, q)
		}()
	}
	if d, q := good(); !p.Predict(d, q) {
		t.Error("the right lengths are refused")
	}
}

func TestTimesAreChecked(t *testing.T) {
	m, _ := make1("windows", 11)
	for _, times := range [][]float64{{}, {0}, {-1}, {H, 1.001 * H}, {math.NaN()}, {math.Inf(1)}} {
		if _, err := estimator.New(m, times); err == nil {
			t.Errorf("times %v are taken", times)
		}
	}
	if got := newPredictor(t, m, nil).NewPrediction().Times; len(got) != m.Points || got[len(got)-1] != m.Horizon {
		t.Errorf("the model's own points are %v", got)
	}
	if _, err := estimator.New(m, make([]float64, 1<<27)); err == nil {
		t.Error("memory beyond all bounds is taken")
	}
	m.Scale[0] = 0
	if _, err := estimator.New(m, nil); err == nil {
		t.Error("a model that contradicts itself is taken")
	}
}
