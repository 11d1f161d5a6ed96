package posterior_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/posterior"
)

func normal(rng *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = rng.NormFloat64()
	}
	return out
}

// example is a map evaluated on random rows, with residuals and precisions, of
// which every seventh row was not measured.
type example struct {
	m       feature.Map
	eval    *feature.Eval
	n       int
	r, prec []float64
}

func newExample(n, f int) *example {
	rng := rand.New(rand.NewPCG(1, 1))
	in := &feature.Inputs{Horizon: 1, TimeMean: 0.5, TimeStd: 0.3, Lift: channel.Identity(2)}
	e := &example{n: n, r: normal(rng, n)}
	e.m = feature.NewMap(in.Dim(), 2, 2, f, []int{5}, []mlp.Activation{mlp.Tanh}, feature.Basis{Terms: 2}, true)
	e.m.Core.Glorot(rng)
	e.m.Head.Glorot(rng)
	e.m.DrawOmega(rng)
	e.m.LogAmp = normal(rng, 4)
	rows := feature.NewRows(n, in, e.m.Basis)
	rows.N = n
	for i := range n {
		t := rng.Float64()
		copy(rows.S[i*3:], normal(rng, 3))
		rows.S[i*3], rows.DS[i*3] = in.Standard(t), 1
		rows.Fill(i, in, true, e.m.Basis, t)
		p := 50 * rng.Float64()
		if i%7 == 3 {
			p = 0
		}
		e.prec = append(e.prec, p)
	}
	e.eval = feature.NewEval(&e.m, n)
	e.m.Forward(e.eval, rows, true)
	return e
}

// phi returns the features of channel k.
func (e *example) phi(k int) []float64 { return e.features(k).Phi }

func (e *example) features(k int) *feature.Phi {
	p := feature.NewPhi(&e.m, e.n)
	e.m.RandomFeatures(p, e.eval, k)
	return p
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	// Condition numbers of A reach 1e4.
	if !(math.Abs(got-want) <= 1e-10*(1+math.Abs(want))) {
		t.Errorf("%s: %v, expected %v", what, got, want)
	}
}

// Conditioning in pieces of any size is conditioning at once, of more rows than the whole
// takes at a time, which says the same where they are support points of their own.
func TestPiecesAreTheWhole(t *testing.T) {
	const n = 450
	e := newExample(n, 12)
	T := e.m.Features()
	for k := range 2 {
		whole := posterior.NewRFF(&e.m, n, 0)
		if _, ok := whole.Condition(&e.m, e.eval, k, e.r, e.prec); !ok {
			t.Fatal("not conditioned")
		}
		mean, dmean, dvar := make([]float64, n), make([]float64, n), make([]float64, n)
		if !whole.At(e.eval, mean, dmean, dvar) {
			t.Fatal("no posterior")
		}
		own, sup := posterior.NewRFF(&e.m, n, n), *e.eval
		ownMean, ownDMean, ownDVar := make([]float64, n), make([]float64, n), make([]float64, n)
		if _, ok := own.Condition(&e.m, e.eval, k, e.r, e.prec); !ok || !own.At(&sup, ownMean, ownDMean, ownDVar) {
			t.Fatal("no posterior at support points of their own")
		}
		phi, dphi := e.phi(k), e.features(k).DPhi
		for _, piece := range []int{1, 9, 64, n} {
			sum := posterior.NewSum(T, max(piece, n))
			sum.Add(phi, n, e.r, e.prec) // of an earlier pass
			sum.Reset()
			for at := 0; at < n; at += piece {
				m := min(piece, n-at)
				sum.Add(phi[at*T:], m, e.r[at:], e.prec[at:])
			}
			if !sum.Solve() {
				t.Fatal("not solved")
			}
			for j, w := range sum.Weights() {
				near(t, "weight", w, whole.Weights()[j])
			}
			got, v := make([]float64, n), make([]float64, n)
			sum.At(phi, n, got, v)
			inverse := sum.InverseFactor()
			if len(inverse) != T*(T+1)/2 {
				t.Fatal("no inverse factor")
			}
			for i := range n {
				near(t, "mean", got[i], mean[i])
				near(t, "variance", v[i], squares(inverse, phi[i*T:(i+1)*T]))
				slope := 0.0
				for j, w := range sum.Weights() {
					slope += w * dphi[i*T+j]
				}
				near(t, "slope", dmean[i], slope)
				near(t, "slope's variance", dvar[i], squares(inverse, dphi[i*T:(i+1)*T]))
				near(t, "own mean", ownMean[i], mean[i])
				near(t, "own slope", ownDMean[i], slope)
				near(t, "own slope's variance", ownDVar[i], dvar[i])
			}
		}
	}
}

// squares returns ‖L⁻¹x‖² for L⁻¹ packed by rows.
func squares(inverse, x []float64) float64 {
	s := 0.0
	for j := range x {
		a := 0.0
		for i, v := range inverse[j*(j+1)/2 : (j+1)*(j+2)/2] {
			a += v * x[i]
		}
		s += a * a
	}
	return s
}

