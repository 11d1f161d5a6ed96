package estimator_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/modeltest"
	"github.com/dgm-robotics/dgm/estimator/ood"
)

// shapes that between them have everything a model can have.
var shapes = map[string]modeltest.Shape{
	"windows":    {K: 4, P: 2, F: 10, Basis: 2, Members: 3, Refits: 2, Readouts: 2, ScaleFactor: true, Velocity: true},
	"calibrated": {K: 4, P: 2, F: 10, Basis: 2, Members: 3, Readouts: 2, Calibrated: true, Prior: 2},
	"filtered":   {K: 4, P: 1, F: 8, Members: 2, Readouts: 2, Calibrated: true, Filtered: true, Prior: 1},
	"prior":      {K: 4, P: 1, F: 6, Members: 2, Readouts: 2, Velocity: true, Prior: 3},
	"alone":      {K: 3, F: 8, Members: 2},
	"exact":      {K: 2, P: 1, Exact: 12, Basis: 1, Readouts: 2, Velocity: true},
	"paper":      {K: 3, F: 10, Members: 2, Paper: true},
	"net":        {K: 4, P: 1, F: 6, Readouts: 2, Prior: 2, Nets: 1},
	"stack":      {K: 4, P: 2, F: 6, Readouts: 2, ScaleFactor: true, Prior: 1, Nets: 1, Direct: true, History: 3},
	"range":      {K: 4, P: 2, F: 6, Readouts: 2, Calibrated: true, Prior: 1, Nets: 2, Direct: true, History: 3, Range: true},
	"change":     {K: 4, P: 2, F: 6, Readouts: 2, Calibrated: true, Prior: 1, Nets: 2, Direct: true, History: 3, Range: true, Change: true},
	"bounded":    {K: 4, P: 2, F: 6, Readouts: 2, Calibrated: true, Prior: 1, Nets: 2, Direct: true, Bounded: true, History: 3},
	"residual":   {K: 4, P: 2, F: 6, Readouts: 2, Calibrated: true, Prior: 1, Nets: 2, Direct: true, Residual: true, Bounded: true, History: 3, Range: true, Change: true},
	"dry":        {K: 4, P: 2, F: 6, Readouts: 2, Calibrated: true, Prior: 2, Dry: true, Nets: 2, Direct: true, Residual: true, History: 3},
	"members":    {K: 4, P: 1, F: 6, Readouts: 2, Calibrated: true, Prior: 1, Nets: 3, Direct: true},
	"rough":      {K: 4, P: 1, F: 6, Readouts: 2, Calibrated: true, Prior: 1, Direct: true, History: 6},
	"direct":     {K: 3, F: 6, Prior: 1, Direct: true},
	"late":       {K: 4, P: 2, F: 6, Readouts: 2, Calibrated: true, Prior: 2, Nets: 2, Direct: true, History: 6, Late: true},
	"late alone": {K: 3, P: 2, F: 6, Readouts: 2, Prior: 1, Late: true},
	"chain":      {K: 4, P: 1, F: 6, Readouts: 2, Calibrated: true, Prior: 1, Nets: 2, Chain: true},
}

const H = modeltest.Horizon

func make1(name string, seed uint64) (*model.Model, *rand.Rand) {
	rng := rand.New(rand.NewPCG(seed, 1))
	m := modeltest.New(shapes[name], rng)
	m.OODExponent, m.RMSDisplacement = nil, ood.RMSDisplacement{} // have tests of their own
	return m, rng
}

func normal(rng *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = rng.NormFloat64()
	}
	return out
}

// grid returns n equal steps up to the horizon.
func grid(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = H * float64(i+1) / float64(n)
	}
	return out
}

