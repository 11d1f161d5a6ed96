package objective

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// random makes a problem with everything switched on that the windows form
// knows: gate, basis, amplitudes, causal knots, noise by horizon, missing
// measurements, a prior mean with a slope, a periodic and an invariant channel.
func random(seed uint64, exact, shared bool) (Spec, *Params, *Batch) {
	if shared {
		return randomOf(seed, exact, 17, 0)
	}
	return randomOf(seed, exact, 17, 9)
}

// randomOf has n observations and ns support points, 0 being the observations.
func randomOf(seed uint64, exact bool, n, ns int) (Spec, *Params, *Batch) {
	rng := rand.New(rand.NewPCG(seed, 7))
	const K, P, D, F, Q = 3, 1, 2, 12, 3
	states := []channel.Channel{
		{Name: "angle", Role: channel.State, Period: channel.Angle, Derivative: "rate"},
		{Name: "rate", Role: channel.State}, {Name: "position", Role: channel.State, Invariant: true},
	}
	in := &feature.Inputs{
		Horizon: 0.5, TimeMean: 0.25, TimeStd: 0.5 / math.Sqrt(12), Lift: channel.NewLift(states),
		Knots: 3, InputMean: []float64{0.2}, InputStd: []float64{0.8}, Causal: true,
	}
	basis := feature.Basis{Terms: 2}
	m := feature.NewMap(in.Dim(), K, D, F, []int{6, 4}, []mlp.Activation{mlp.Tanh, mlp.Sigmoid}, basis, true)
	m.DrawOmega(rng)
	p := Bind(m, mlp.New([]int{in.Lift.Dim() + P, 7, 2 * K}, []mlp.Activation{mlp.Tanh, mlp.Linear}), Q)
	for i := range p.Flat {
		p.Flat[i] = 0.6 * rng.NormFloat64()
	}
	from, to := p.Range("log sigma")
	for i := from; i < to; i++ {
		p.Flat[i] = -1 + 0.3*rng.NormFloat64()
	}
	b := NewBatch(&p.Map, in, Q, n, ns)
	scratch := make([]float64, P)
	plan := &feature.Plan{P: P, Step: 0.1, Values: make([]float64, 5)}
	fill := func(r *feature.Rows, rows int) {
		r.N = rows
		x0 := make([]float64, in.Lift.Dim())
		for i := range rows {
			for j := range x0 {
				x0[j] = rng.NormFloat64()
			}
			for j := range plan.Values {
				plan.Values[j] = rng.NormFloat64()
			}
			t := 0.01 + 0.48*rng.Float64()
			in.Row(r.S[i*in.Dim():(i+1)*in.Dim()], r.DS[i*in.Dim():(i+1)*in.Dim()], t, x0, plan, scratch)
			r.Fill(i, in, true, basis, t)
		}
	}
	fill(b.Obs, n)
	if ns > 0 {
		fill(b.Sup, ns)
	}
	for _, s := range [][]float64{b.Y, b.Base, b.SBase, b.SDBase, b.Origin, b.U} {
		for i := range s {
			s[i] = rng.NormFloat64()
		}
	}
	b.Y[4], b.Y[7] = math.NaN(), math.NaN()
	for i := range n {
		at := rng.Float64()
		b.Noise[i*Q], b.Noise[i*Q+1] = at, 1-at
	}
	b.C, b.Match = 1.7, 0.9
	// The dynamics starts from a difference equation of degree 3.
	eq := &priordynamics.Model{Step: 0.1, Degree: 3, Lift: in.Lift, UMean: []float64{0.1}, UStd: []float64{1.2}, Bound: []float64{9, 9, 9, 9}}
	eq.Weights = make([]float64, eq.Terms()*K)
	for i := range eq.Weights {
		eq.Weights[i] = 0.05 * rng.NormFloat64()
	}
	prior := &PriorDynamics{Model: eq, InputMean: in.InputMean, InputStd: in.InputStd, TimeStd: in.TimeStd}
	return Spec{Lift: in.Lift, Scale: []float64{0.7, 1.3, 2}, PriorDynamics: prior, DecayS: 0.3, DecayD: 0.2, Exact: exact}, p, b
}

