package estimator_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// jacobian returns ∂mean/∂x0 by central differences: [time][k*K+c].
func jacobian(t *testing.T, m *model.Model, times []float64, q estimator.Query) [][]float64 {
	t.Helper()
	const h = 1e-5
	p := newPredictor(t, m, times)
	plus, minus := p.NewPrediction(), p.NewPrediction()
	out := make([][]float64, len(times))
	for i := range out {
		out[i] = make([]float64, m.K*m.K)
	}
	x := append([]float64(nil), q.X0...)
	for c := range m.K {
		q.X0 = x
		x[c] += h
		p.Predict(plus, &q)
		x[c] -= 2 * h
		p.Predict(minus, &q)
		x[c] += h
		for i := range times {
			for k := range m.K {
				out[i][k*m.K+c] = (plus.Mean[i*m.K+k] - minus.Mean[i*m.K+k]) / (2 * h)
			}
		}
	}
	return out
}

// What a covariance adds is diag J (P0 − R) Jᵀ: to rounding where the input is held, and to 2 %
// where it changes within the steps of the prior dynamics, between whose nodes J is
// interpolated.
func TestStartUncertaintyIsCarriedThrough(t *testing.T) {
	for _, name := range []string{"windows", "prior", "net", "stack", "members", "direct", "alone", "exact"} {
		for rows, within := range map[int]float64{0: 1e-7, 3: 2e-2, 50: 2e-2} {
			m, rng := make1(name, 30)
			m.ScaleFactor, m.Calibration = nil, nil
			startUncertainty(t, fmt.Sprintf("%s, %d rows", name, rows), m, rng, query(rng, m, rows), within)
		}
	}
}

func startUncertainty(t *testing.T, name string, m *model.Model, rng *rand.Rand, q estimator.Query, within float64) {
	times, K := grid(6), m.K
	J := jacobian(t, m, times, q)
	without := predict(t, m, times, q)
	// P0 = R + a positive matrix, so that nothing is cut off at zero.
	root := normal(rng, K*K)
	extra := make([]float64, K*K)
	q.P0 = make([]float64, K*K)
	for a := range K {
		for b := range K {
			for c := range K {
				extra[a*K+b] += root[a*K+c] * root[b*K+c]
			}
		}
	}
	copy(q.P0, extra)
	for k := range K {
		q.P0[k*K+k] += m.Sensor[k]
	}
	with := predict(t, m, times, q)
	for i := range times {
		for k := range K {
			want := 0.0
			for a := range K {
				for b := range K {
					want += J[i][k*K+a] * extra[a*K+b] * J[i][k*K+b]
				}
			}
			j := i*K + k
			near(t, name+": added to std²", with.Std[j]*with.Std[j]-without.Std[j]*without.Std[j], want, within)
			near(t, name+": added to obs_std²", with.ObsStd[j]*with.ObsStd[j]-without.ObsStd[j]*without.ObsStd[j], want, within)
			if with.Mean[j] != without.Mean[j] || with.DMean[j] != without.DMean[j] || with.DStd[j] != without.DStd[j] {
				t.Fatalf("%s: a covariance moves the mean or the derivative", name)
			}
		}
	}
}

// A state with less uncertainty than its sensor noise narrows nothing: the noise
// of the horizon was learned with that sensor.
func TestCertainStartDoesNotNarrow(t *testing.T) {
	m, rng := make1("windows", 31)
	q := query(rng, m, 3)
	without := predict(t, m, grid(5), q)
	q.P0 = make([]float64, m.K*m.K)
	exact := predict(t, m, grid(5), q)
	for k := range m.K {
		q.P0[k*m.K+k] = m.Sensor[k]
	}
	sensor := predict(t, m, grid(5), q)
	for j, std := range without.Std {
		if exact.Std[j] < std {
			t.Fatalf("std %v with P0 = 0, %v without", exact.Std[j], std)
		}
		if sensor.Std[j] != std {
			t.Fatalf("std %v with P0 = R, %v without", sensor.Std[j], std)
		}
	}
}

