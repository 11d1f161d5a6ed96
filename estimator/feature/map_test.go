package feature_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

// example is a map with inputs, and a way to evaluate it at any time.
type example struct {
	in   *feature.Inputs
	m    feature.Map
	x0   []float64
	plan *feature.Plan
}

func newExample(rng *rand.Rand, f int, gated bool) *example {
	e := &example{in: inputs(rng, 1, 3), x0: normal(rng, 3)}
	e.m = feature.NewMap(e.in.Dim(), 2, 3, f, []int{6, 5}, []mlp.Activation{mlp.Tanh, mlp.Sigmoid}, feature.Basis{Terms: 2}, gated)
	e.m.Core.Glorot(rng)
	e.m.Head.Glorot(rng)
	e.m.DrawOmega(rng)
	copy(e.m.LogAmp, normal(rng, 4))
	e.plan = &feature.Plan{Values: normal(rng, 3), P: 1, Step: horizon / 3}
	return e
}

// at evaluates the map at the times, with the tangent along time.
func (e *example) at(basis feature.Basis, times ...float64) *feature.Eval {
	rows := feature.NewRows(len(times), e.in, basis)
	rows.N = len(times)
	I := e.in.Dim()
	for i, t := range times {
		e.in.Row(rows.S[i*I:(i+1)*I], rows.DS[i*I:(i+1)*I], t, e.x0, e.plan, make([]float64, 1))
		rows.Fill(i, e.in, e.m.Gated, e.m.Basis, t)
	}
	eval := feature.NewEval(&e.m, len(times))
	e.m.Forward(eval, rows, true)
	return eval
}

// times between the steps of the knots, where everything is smooth.
var times = []float64{0.05, 0.2, 0.3, 0.6}

const step = 1e-5 // s; truncation 1e-10 times a third derivative, rounding 1e-11

func TestTangentsOfTheMapAreDerivatives(t *testing.T) {
	for _, gated := range []bool{false, true} {
		e := newExample(rand.New(rand.NewPCG(1, 1)), 10, gated)
		T := e.m.Features()
		if T != 10+2*e.in.Dim() {
			t.Fatalf("%d features", T)
		}
		for _, at := range times {
			eval := e.at(e.m.Basis, at, at+step, at-step)
			scale := e.in.TimeStd / (2 * step)
			phi := feature.NewPhi(&e.m, 3)
			for k := range 2 {
				_, got := e.m.Mu(eval, 0, k)
				plus, _ := e.m.Mu(eval, 1, k)
				minus, _ := e.m.Mu(eval, 2, k)
				near(t, "mu", got, (plus-minus)*scale)
				_, dz := e.m.Z(eval, 0, k)
				zp, _ := e.m.Z(eval, 1, k)
				zm, _ := e.m.Z(eval, 2, k)
				for d := range dz {
					near(t, "z", dz[d], (zp[d]-zm[d])*scale)
				}
				e.m.RandomFeatures(phi, eval, k)
				for j := range T {
					near(t, "phi", phi.DPhi[j], (phi.Phi[T+j]-phi.Phi[2*T+j])*scale)
				}
			}
			rows := eval.Rows
			Q := e.m.Basis.Dim(e.in.Dim())
			for q := range Q {
				near(t, "basis", rows.DB[q], (rows.B[Q+q]-rows.B[2*Q+q])*scale)
			}
			near(t, "gate", rows.DGate[0], (rows.Gate[1]-rows.Gate[2])*scale)
		}
	}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-7*(1+math.Abs(want))) {
		t.Errorf("%s: tangent %v, difference %v", what, got, want)
	}
}

// Along turns the tangent of the basis to another direction of the input.
func TestBasisAlongAnotherDirection(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	e := newExample(rng, 4, true)
	e.m.Basis.Terms = 3
	I, Q := e.in.Dim(), e.m.Basis.Dim(e.in.Dim())
	rows := feature.NewRows(3, e.in, e.m.Basis)
	s, dir := normal(rng, I), normal(rng, I)
	const h = 1e-6
	for i, side := range []float64{0, h, -h} {
		for j := range I {
			rows.S[i*I+j] = s[j] + side*dir[j]
			rows.DS[i*I+j] = dir[j]
		}
		rows.Fill(i, e.in, true, e.m.Basis, 0.4)
		rows.JVP(i, e.m.Basis)
	}
	if rows.DGate[0] != 0 {
		t.Errorf("the gate moves with the start state: %v", rows.DGate[0])
	}
	for q := range Q {
		near(t, "basis", rows.DB[q], (rows.B[Q+q]-rows.B[2*Q+q])/(2*h))
	}
}

// b = [1, s, τ', τ's, …], s being the input without time.
func TestBasisIsTheDefinition(t *testing.T) {
	e := newExample(rand.New(rand.NewPCG(3, 3)), 4, true)
	e.m.Basis.Terms = 3
	rows := e.at(e.m.Basis, 0.6).Rows
	I := e.in.Dim()
	tau := math.Sqrt(12) * (0.6/horizon - 0.5)
	for j := range 3 {
		for i := range I {
			want := math.Pow(tau, float64(j))
			if i > 0 {
				want *= rows.S[i]
			}
			if got := rows.B[j*I+i]; !(math.Abs(got-want) <= 1e-13) {
				t.Errorf("term %d, %d: %v, expected %v", j, i, got, want)
			}
		}
	}
}

