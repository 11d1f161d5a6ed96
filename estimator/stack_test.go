package estimator_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/modeltest"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// priorOf returns the prior dynamics of some components of a model's stack, started. The
// first of them counts whole.
func priorOf(m *model.Model, q estimator.Query, components ...model.Component) *estimator.PriorDynamics {
	components[0].Weights, components[0].Near, components[0].Far = nil, 0, 0
	b := estimator.NewPriorDynamics(m.Channels[:m.K], m.P, estimator.PriorDynamicsSpec{
		Stack: components, History: m.History, Knots: m.NoiseKnots, Horizon: m.Horizon, Lift: &m.Inputs.Lift, OOD: &m.OOD,
	})
	u, r := &feature.Plan{Values: q.U, P: m.P, Step: m.Horizon}, estimator.Hold
	if len(q.Plan) > 0 {
		u, r = &feature.Plan{Values: q.Plan, P: m.P, Step: m.Horizon / float64(len(q.Plan)/m.P)}, estimator.Plan
	}
	b.Start(q.X0, u, r, q.History)
	return b
}

func at(b *estimator.PriorDynamics, K int, t float64) (d, rate []float64) {
	d, rate = make([]float64, K), make([]float64, K)
	b.At(d, rate, t)
	return d, rate
}

// A stack is the first component and, by the weights of the condition, the distances of the
// others from it.
func TestStackIsTheWeightedSum(t *testing.T) {
	for _, name := range []string{"stack", "residual"} {
		t.Run(name, func(t *testing.T) { stackIsTheWeightedSum(t, name) })
	}
}

func stackIsTheWeightedSum(t *testing.T, name string) {
	m, rng := make1(name, 81)
	for i := range m.Stack {
		m.Stack[i].Near, m.Stack[i].Far = 0, 0
	}
	Q := len(m.NoiseKnots)
	for _, c := range []struct {
		history, rows int
		noHistory     bool
		condition     model.Condition
	}{{3, 4, false, 0}, {3, 0, false, 1}, {2, 4, true, 2}, {0, 0, true, 3}, {5, 4, false, 0}} {
		q := query(rng, m, c.rows)
		q.History = normal(rng, c.history*(m.K+m.P))
		got := predict(t, m, grid(4), q)
		if got.NoHistory != c.noHistory {
			t.Errorf("%d rows of history: reported as missing %v", c.history, got.NoHistory)
		}
		whole := priorOf(m, q, slices.Clone(m.Stack)...)
		for _, tau := range m.NoiseKnots[1:] {
			knot := slices.Index(m.NoiseKnots, tau)
			sum, _ := at(whole, m.K, tau*m.Horizon)
			first, _ := at(priorOf(m, q, m.Stack[0]), m.K, tau*m.Horizon)
			for k := range m.K {
				want := first[k]
				for _, other := range m.Stack[1:] {
					d, _ := at(priorOf(m, q, other), m.K, tau*m.Horizon)
					if w := other.Weights[c.condition][k*Q+knot]; other.Residual {
						want += w * d[k]
					} else {
						want += w * (d[k] - first[k])
					}
				}
				near(t, fmt.Sprintf("condition %d", c.condition), sum[k], want, 1e-12)
			}
		}
		if whole.Condition() != c.condition {
			t.Errorf("condition %d, want %d", whole.Condition(), c.condition)
		}
	}
}

// The members of a component are averaged; their variance, and the distances of the
// components from their weighted sum, are the spread.
func TestMembersAreAveraged(t *testing.T) {
	m, rng := make1("members", 82)
	q := query(rng, m, 3)
	nets := m.Stack[2]
	nets.Weights = nil
	whole := priorOf(m, q, nets)
	for _, when := range grid(3) {
		mean, rate := at(whole, m.K, when)
		for k, spread := range whole.Spread() {
			n := float64(len(nets.Members))
			sum, squares, rates := 0.0, 0.0, 0.0
			for i := range nets.Members {
				d, dd := at(priorOf(m, q, model.Component{Members: nets.Members[i : i+1]}), m.K, when)
				sum, squares, rates = sum+d[k]/n, squares+d[k]*d[k]/n, rates+dd[k]/n
			}
			near(t, "mean", mean[k], sum, 1e-12)
			near(t, "rate", rate[k], rates, 1e-11)
			near(t, "spread", spread*spread, squares-sum*sum, 1e-12)
		}
	}
}

// Components count whole up to Near and not at all from Far on, by leverage or, without a
// direct map, by distance; between, the Jacobian includes the fade.
func TestComponentsFade(t *testing.T) {
	for _, name := range []string{"stack", "prior"} {
		m, rng := make1(name, 83)
		q := query(rng, m, 2)
		plain := priorOf(m, q, slices.Clone(m.Stack)...)
		measure := plain.StartLeverage()
		if name == "prior" {
			measure = predict(t, m, grid(1), q).Distance
		}
		if !(measure > 0) {
			t.Fatalf("%s: measure %v", name, measure)
		}
		last := len(m.Stack) - 1
		for i := range m.Stack {
			m.Stack[i].Near, m.Stack[i].Far = 0, 0
		}
		faded := func(near, far float64) []float64 {
			m.Stack[last].Near, m.Stack[last].Far = near, far
			return predict(t, m, grid(5), q).Mean
		}
		whole, inside, outside := faded(0, 0), faded(1.01*measure, 2*measure), faded(0.5*measure, 0.99*measure)
		for i := range m.Stack[last].Weights {
			m.Stack[last].Weights[i] = slices.Clone(m.Stack[last].Weights[i])
			clear(m.Stack[last].Weights[i])
		}
		without := faded(0, 0)
		if !slices.Equal(whole, inside) || !slices.Equal(without, outside) || slices.Equal(whole, without) {
			t.Errorf("%s: whole %v\ninside %v\noutside %v\nwithout %v", name, whole[:3], inside[:3], outside[:3], without[:3])
		}
		m, rng = make1(name, 83)
		query(rng, m, 2)
		m.Stack[last].Near, m.Stack[last].Far = 0.6*measure, 1.7*measure
		prior := priorOf(m, q, slices.Clone(m.Stack)...)
		m.NetworkWeight = [][]float64{make([]float64, m.K*len(m.NoiseKnots)), make([]float64, m.K*len(m.NoiseKnots))}
		J := jacobian(t, m, grid(3), q)
		column := make([]float64, m.K)
		for c := range m.K {
			prior.JVP(c)
			for i, when := range grid(3) {
				prior.JVPAt(column, when)
				for k, v := range column {
					want := J[i][k*m.K+c]
					if k == c {
						want-- // the start itself
					}
					near(t, name+": Jacobian", v, want, 1e-6)
				}
			}
		}
	}
}

// A small file can ask for the memory of a large computer: it is refused, or predicted by
// the plain predictor.
func TestMemoryOfAStackIsBounded(t *testing.T) {
	m := modeltest.New(modeltest.Shape{K: 40, P: 1, F: 2, Prior: 1}, rand.New(rand.NewPCG(84, 1)))
	e := m.Stack[0].Members[0]
	e.Step = m.Horizon / 9999
	m.Stack[0].Members = slices.Repeat([]priordynamics.Model{e}, 12)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := estimator.NewFastOn(m, nil, simd.Best())
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 1<<30 {
		t.Errorf("%d MB were taken", taken>>20)
	}
	if err != nil || f.Unit() != "plain" {
		t.Errorf("predicted by %s, %v", f.Unit(), err)
	}
}