func newPredictor(t testing.TB, m *model.Model, times []float64) *estimator.Predictor {
	t.Helper()
	p, err := estimator.New(m, times)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func predict(t testing.TB, m *model.Model, times []float64, q estimator.Query) *estimator.Prediction {
	t.Helper()
	p := newPredictor(t, m, times)
	dst := p.NewPrediction().WithDerivatives()
	if !p.Predict(dst, &q) {
		t.Fatal("not finite")
	}
	return dst
}

// query draws a start state, a history where the model reads one, and, for a robot with
// inputs, a plan of rows rows.
func query(rng *rand.Rand, m *model.Model, rows int) estimator.Query {
	q := estimator.Query{X0: normal(rng, m.K)}
	if n := m.History.Rows(); n > 0 {
		q.History = normal(rng, n*(m.K+m.P))
	}
	if m.P > 0 {
		q.U, q.Plan = normal(rng, m.P), normal(rng, rows*m.P)
	}
	return q
}

func TestPredictDoesNotAllocate(t *testing.T) {
	all := maps.Clone(shapes)
	all["twelve states"] = modeltest.Shape{K: 12, P: 4, Core: []int{32, 32}, D: 5, F: 20, Basis: 2, Knots: 5, Members: 2, Refits: 1, Readouts: 2, Prior: 2}
	for name, s := range all {
		m := modeltest.New(s, rand.New(rand.NewPCG(1, 1)))
		p := newPredictor(t, m, grid(100))
		plain, all := p.NewPrediction(), p.NewPrediction().WithDerivatives()
		q := query(rand.New(rand.NewPCG(2, 2)), m, 10)
		certain := q
		certain.P0 = make([]float64, m.K*m.K)
		hold, bad := estimator.Query{X0: q.X0, U: q.U}, estimator.Query{X0: nan(m.K)}
		for what, run := range map[string]func() bool{
			"plan":              func() bool { return p.Predict(plain, &q) },
			"hold":              func() bool { return p.Predict(plain, &hold) },
			"covariance":        func() bool { return p.Predict(plain, &certain) },
			"derivatives":       func() bool { return p.Predict(all, &q) },
			"all of it":         func() bool { return p.Predict(all, &certain) },
			"what is no number": func() bool { return !p.Predict(plain, &bad) },
		} {
			if a := testing.AllocsPerRun(2, func() {
				if !run() {
					t.Errorf("%s, %s: not as expected", name, what)
				}
			}); a != 0 {
				t.Errorf("%s, %s: %v allocations", name, what, a)
			}
		}
	}
}

func nan(n int) []float64 {
	out := make([]float64, n)
	out[n-1] = math.NaN()
	return out
}

// A prediction depends on its query alone, whatever was asked before it.
func TestPredictIsStateless(t *testing.T) {
	for name := range shapes {
		m, rng := make1(name, 3)
		p := newPredictor(t, m, grid(7))
		q, other := query(rng, m, 4), query(rng, m, 3)
		other.P0 = make([]float64, m.K*m.K)
		other.P0[0] = 3
		first, again := p.NewPrediction(), p.NewPrediction()
		p.Predict(first, &q)
		p.Predict(p.NewPrediction().WithDerivatives(), &other)
		p.Predict(p.NewPrediction(), &estimator.Query{X0: nan(m.K)})
		p.Predict(again, &q)
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestPredictionStartsAtTheState(t *testing.T) {
	for _, name := range []string{"windows", "prior", "alone", "exact"} {
		m, rng := make1(name, 4)
		m.ScaleFactor = nil
		q := query(rng, m, 5)
		got := predict(t, m, []float64{1e-15 * H}, q)
		for k, x := range q.X0 {
			if math.Abs(got.Mean[k]-x) > 1e-6 {
				t.Errorf("%s: channel %d starts at %v, the state is %v", name, k, got.Mean[k], x)
			}
			// Only noise is left: σ²(0) − R of the state, σ²(0) of a measurement.
			s2 := 0.0
			for i := range m.Members {
				s2 += math.Exp(2*m.Members[i].At(got.Readout).LogSigma[k*len(m.NoiseKnots)]) / float64(len(m.Members))
			}
			s2 *= m.Scale[k] * m.Scale[k]
			near(t, name+": obs_std", got.ObsStd[k], math.Sqrt(s2), 1e-6)
			near(t, name+": std", got.Std[k], math.Sqrt(math.Max(0, s2-m.Sensor[k])), 1e-4)
		}
	}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*(1+math.Abs(want))) {
		t.Errorf("%s: %v, expected %v", what, got, want)
	}
}

// A change of the plan from row r on leaves everything up to its start as it is,
// to the last bit.
func TestLaterInputsDoNotChangeEarlierStates(t *testing.T) {
	for _, shape := range []string{"windows", "prior"} {
		m, rng := make1(shape, 5)
		const rows = 5
		times := grid(50)
		q := query(rng, m, rows)
		before := predict(t, m, times, q)
		for r := 1; r < rows; r++ {
			changed := q
			changed.Plan = append([]float64(nil), q.Plan...)
			copy(changed.Plan[r*m.P:], normal(rng, (rows-r)*m.P))
			after := predict(t, m, times, changed)
			for i, at := range times {
				early := i+1 <= r*len(times)/rows
				for j := i * m.K; j < (i+1)*m.K; j++ {
					same := before.Mean[j] == after.Mean[j] && before.Std[j] == after.Std[j] && before.ObsStd[j] == after.ObsStd[j]
					if same != early {
						t.Fatalf("%s: row %d changed: at %v s the prediction is the same: %v", shape, r, at, same)
					}
				}
			}
		}
	}
}

func TestHoldIsAPlanOfOneRow(t *testing.T) {
	s := shapes["windows"]
	s.Readouts, s.ScaleFactor = 1, false
	rng := rand.New(rand.NewPCG(6, 1))
	m := modeltest.New(s, rng)
	u, x0 := normal(rng, m.P), normal(rng, m.K)
	hold := predict(t, m, grid(9), estimator.Query{X0: x0, U: u})
	plan := predict(t, m, grid(9), estimator.Query{X0: x0, U: u, Plan: u})
	if hold.Readout != estimator.Hold || plan.Readout != estimator.Plan {
		t.Errorf("readouts %v and %v", hold.Readout, plan.Readout)
	}
	plan.Readout = estimator.Hold
	if diff := cmp.Diff(hold, plan); diff != "" {
		t.Error(diff)
	}
	mean := predict(t, m, grid(9), estimator.Query{X0: x0, U: m.Inputs.InputMean})
	if diff := cmp.Diff(mean, predict(t, m, grid(9), estimator.Query{X0: x0})); diff != "" {
		t.Errorf("an unknown input is not the mean one: %s", diff)
	}
}

// Each readout has a posterior of its own.
func TestReadoutsDiffer(t *testing.T) {
	m, rng := make1("windows", 7)
	u, x0 := normal(rng, m.P), normal(rng, m.K)
	hold := predict(t, m, grid(3), estimator.Query{X0: x0, U: u})
	plan := predict(t, m, grid(3), estimator.Query{X0: x0, Plan: u})
	for j := range hold.Mean {
		if hold.Mean[j] == plan.Mean[j] || hold.Std[j] == plan.Std[j] {
			t.Fatal("the readouts share a posterior")
		}
	}
}

func TestDerivativeIsThatOfTheMean(t *testing.T) {
	const h = 1e-6
	for name := range shapes {
		m, rng := make1(name, 8)
		q := query(rng, m, 1) // steps at the knots only: at thirds of the horizon
		for _, at := range []float64{0.11 * H, 0.4 * H, 0.9 * H} {
			got := predict(t, m, []float64{at, at + h, at - h}, q)
			for k := range m.K {
				want := (got.Mean[m.K+k] - got.Mean[2*m.K+k]) / (2 * h)
				// Rounding 1e-16/h, truncation h².
				near(t, name, got.DMean[k], want, 1e-7)
				if !(got.DStd[k] > 0) {
					t.Errorf("%s: std of the derivative is %v", name, got.DStd[k])
				}
			}
		}
	}
}

func TestSelfCheckRefusesAnotherModel(t *testing.T) {
	for name := range shapes {
		m, rng := make1(name, 12)
		m.Refits = nil // they can hide a member's variance
		q := query(rng, m, 3)
		got := predict(t, m, []float64{H / 3, H}, q)
		m.Checks = []model.SelfCheck{{Readout: got.Readout, X0: q.X0, U: q.U, Plan: q.Plan, History: q.History, Times: got.Times, Mean: got.Mean, Std: got.Std, ObsStd: got.ObsStd}}
		if _, err := estimator.New(m, nil); err != nil {
			t.Fatalf("%s: the model does not know itself: %v", name, err)
		}
		w := m.Members[0].At(got.Readout).Weights[1]
		numbers := map[string]*float64{
			"weight": &w[0], "core": &m.Members[0].Map.Core.Layers[0].W[3], "factor": &m.Members[0].At(got.Readout).InverseFactor[0][5],
			"scale": &m.Scale[1], "noise": &m.Members[0].At(got.Readout).LogSigma[len(m.NoiseKnots)-1],
		}
		if e := model.EquationOf(m.Stack); e != nil {
			numbers["prior"] = &e.Weights[1]
		}
		for what, v := range numbers {
			was := *v
			*v += 0.01
			_, err := estimator.New(m, nil)
			if err == nil || !strings.Contains(err.Error(), "self-check 0") {
				t.Errorf("%s: another %s: %v", name, what, err)
			}
			*v = was * (1 + 1e-13) // another processor's rounding
			if _, err := estimator.New(m, nil); err != nil {
				t.Errorf("%s: %s is rounded: %v", name, what, err)
			}
			*v = was
		}
	}
}

// A member without an inverse factor gives its mean only: the variance is that of
// the others, and its distance from them counts as spread.
func TestMembersOfWhichOnlyTheMeanCounts(t *testing.T) {
	m, rng := make1("windows", 41)
	q := query(rng, m, 2)
	m.Checks = nil
	m.Refits = nil
	first := m.Members[0]
	twin := first
	twin.Posterior = slices.Clone(first.Posterior)
	for r := range twin.Posterior {
		twin.Posterior[r].InverseFactor = nil
	}
	m.Members = []model.Member{first}
	alone := predict(t, m, grid(5), q)
	m.Members = []model.Member{first, twin}
	if diff := cmp.Diff(alone, predict(t, m, grid(5), q), cmpopts.EquateApprox(1e-12, 1e-15)); diff != "" {
		t.Errorf("a twin changes the prediction: %s", diff)
	}
	for r := range twin.Posterior {
		twin.Posterior[r].Weights = slices.Clone(first.Posterior[r].Weights)
		for k := range m.K {
			twin.Posterior[r].Weights[k] = normal(rng, len(first.Posterior[r].Weights[k]))
		}
	}
	apart := predict(t, m, grid(5), q)
	for j := range apart.Std {
		if apart.Std[j] <= alone.Std[j] || apart.DStd[j] <= alone.DStd[j] {
			t.Fatal("another mean adds no spread")
		}
	}
}
