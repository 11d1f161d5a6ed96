package estimator_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/modeltest"
	"github.com/dgm-robotics/dgm/estimator/ood"
)

// std² = v + max(0, σ²(t) − R) and obs_std² = v + σ²(t), whatever the sensor's R: less
// than all noise there is, or more.
func TestSensorAndStateAreDistinguished(t *testing.T) {
	shape := shapes["windows"]
	shape.Members = 1 // σ²(t) is then that of one
	rng := rand.New(rand.NewPCG(24, 1))
	m := modeltest.New(shape, rng)
	m.OODExponent, m.RMSDisplacement, m.ScaleFactor = nil, ood.RMSDisplacement{}, nil
	q, times := query(rng, m, 3), []float64{0.02 * H, 0.1 * H, 0.4 * H, H}
	K, Q := m.K, len(m.NoiseKnots)

	logSigma := m.Members[0].Posterior[estimator.Plan].LogSigma
	noise, weights := make([]float64, len(times)*K), make([]float64, Q) // σ²(t), state units
	for i, at := range times {
		model.KnotWeights(weights, m.NoiseKnots, at/H)
		for k := range K {
			ls := 0.0
			for q, w := range weights {
				ls += w * logSigma[k*Q+q]
			}
			noise[i*K+k] = math.Exp(2*ls) * m.Scale[k] * m.Scale[k]
		}
	}
	known := append([]float64(nil), logSigma...)
	for j := range logSigma {
		logSigma[j] = -300
	}
	v := predict(t, m, times, q).Std // without noise it is the posterior's alone
	copy(logSigma, known)

	capped := 0
	for _, share := range []float64{0, 0.3, 1, 3} {
		for k := range K {
			m.Sensor[k] = share * noise[2*K+k]
		}
		got := predict(t, m, times, q)
		for j, s2 := range noise {
			r := m.Sensor[j%K]
			if r > s2 {
				capped++
			}
			near(t, "std²", got.Std[j]*got.Std[j], v[j]*v[j]+math.Max(0, s2-r), 1e-11)
			near(t, "obs_std²", got.ObsStd[j]*got.ObsStd[j], v[j]*v[j]+s2, 1e-11)
			if share == 0 && got.Std[j] != got.ObsStd[j] {
				t.Error("std and obs_std differ though nothing is known of the sensor")
			}
		}
	}
	if capped == 0 {
		t.Error("no sensor has more noise than there is: the bound was not tried")
	}
}

// Where a filter estimates a state, σ²(t) and the factor of a calibration are of the state alone: ObsStd² = Std² + R.
func TestMeasurementOfAFilteredState(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 1))
	m := modeltest.New(shapes["filtered"], rng)
	got := predict(t, m, []float64{0.02 * H, 0.4 * H, H}, query(rng, m, 3))
	for j, std := range got.Std {
		if k := j % m.K; k < 2 {
			near(t, "the sensor's part", got.ObsStd[j]*got.ObsStd[j]-std*std, m.Sensor[k], 1e-9)
		}
	}
}

// What is carried from an uncertain start was not calibrated: a calibration factor
// below 1 leaves it as it is, one above 1 widens it with the rest.
func TestScaleFactorNeverNarrowsCarriedUncertainty(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 1))
	m := modeltest.New(shapes["windows"], rng)
	m.OODExponent, m.RMSDisplacement = nil, ood.RMSDisplacement{}
	without, times := query(rng, m, 3), []float64{0.02 * H, 0.1 * H, 0.4 * H, H}
	with := without
	with.P0 = covariance(rng, m.K)
	carried := func(factor float64) []float64 {
		m.ScaleFactor = nil
		if factor != 1 {
			one := make([]float64, m.K*len(m.NoiseKnots))
			for i := range one {
				one[i] = factor
			}
			m.ScaleFactor = [][]float64{one, one}
		}
		a, b := predict(t, m, times, without), predict(t, m, times, with)
		out := make([]float64, len(a.Std))
		for j := range out {
			out[j] = b.Std[j]*b.Std[j] - a.Std[j]*a.Std[j]
			near(t, "in a measurement's interval", b.ObsStd[j]*b.ObsStd[j]-a.ObsStd[j]*a.ObsStd[j], out[j], 1e-9)
		}
		return out
	}
	plain, narrow, wide := carried(1), carried(0.3), carried(2)
	for j, v := range plain {
		if v < 1e-3 {
			t.Fatalf("number %d: %v is carried, too little to see", j, v)
		}
		near(t, "with a factor of 0.3", narrow[j], v, 1e-9)
		near(t, "with a factor of 2", wide[j], 4*v, 1e-9)
	}
}