// TestGradient compares the adjoint with central differences (Richardson's
// extrapolation of two steps) along random directions of every group.
func TestGradient(t *testing.T) {
	for _, exact := range []bool{false, true} {
		for _, shared := range []bool{true, false} {
			for _, match := range []bool{true, false} {
				t.Run(fmt.Sprintf("exact=%v,shared=%v,match=%v", exact, shared, match), func(t *testing.T) {
					spec, p, b := random(3, exact, shared)
					gradient(t, spec, p, b, match)
				})
			}
		}
	}
}

// Of more observations and support points than random features are conditioned on at a
// time.
func TestGradientOfManyRows(t *testing.T) {
	for _, x := range [][2]int{{450, 0}, {450, 400}, {17, 400}, {17, 30}} {
		t.Run(fmt.Sprintf("observations=%d,support=%d", x[0], x[1]), func(t *testing.T) {
			spec, p, b := randomOf(3, false, x[0], x[1])
			gradient(t, spec, p, b, true)
		})
	}
}

func gradient(t *testing.T, spec Spec, p *Params, b *Batch, match bool) {
	if !match {
		b.Match = 0
	}
	ns := 0
	if b.Sup != b.Obs {
		ns = b.Sup.N
	}
	o := New(spec, p, b.Obs.N, ns)
	grad := p.Like()
	if _, ok := o.Evaluate(grad, p, b); !ok {
		t.Fatal("evaluation failed")
	}
	value := func() float64 {
		parts, ok := o.Evaluate(nil, p, b)
		if !ok {
			t.Fatal("evaluation failed")
		}
		return parts.Total
	}
	rng := rand.New(rand.NewPCG(1, 2))
	start := append([]float64(nil), p.Flat...)
	for _, g := range p.Groups {
		if !match && g.Name == "dynamics" {
			continue // decay alone; covered by the case with matching
		}
		for range 3 {
			dir := make([]float64, g.To-g.From)
			want := 0.0
			for i := range dir {
				dir[i] = rng.NormFloat64()
				want += dir[i] * grad.Flat[g.From+i]
			}
			slope := func(h float64) float64 {
				for i, d := range dir {
					p.Flat[g.From+i] = start[g.From+i] + h*d
				}
				up := value()
				for i, d := range dir {
					p.Flat[g.From+i] = start[g.From+i] - h*d
				}
				down := value()
				copy(p.Flat, start)
				return (up - down) / (2 * h)
			}
			const h = 1e-4
			got := (4*slope(h/2) - slope(h)) / 3
			if d := math.Abs(got-want) / math.Max(math.Abs(want), 1e-3); !(d <= 1e-6) {
				t.Errorf("%s: adjoint %.10g, differences %.10g, relative %.1e", g.Name, want, got, d)
			}
		}
	}
}

// TestFeaturesApproachExact checks the law that ties both kernels together: with
// many features the objective's data term tends to the exact one.
func TestFeaturesApproachExact(t *testing.T) {
	data := func(F int, exact bool) float64 {
		spec, p, b := random(5, exact, true)
		b.Match = 0
		b.C = 1
		rng := rand.New(rand.NewPCG(uint64(F), 3))
		if !exact {
			m := p.Map
			m.F = F
			m.Omega = make([]float64, F/2*m.D)
			m.DrawOmega(rng)
			q := Bind(m, p.Dynamics, 3)
			copy(q.Flat, p.Flat)
			p = q
		}
		parts, ok := New(spec, p, b.Obs.N, 0).Evaluate(nil, p, b)
		if !ok {
			t.Fatal("evaluation failed")
		}
		return parts.Data
	}
	want := data(0, true)
	few, many := math.Abs(data(40, false)-want), math.Abs(data(1600, false)-want)
	if !(many <= few/2) || !(many <= 0.03*math.Abs(want)) {
		t.Errorf("distance to the exact kernel: %.3g with 40 features, %.3g with 1600 (exact %.4g)", few, many, want)
	}
}

// TestRepeatable checks that the bits of a gradient do not depend on GOMAXPROCS.
func TestRepeatable(t *testing.T) {
	spec, p, b := random(11, false, true)
	o := New(spec, p, b.Obs.N, 0)
	first, again := p.Like(), p.Like()
	a, _ := o.Evaluate(first, p, b)
	serial := New(spec, p, b.Obs.N, 0)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	c, _ := serial.Evaluate(again, p, b)
	if a.Total != c.Total {
		t.Errorf("total %v and %v", a.Total, c.Total)
	}
	for i := range first.Flat {
		if first.Flat[i] != again.Flat[i] {
			t.Fatalf("gradient %d: %v and %v", i, first.Flat[i], again.Flat[i])
		}
	}
}