// Rows that were taken for a larger basis serve a map with a smaller one.
func TestRowsServeASmallerBasis(t *testing.T) {
	e := newExample(rand.New(rand.NewPCG(4, 4)), 6, true)
	own, wide := e.at(e.m.Basis, times...), e.at(feature.Basis{Terms: 5}, times...)
	a, b := feature.NewPhi(&e.m, len(times)), feature.NewPhi(&e.m, len(times))
	e.m.RandomFeatures(a, own, 1)
	e.m.RandomFeatures(b, wide, 1)
	for i := range a.Phi {
		if a.Phi[i] != b.Phi[i] || a.DPhi[i] != b.DPhi[i] {
			t.Fatalf("feature %d is %v in rows of its own and %v in wider ones", i, a.Phi[i], b.Phi[i])
		}
	}
	pa, pb := e.m.Exact(own, 2, 0), e.m.Exact(wide, 2, 0)
	for q := range pa.B {
		if pa.B[q] != pb.B[q] || pa.DB[q] != pb.DB[q] {
			t.Fatal("the kernel's point differs")
		}
	}
}

// The gate is zero at the start: every feature and the mean vanish there.
func TestGatedMapStartsAtZero(t *testing.T) {
	e := newExample(rand.New(rand.NewPCG(5, 5)), 6, true)
	eval := e.at(e.m.Basis, 0)
	phi := feature.NewPhi(&e.m, 1)
	for k := range 2 {
		e.m.RandomFeatures(phi, eval, k)
		mu, _ := e.m.Mu(eval, 0, k)
		for _, v := range append(phi.Phi, mu) {
			if v != 0 {
				t.Fatalf("%v at the start", v)
			}
		}
	}
}

// The features' inner product tends to the kernel as 1/√F, and so does that of
// a feature with a tangent to the kernel's derivative.
func TestRandomFeaturesConvergeToTheKernel(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	e := newExample(rng, 0, true)
	mean := func(F int) (err, derr float64) {
		const draws = 20
		e.m.F = F
		n := 0.0
		for range draws {
			e.m.Omega = normal(rng, F/2*e.m.D)
			eval := e.at(e.m.Basis, times...)
			phi := feature.NewPhi(&e.m, len(times))
			T := e.m.Features()
			for k := range 2 {
				e.m.RandomFeatures(phi, eval, k)
				for i := range times {
					for j := range times {
						pi, pj := e.m.Exact(eval, i, k), e.m.Exact(eval, j, k)
						cov, dcov := e.m.Covariance(k, &pi, &pj)
						a := dot(phi.Phi[i*T:(i+1)*T], phi.Phi[j*T:(j+1)*T]) - cov
						b := dot(phi.DPhi[i*T:(i+1)*T], phi.Phi[j*T:(j+1)*T]) - dcov
						err += a * a
						derr += b * b
						n++
					}
				}
			}
		}
		return math.Sqrt(err / n), math.Sqrt(derr / n)
	}
	small, dsmall := mean(40)
	large, dlarge := mean(4000)
	for what, ratio := range map[string]float64{"covariance": small / large, "its derivative": dsmall / dlarge} {
		// Ten, within the scatter of 20 draws.
		if ratio < 5 || ratio > 20 {
			t.Errorf("a hundred times the features make the error of the %s %v times smaller, expected ten", what, ratio)
		}
	}
	if large > 0.05 {
		t.Errorf("with 4000 features the covariance is off by %v", large)
	}
}

func dot(x, y []float64) float64 {
	s := 0.0
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

func TestCovarianceTangentIsTheDerivative(t *testing.T) {
	e := newExample(rand.New(rand.NewPCG(7, 7)), 0, true)
	for _, at := range times {
		const h = 1e-4 // second differences: truncation 1e-8, rounding 1e-8
		eval := e.at(e.m.Basis, at, at+h, at-h, 0.35)
		unit := e.in.TimeStd / (2 * h)
		for k := range 2 {
			var p [4]feature.ExactPoint
			for i := range p {
				p[i] = e.m.Exact(eval, i, k)
			}
			cov := func(i, j int) float64 { c, _ := e.m.Covariance(k, &p[i], &p[j]); return c }
			_, got := e.m.Covariance(k, &p[0], &p[3])
			want := (cov(1, 3) - cov(2, 3)) * unit
			if !(math.Abs(got-want) <= 1e-6*(1+math.Abs(want))) {
				t.Errorf("derivative %v, difference %v", got, want)
			}
			v, dv := e.m.PriorVariance(k, &p[0])
			if c := cov(0, 0); !(math.Abs(v-c) <= 1e-12*c) {
				t.Errorf("prior variance %v, covariance with itself %v", v, c)
			}
			// ∂²k/∂t∂t' at t' = t is the variance of the derivative.
			want = (cov(1, 1) - cov(1, 2) - cov(2, 1) + cov(2, 2)) * unit * unit
			if !(math.Abs(dv-want) <= 1e-4*(1+want)) {
				t.Errorf("variance of the derivative %v, second difference %v", dv, want)
			}
		}
	}
}
