package feature_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
)

func normal(rng *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = rng.NormFloat64()
	}
	return out
}

const horizon = 0.7

// inputs reads one angle, one rate and p commands.
func inputs(rng *rand.Rand, p, knots int) *feature.Inputs {
	in := &feature.Inputs{
		Horizon: horizon, TimeMean: horizon / 2, TimeStd: horizon / math.Sqrt(12), Knots: knots, Causal: true,
		Lift: channel.NewLift([]channel.Channel{{Role: channel.State, Period: channel.Angle}, {Role: channel.State}}),
	}
	for range p {
		in.InputMean = append(in.InputMean, rng.NormFloat64())
		in.InputStd = append(in.InputStd, 0.5+rng.Float64())
	}
	return in
}

func row(in *feature.Inputs, t float64, x0 []float64, u channel.Signal) (s, ds []float64) {
	s, ds = make([]float64, in.Dim()), make([]float64, in.Dim())
	in.Row(s, ds, t, x0, u, make([]float64, len(in.InputMean)))
	return s, ds
}

// integral of a plan of one input from 0 to t, the last row being held.
func integral(p *feature.Plan, t float64) float64 {
	s := 0.0
	for r, v := range p.Values {
		lo, hi := float64(r)*p.Step, float64(r+1)*p.Step
		if r == len(p.Values)-1 {
			hi = math.Inf(1)
		}
		if t > lo {
			s += v * (math.Min(t, hi) - lo)
		}
	}
	return s
}

func TestPlanMeanIsExactOnSteps(t *testing.T) {
	p := &feature.Plan{Values: []float64{1, 5, -2, 8}, P: 1, Step: 0.25}
	mean := make([]float64, 1)
	for _, c := range []struct{ a, b, want float64 }{
		{0, 0.25, 1}, {0.25, 0.5, 5}, {0, 1, 3}, {0.125, 0.375, 3}, {0.6, 0.7, -2}, {0.75, 3, 8}, {2, 3, 8}, {0.5, 1.25, (-2 + 8*2) / 3.0},
	} {
		p.Mean(mean, c.a, c.b)
		if !(math.Abs(mean[0]-c.want) <= 1e-14) {
			t.Errorf("mean over [%v, %v] is %v, expected %v", c.a, c.b, mean[0], c.want)
		}
	}
	two := &feature.Plan{Values: []float64{1, 10, 3, 30}, P: 2, Step: 1}
	both := make([]float64, 2)
	two.Mean(both, 0.5, 1.5)
	if both[0] != 2 || both[1] != 20 {
		t.Errorf("means of two inputs %v", both)
	}
	rapid.Check(t, func(t *rapid.T) {
		p := &feature.Plan{Values: rapid.SliceOfN(rapid.Float64Range(-10, 10), 1, 9).Draw(t, "plan"), P: 1, Step: rapid.Float64Range(0.01, 1).Draw(t, "step")}
		a := rapid.Float64Range(0, 5).Draw(t, "a")
		b := a + rapid.Float64Range(1e-3, 5).Draw(t, "length")
		p.Mean(mean, a, b)
		// The integrals reach 100, their difference is divided by 1e-3 at least.
		if want := (integral(p, b) - integral(p, a)) / (b - a); !(math.Abs(mean[0]-want) <= 1e-10) {
			t.Fatalf("mean %v, expected %v", mean[0], want)
		}
	})
}

func TestPlanAtAStepBelongsToIt(t *testing.T) {
	u := make([]float64, 1)
	p := &feature.Plan{P: 1, Step: horizon / 7}
	for i := range 7 {
		p.Values = append(p.Values, float64(i))
	}
	for i := range 7 {
		for _, at := range []float64{float64(i) * horizon / 7, float64(i) * p.Step, (float64(i) + 0.999) * p.Step} {
			if p.At(u, at); u[0] != float64(i) {
				t.Errorf("row %v at step %v, expected %d", u[0], at/p.Step, i)
			}
		}
	}
	for at, want := range map[float64]float64{-1: 0, horizon: 6, 100: 6} {
		if p.At(u, at); u[0] != want {
			t.Errorf("row %v at %v s, expected %v", u[0], at, want)
		}
	}
}

