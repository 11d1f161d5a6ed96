package estimator_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/modeltest"
)

func TestIdenticalMembersAreOne(t *testing.T) {
	for name := range shapes {
		m, rng := make1(name, 20)
		m.Members, m.Refits = m.Members[:1], nil
		q := query(rng, m, 3)
		one := predict(t, m, grid(5), q)
		m.Members = []model.Member{m.Members[0], m.Members[0], m.Members[0]}
		three := predict(t, m, grid(5), q)
		for j := range one.Mean {
			// A spread of zero is the difference of two sums: √1e-16.
			near(t, name+": mean", three.Mean[j], one.Mean[j], 1e-14)
			near(t, name+": std", three.Std[j], one.Std[j], 1e-7)
			near(t, name+": obs_std", three.ObsStd[j], one.ObsStd[j], 1e-7)
			near(t, name+": derivative", three.DMean[j], one.DMean[j], 1e-13)
			near(t, name+": its std", three.DStd[j], one.DStd[j], 1e-6)
		}
		near(t, name+": score", three.OOD, one.OOD, 1e-14)
	}
}

// mean = avg mean_e, var = avg v_e + avg (mean_e − mean)²: in the paper's form
// Std² is var itself.
func TestMembersSpreadIsAdded(t *testing.T) {
	s := shapes["paper"]
	s.Members = 4
	rng := rand.New(rand.NewPCG(21, 1))
	m := modeltest.New(s, rng)
	q := query(rng, m, 0)
	all := predict(t, m, grid(5), q)
	var each []*estimator.Prediction
	members := m.Members
	for i := range members {
		m.Members = members[i : i+1]
		each = append(each, predict(t, m, grid(5), q))
	}
	for j := range all.Mean {
		var mean, v, obs float64
		for _, e := range each {
			mean += e.Mean[j] / 4
		}
		for _, e := range each {
			spread := e.Mean[j] - mean
			v += (e.Std[j]*e.Std[j] + spread*spread) / 4
			obs += (e.ObsStd[j]*e.ObsStd[j] + spread*spread) / 4
		}
		near(t, "mean", all.Mean[j], mean, 1e-13)
		near(t, "std", all.Std[j], math.Sqrt(v), 1e-12)
		near(t, "obs_std", all.ObsStd[j], math.Sqrt(obs), 1e-12)
	}
}

func TestRefitsOnlyRaiseVariance(t *testing.T) {
	m, rng := make1("windows", 22)
	q := query(rng, m, 3)
	with := predict(t, m, grid(8), q)
	m.Refits = nil
	without := predict(t, m, grid(8), q)
	wider := 0
	for j := range with.Mean {
		if with.Mean[j] != without.Mean[j] {
			t.Fatal("refits move the mean")
		}
		if with.Std[j] < without.Std[j] || with.ObsStd[j] < without.ObsStd[j] {
			t.Fatal("refits narrow")
		}
		if with.Std[j] > without.Std[j] {
			wider++
		}
	}
	if wider == 0 {
		t.Error("the refits, which have nothing to do with the members, raise no variance")
	}
	m.Members = m.Members[:1]
	one := predict(t, m, grid(8), q)
	same := m.Members[0]
	m.Refits = []model.Member{same, same}
	again := predict(t, m, grid(8), q)
	for j := range one.Std {
		if one.Std[j] != again.Std[j] {
			t.Fatal("refits that say what the member says raise the variance")
		}
	}
}

func TestScaleFactorMultipliesBothStandardDeviations(t *testing.T) {
	m, rng := make1("windows", 23)
	q := query(rng, m, 3)
	times := []float64{0.05 * H, 0.1 * H, 0.3 * H, H}
	with := predict(t, m, times, q)
	factor := m.ScaleFactor
	m.ScaleFactor = nil
	without := predict(t, m, times, q)
	Q := len(m.NoiseKnots)
	weights := make([]float64, Q)
	for i, at := range times {
		model.KnotWeights(weights, m.NoiseKnots, at/H)
		for k := range m.K {
			want := 0.0
			for j, w := range weights {
				want += w * factor[estimator.Plan][k*Q+j]
			}
			j := i*m.K + k
			near(t, "std", with.Std[j]/without.Std[j], want, 1e-13)
			near(t, "obs_std", with.ObsStd[j]/without.ObsStd[j], want, 1e-13)
			if with.Mean[j] != without.Mean[j] || with.DStd[j] != without.DStd[j] {
				t.Error("calibration moves what it should not")
			}
		}
	}
	m.ScaleFactor = factor[:1] // of readout plan: hold has none
	hold := estimator.Query{X0: q.X0, U: q.U}
	a := predict(t, m, times, hold)
	m.ScaleFactor = nil
	if b := predict(t, m, times, hold); a.Std[0] != b.Std[0] {
		t.Error("a readout without a factor is widened")
	}
}

// The noise is linear in √τ between knots and constant beyond them; the weights
// sum to one.
func TestKnotWeights(t *testing.T) {
	knots := []float64{0.04, 0.25, 1}
	w := make([]float64, 3)
	for tau, want := range map[float64][3]float64{
		0: {1, 0, 0}, 0.04: {1, 0, 0}, 0.1225: {0.5, 0.5, 0}, 0.25: {0, 1, 0}, 0.5625: {0, 0.5, 0.5}, 1: {0, 0, 1}, 4: {0, 0, 1},
	} {
		model.KnotWeights(w, knots, tau)
		for i := range w {
			near(t, "weight", w[i], want[i], 1e-14)
		}
	}
	one := make([]float64, 1)
	for _, tau := range []float64{0, 0.5, 2} {
		if model.KnotWeights(one, []float64{0}, tau); one[0] != 1 {
			t.Errorf("weight of the only knot is %v", one[0])
		}
	}
}

// Members may differ in kernel, features, basis and nets.
func TestMembersOfAllKinds(t *testing.T) {
	m, rng := make1("windows", 24)
	for _, s := range []modeltest.Shape{
		{K: 4, P: 2, Exact: 9, Basis: 1, Readouts: 2, Velocity: true},
		{K: 4, P: 2, F: 4, Core: []int{5}, Readouts: 2, Velocity: true},
		{K: 4, P: 2, Basis: 3, Readouts: 2, Velocity: true},
	} {
		other := modeltest.New(s, rng)
		m.Members = append(m.Members, other.Members[0])
	}
	m.Refits = nil
	q := query(rng, m, 3)
	all := predict(t, m, grid(5), q)
	members := m.Members
	mean := make([]float64, len(all.Mean))
	for i := range members {
		m.Members = members[i : i+1]
		for j, v := range predict(t, m, grid(5), q).Mean {
			mean[j] += v / float64(len(members))
		}
	}
	for j := range mean {
		near(t, "mean", all.Mean[j], mean[j], 1e-13)
	}
}
