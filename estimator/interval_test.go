package estimator_test

import (
	"math"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// The roughness of the history enters by its coefficient; without history it does not.
func TestIntervalsGrowWithRoughness(t *testing.T) {
	m, rng := make1("rough", 4)
	m.Bound = nil
	for i := range m.Calibration {
		m.Calibration[i].Coefficient[model.CovariateRoughness] = nil
	}
	q := query(rng, m, 3)
	predict := func(q *estimator.Query) *estimator.Prediction {
		p, err := estimator.New(m, []float64{H / 4, H})
		if err != nil {
			t.Fatal(err)
		}
		dst := p.NewPrediction()
		dst.Covariates = make([]float64, 2*m.K*int(model.Covariates))
		if !p.Predict(dst, q) {
			t.Fatal("not finite")
		}
		return dst
	}
	without := q
	without.History = nil
	plain, noHistory := predict(&q), predict(&without)
	const b = 0.7
	for i := range m.Calibration {
		m.Calibration[i].Coefficient[model.CovariateRoughness] = []float64{b, b, b, b}
	}
	for j, want := range plain.ObsStd {
		x := plain.Covariates[j*int(model.Covariates)+int(model.CovariateRoughness)] - m.Calibration[0].Centre[model.CovariateRoughness]
		if j >= m.K && plain.Covariates[j*int(model.Covariates)+int(model.CovariateRoughness)] != 0 {
			t.Errorf("place %d: the roughness counts at the horizon", j)
		}
		if got := predict(&q).ObsStd[j]; math.Abs(got-want*math.Exp(b*x)) > 1e-9*got {
			t.Errorf("place %d: %v, expected %v", j, got, want*math.Exp(b*x))
		}
		if got := predict(&without).ObsStd[j]; got != noHistory.ObsStd[j] {
			t.Errorf("place %d without history: %v, without the covariate %v", j, got, noHistory.ObsStd[j])
		}
	}
}

// Beyond the bounds of the calibration intervals grow with distance and leverage by coefficients of all channels.
func TestCovariatesBeyondBounds(t *testing.T) {
	m, rng := make1("rough", 5)
	m.Bound = nil
	q := query(rng, m, 3)
	for i := range m.Calibration {
		m.Calibration[i].Most, m.Calibration[i].Further = nil, nil
	}
	p := predict(t, m, []float64{H}, q)
	further := []float64{0, 0.3}
	most := []float64{0.5 * math.Log1p(p.Distance), 0.5 * math.Log1p(p.Leverage)}
	for i := range m.Calibration {
		m.Calibration[i].Most, m.Calibration[i].Further = most, further
	}
	bounded := predict(t, m, []float64{H}, q)
	for k := range m.K {
		log := 0.0
		for j, x := range most {
			log += (further[j] - m.Calibration[0].Coefficient[j][k]) * x // the other half is beyond
		}
		if got, want := bounded.ObsStd[k], p.ObsStd[k]*math.Exp(log); math.Abs(got-want) > 1e-9*want {
			t.Errorf("channel %d: %v, expected %v", k, got, want)
		}
	}
	if bounded.Leverage != p.Leverage || bounded.Distance != p.Distance {
		t.Error("the measures themselves are bounded")
	}
}