func TestKnotsAreCausal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		P, J, rows := rng.IntN(3)+1, rng.IntN(6)+1, rng.IntN(8)+1
		in := inputs(rng, P, J)
		x0 := normal(rng, 3)
		plan := &feature.Plan{Values: normal(rng, rows*P), P: P, Step: horizon / float64(rows)}
		r := rng.IntN(rows)
		changed := &feature.Plan{Values: append([]float64(nil), plan.Values...), P: P, Step: plan.Step}
		copy(changed.Values[r*P:], normal(rng, (rows-r)*P))
		at := float64(r) * plan.Step * rng.Float64()
		before, dBefore := row(in, at, x0, plan)
		after, dAfter := row(in, at, x0, changed)
		for i := range before {
			// At the change itself the slope is already the new one.
			if before[i] != after[i] || (r > 0 && dBefore[i] != dAfter[i]) {
				t.Fatalf("the plan changes at %v s, input %d at %v s changes from %v to %v", float64(r)*plan.Step, i, at, before[i], after[i])
			}
		}
	})
}

// For a plan of block values u_j a knot is u_j · clip(tJ/H − j, 0, 1).
func TestKnotsGrowThroughTheirBlock(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const J = 4
	in := inputs(rng, 2, J)
	x0 := normal(rng, 3)
	plan := &feature.Plan{Values: normal(rng, J*2), P: 2, Step: horizon / J}
	for i := range 101 {
		at := horizon * float64(i) / 100
		s, _ := row(in, at, x0, plan)
		if s[0] != in.Standard(at) || s[1] != x0[0] || s[3] != x0[2] {
			t.Fatalf("time and start state are %v", s[:4])
		}
		for j := range J {
			for p := range 2 {
				u := (plan.Values[2*j+p] - in.InputMean[p]) / in.InputStd[p]
				want := u * math.Min(math.Max(at*J/horizon-float64(j), 0), 1)
				if got := s[4+2*j+p]; !(math.Abs(got-want) <= 1e-12) {
					t.Errorf("knot %d of input %d at %v s is %v, expected %v", j, p, at, got, want)
				}
			}
		}
	}
	in.Causal = false
	for _, at := range []float64{0, 0.3, horizon} {
		s, ds := row(in, at, x0, plan)
		for i := range 2 * J {
			want := (plan.Values[i] - in.InputMean[i%2]) / in.InputStd[i%2]
			if !(math.Abs(s[4+i]-want) <= 1e-12) || ds[4+i] != 0 {
				t.Errorf("plain knot %d at %v s is %v with slope %v, expected %v", i, at, s[4+i], ds[4+i], want)
			}
		}
	}
}

func TestRowTangentIsTheDerivative(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	in := inputs(rng, 2, 3)
	x0 := normal(rng, 3)
	plan := &feature.Plan{Values: normal(rng, 5*2), P: 2, Step: horizon / 5}
	for _, at := range []float64{0.011, 0.1, 0.2, 0.25, 0.5, 0.69} { // between the steps of plan and knots
		_, ds := row(in, at, x0, plan)
		h := 1e-6
		a, _ := row(in, at+h, x0, plan)
		b, _ := row(in, at-h, x0, plan)
		for i := range ds {
			want := (a[i] - b[i]) / (2 * h) * in.TimeStd
			if !(math.Abs(ds[i]-want) <= 1e-8) { // linear in t: only rounding is left
				t.Errorf("input %d at %v s: tangent %v, difference %v", i, at, ds[i], want)
			}
		}
	}
	// At the ends the tangent is the one inside the horizon.
	_, first := row(in, 0, x0, plan)
	_, last := row(in, horizon, x0, plan)
	_, inside := row(in, horizon-1e-3, x0, plan)
	if first[4] == 0 || last[4+4] != inside[4+4] {
		t.Errorf("tangents of the knots at 0: %v, at the end: %v", first[4:], last[4:])
	}
}

func TestInputAtIsStandardised(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	in := inputs(rng, 2, 3)
	plan := &feature.Plan{Values: []float64{1, 2, 3, 4}, P: 2, Step: horizon / 2}
	u := make([]float64, 2)
	in.InputAt(u, horizon/2, plan)
	for p := range u {
		if want := (float64(3+p) - in.InputMean[p]) / in.InputStd[p]; u[p] != want {
			t.Errorf("input %d is %v, expected %v", p, u[p], want)
		}
	}
	in.InputAt(nil, 0, nil) // a robot without inputs
}
