package estimator_test

import (
	"math"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/ood"
)

// All intervals grow by the factor of the start's distance, each readout with its
// own power, and outside of the data with the root of the
// score, up to ten times; the mean stays.
func TestIntervalsGrowWithDistance(t *testing.T) {
	m, rng := make1("windows", 61)
	inside, beyond, far := 0, 0, 0
	for _, x0 := range [][]float64{normal(rng, m.K), {3, 12, 3, -2}, {5, 40, 3, -2}, {50, 4000, 30, -20}} {
		plan := estimator.Query{X0: x0[:m.K], Plan: normal(rng, m.P)}
		hold := estimator.Query{X0: x0[:m.K], U: plan.Plan}
		for r, q := range []estimator.Query{plan, hold} {
			m.OODExponent = nil
			want := predict(t, m, grid(4), q)
			m.OODExponent = []float64{0.4, 1.1}
			got := predict(t, m, grid(4), q)
			factor := m.OOD.DistanceFactor(got.Distance, m.OODExponent[r])
			switch {
			case got.OOD <= 1:
				inside++
			case got.OOD <= 100:
				factor *= math.Sqrt(got.OOD)
				beyond++
			default:
				factor *= 10
				far++
			}
			for j := range got.Std {
				near(t, "mean", got.Mean[j], want.Mean[j], 0)
				near(t, "std", got.Std[j], factor*want.Std[j], 1e-13)
				near(t, "obs_std", got.ObsStd[j], factor*want.ObsStd[j], 1e-13)
			}
			if x0[1] >= 40 && factor < 1.5 {
				t.Errorf("readout %v: factor %v far away", model.Readout(r), factor)
			}
		}
	}
	if inside == 0 || beyond == 0 || far == 0 {
		t.Errorf("%d inside, %d beyond, %d far beyond: one was not tried", inside, beyond, far)
	}
}

// Intervals at a time grow by the factor of the motion until then, each readout with
// its own power; the mean stays. It is that of the base, whatever other times the
// prediction is asked for.
func TestIntervalsGrowWithMotion(t *testing.T) {
	m, rng := make1("windows", 63)
	base := estimator.PriorDynamicsOf(m)
	at, slope := make([]float64, m.K), make([]float64, m.K)
	usual, times := ood.RMSDisplacement{Min: 0.3, Max: 3, Exponent: []float64{0.4, 1.1}}, grid(4)
	for range m.K * len(m.NoiseKnots) {
		usual.Typical = append(usual.Typical, 0.1+rng.Float64())
	}
	for _, size := range []float64{0.1, 1, 5} {
		x0, u := normal(rng, m.K), normal(rng, m.P)
		for k := range x0 {
			x0[k] *= size
		}
		rms := ood.NewRunningRMS(&usual, m.NoiseKnots)
		base.Start(x0, &feature.Plan{Values: u, P: m.P, Step: m.Horizon}, estimator.Plan, nil)
		for q, tau := range m.NoiseKnots {
			base.At(at, slope, tau*m.Horizon)
			rms.Knot(q, at)
		}
		for r, q := range []estimator.Query{{X0: x0, Plan: u}, {X0: x0, U: u}} {
			m.RMSDisplacement = ood.RMSDisplacement{}
			want := predict(t, m, times, q)
			m.RMSDisplacement = usual
			got := predict(t, m, times, q)
			for i, at0 := range got.Times {
				base.At(at, slope, at0)
				near(t, "motion", got.RMSRatio[i], rms.Ratio(at0/m.Horizon, at), 1e-9)
				factor := usual.Factor(got.RMSRatio[i], r)
				for k := range m.K {
					j := i*m.K + k
					near(t, "mean", got.Mean[j], want.Mean[j], 0)
					near(t, "std", got.Std[j], factor*want.Std[j], 1e-13)
					near(t, "obs_std", got.ObsStd[j], factor*want.ObsStd[j], 1e-13)
				}
			}
			if few := predict(t, m, got.Times[1:2], q); few.RMSRatio[0] != got.RMSRatio[1] {
				t.Errorf("motion %v at fewer times, %v", few.RMSRatio[0], got.RMSRatio[1])
			}
		}
	}
}

// A held input counts as a planned one does, each within its own range: means of a plan
// spread less than samples do.
func TestScoreOfTheInput(t *testing.T) {
	m, _ := make1("windows", 62)
	m.OOD.Variance = 0
	x0 := make([]float64, m.K)
	m.OOD.Distance = 1e9 // no state is news
	m.OOD.Low, m.OOD.High = [][]float64{make([]float64, m.P), make([]float64, m.P)}, [][]float64{make([]float64, m.P), make([]float64, m.P)}
	for p := range m.P {
		m.OOD.Low[model.Plan][p], m.OOD.High[model.Plan][p] = -2, 2
		m.OOD.Low[model.Hold][p], m.OOD.High[model.Hold][p] = -8, 8
	}
	for _, c := range []struct {
		u    float64
		plan bool // is news in a plan
		hold bool
	}{{0, false, false}, {2, false, false}, {-2.8, false, false}, {3.2, true, false}, {11, true, false}, {-13, true, true}} {
		u := make([]float64, m.P)
		u[m.P-1] = c.u
		for _, q := range []estimator.Query{{X0: x0, U: u}, {X0: x0, Plan: u}} {
			want := c.hold
			if q.Plan != nil {
				want = c.plan
			}
			if got := predict(t, m, grid(2), q); got.OutOfDistribution != want {
				t.Errorf("input %v, %v: score %v", c.u, got.Readout, got.OOD)
			}
		}
	}
}