// At the start the uncertainty of the state is that of x0.
func TestUncertaintyStartsAtP0(t *testing.T) {
	m, rng := make1("windows", 32)
	m.ScaleFactor = nil
	q := query(rng, m, 3)
	q.P0 = make([]float64, m.K*m.K)
	for k := range m.K {
		q.P0[k*m.K+k] = float64(100 * (k + 1))
	}
	got := predict(t, m, []float64{1e-12 * H}, q)
	for k := range m.K {
		near(t, "std", got.Std[k], math.Sqrt(q.P0[k*m.K+k]), 1e-5)
	}
}

// In the paper's form the start is exact.
func TestPaperFormTakesNoCovariance(t *testing.T) {
	m, rng := make1("paper", 33)
	q := query(rng, m, 0)
	without := predict(t, m, grid(4), q)
	q.P0 = normal(rng, m.K*m.K)
	with := predict(t, m, grid(4), q)
	for j := range with.Std {
		if with.Std[j] != without.Std[j] {
			t.Fatal("a covariance changes the std")
		}
	}
}

func TestScoreGrowsWithDistance(t *testing.T) {
	m, _ := make1("windows", 34)
	m.OOD.Variance = 0
	last := 0.0
	x0 := make([]float64, m.K)
	for i := range 12 {
		x0[1] = m.Inputs.Lift.Mean[2] + math.Pow(2, float64(i)) // a rate, beyond the mean
		got := predict(t, m, grid(3), estimator.Query{X0: x0})
		if i > 3 && got.OOD <= last {
			t.Errorf("score %v at %v, %v before", got.OOD, x0[1], last)
		}
		if got.OutOfDistribution != (got.OOD > 1) {
			t.Errorf("score %v, flag %v", got.OOD, got.OutOfDistribution)
		}
		last = got.OOD
	}
	if last < 100 {
		t.Errorf("score %v of a state a thousand deviations away", last)
	}
	// The position is invariant: it cannot be outside.
	near1 := predict(t, m, grid(3), estimator.Query{X0: make([]float64, m.K)})
	far := predict(t, m, grid(3), estimator.Query{X0: []float64{0, 0, 1e6, 0}})
	if near1.OOD != far.OOD {
		t.Errorf("score %v at one place, %v at another", near1.OOD, far.OOD)
	}
}

// The score is of the query, not of the times that were asked for; a plan counts.
func TestScoreDoesNotDependOnTheTimes(t *testing.T) {
	m, rng := make1("windows", 35)
	m.OOD.Variance = 0
	q := query(rng, m, 3)
	want := predict(t, m, grid(10), q).OOD
	for _, times := range [][]float64{{0.01 * H}, {H}, {0.5 * H, 0.1 * H}} {
		if got := predict(t, m, times, q).OOD; got != want {
			t.Errorf("score %v at times %v, expected %v", got, times, want)
		}
	}
	for i := range q.Plan {
		q.Plan[i] += 50
	}
	if got := predict(t, m, grid(10), q); !got.OutOfDistribution {
		t.Errorf("an unheard-of plan scores %v", got.OOD)
	}
}

// Far from all observations the posterior knows what the prior knew.
func TestVarianceRatioFlags(t *testing.T) {
	m, _ := make1("exact", 36)
	m.OOD.Distance = 0
	m.OOD.Variance = 0.5
	for i := range m.Members[0].Map.Head.Layers[0].B {
		m.Members[0].Map.Head.Layers[0].B[i] += 100 // moves z away from the observations
	}
	m.Members[0].Map.LogAmp[1], m.Members[0].Map.LogAmp[3] = -50, -50 // a basis knows everywhere
	got := predict(t, m, grid(3), estimator.Query{X0: make([]float64, m.K)})
	near(t, "score", got.OOD, 2, 1e-9)
	if !got.OutOfDistribution {
		t.Error("not flagged")
	}
}