// Without data the posterior is the prior; with ever surer data it goes through
// them.
// Adjoints are added to the bars: what is there stays.
func TestAdjointsAreAdded(t *testing.T) {
	for _, own := range []bool{false, true} {
		e := newExample(40, 10)
		sup, ns := e.eval, 0
		if own {
			other := newExample(25, 10)
			sup, ns = other.eval, 25
			e.m.Forward(sup, other.eval.Rows, true)
		}
		rng := rand.New(rand.NewPCG(6, 6))
		rows := sup.Rows.N
		mean, dmean, dvar := make([]float64, rows), make([]float64, rows), make([]float64, rows)
		a, b, g := normal(rng, rows), normal(rng, rows), normal(rng, rows)
		kernel := posterior.NewRFF(&e.m, e.n, ns)
		once := func(obs, at *posterior.Bar) {
			if _, ok := kernel.Condition(&e.m, e.eval, 1, e.r, e.prec); !ok || !kernel.At(sup, mean, dmean, dvar) {
				t.Fatal("not conditioned")
			}
			kernel.Adjoint(a, b, g, obs, at, make([]float64, e.n), make([]float64, e.n), make([]float64, 2))
		}
		bars := func() (obs, at *posterior.Bar) {
			obs = posterior.NewBar(&e.m, e.n)
			if !own {
				return obs, obs
			}
			return obs, posterior.NewBar(&e.m, rows)
		}
		zero, zeroAt := bars()
		once(zero, zeroAt)
		full, fullAt := bars()
		all := func(obs, at *posterior.Bar) (x []float64) {
			return append(append(append(append(x, obs.Out...), obs.DOut...), at.Out...), at.DOut...)
		}
		for _, x := range [][]float64{full.Out, full.DOut, fullAt.Out, fullAt.DOut} {
			for i := range x {
				x[i] = 3
			}
		}
		once(full, fullAt)
		sum, moved := all(full, fullAt), 0
		for i, v := range all(zero, zeroAt) {
			if v != 0 {
				moved++
			}
			if !(math.Abs(sum[i]-3-v) <= 1e-12*(1+math.Abs(v))) {
				t.Fatalf("own support %v: adjoint %d is %v, on top of 3 it is %v", own, i, v, sum[i])
			}
		}
		if moved < 2*e.n*e.m.D {
			t.Errorf("own support %v: %d adjoints only", own, moved)
		}
	}
}

func TestFromPriorToData(t *testing.T) {
	const n = 6
	e := newExample(n, 40)
	T := e.m.Features()
	phi := e.phi(0)
	sum := posterior.NewSum(T, n)
	mean, v := make([]float64, n), make([]float64, n)
	sum.Reset()
	if !sum.Solve() {
		t.Fatal("not solved")
	}
	sum.At(phi, n, mean, v)
	for i := range n {
		prior := 0.0
		for _, x := range phi[i*T : (i+1)*T] {
			prior += x * x
		}
		near(t, "prior mean", mean[i], 0)
		near(t, "prior variance", v[i], prior)
	}
	sure := make([]float64, n)
	for i := range sure {
		sure[i] = 1e10
	}
	sum.Reset()
	sum.Add(phi, n, e.r, sure)
	if !sum.Solve() {
		t.Fatal("not solved")
	}
	sum.At(phi, n, mean, v)
	for i := range n {
		if !(math.Abs(mean[i]-e.r[i]) <= 1e-4) || !(v[i] <= 1e-9) {
			t.Errorf("row %d: %v ± %v, the datum is %v", i, mean[i], math.Sqrt(v[i]), e.r[i])
		}
	}
}

// A row of precision zero might as well not be there, in both kernels.
func TestUnmeasuredRowsDoNotCount(t *testing.T) {
	const n = 40
	e := newExample(n, 12)
	other := append([]float64(nil), e.r...)
	for i, p := range e.prec {
		if p == 0 {
			other[i] = 1e6
		}
	}
	for name, kernel := range map[string]posterior.Kernel{"features": posterior.NewRFF(&e.m, n, 0), "exact": posterior.NewExact(n, n)} {
		var fits [2]posterior.Fit
		var means [2][]float64
		for c, r := range [][]float64{e.r, other} {
			var ok bool
			if fits[c], ok = kernel.Condition(&e.m, e.eval, 0, r, e.prec); !ok {
				t.Fatalf("%s: not conditioned", name)
			}
			means[c] = make([]float64, n)
			kernel.At(e.eval, means[c], make([]float64, n), make([]float64, n))
		}
		if fits[0] != fits[1] {
			t.Errorf("%s: fit %v, with other unmeasured values %v", name, fits[0], fits[1])
		}
		for i := range n {
			if means[0][i] != means[1][i] {
				t.Fatalf("%s: an unmeasured value moves the mean", name)
			}
		}
	}
}

func TestNonFinitePrecisionIsReported(t *testing.T) {
	const n = 10
	e := newExample(n, 4)
	e.prec[0] = math.NaN()
	for name, kernel := range map[string]posterior.Kernel{"features": posterior.NewRFF(&e.m, n, 0), "exact": posterior.NewExact(n, n)} {
		if _, ok := kernel.Condition(&e.m, e.eval, 0, e.r, e.prec); ok {
			t.Errorf("%s: conditioned on a precision that is no number", name)
		}
	}
	sum := posterior.NewSum(e.m.Features(), n)
	sum.Reset()
	sum.Add(e.phi(0), n, e.r, e.prec)
	if sum.Solve() {
		t.Error("pieces: conditioned on a precision that is no number")
	}
}
