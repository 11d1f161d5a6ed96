package paper

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

// artificial returns data of so many observations of K states, and a flow of all terms of degree
// two, for residuals and derivatives that are set by hand.
func artificial(K, rows int) *newton {
	d := &Data{K: K, Trajectories: []Trajectory{{X0: make([]float64, K)}}}
	tr := &d.Trajectories[0]
	rng := rand.New(rand.NewPCG(6, 6))
	for i := range rows {
		tr.T = append(tr.T, float64(i+1))
		for range K {
			tr.Y = append(tr.Y, rng.NormFloat64())
		}
	}
	f := &Flow{Inputs: scale(d), Poly: newPolynomial(make([]float64, K), 0, 2), part: quadratic}
	f.Poly.dense = true
	f.bind()
	_, groups := f.groups()
	for range groups {
		f.Alpha = append(f.Alpha, 0.5+rng.Float64())
	}
	for range K {
		f.Sigma = append(f.Sigma, 0.5+rng.Float64())
	}
	for i := range f.Theta {
		f.Theta[i] = 0.3 * rng.NormFloat64()
	}
	n := newNewton(f, d)
	P := len(f.Theta)
	for i := range n.e {
		if i%11 == 4 {
			continue // not measured
		}
		n.e[i] = rng.NormFloat64()
		for j := range P { // the leverage of channels differs
			n.J[i*P+j] = float64(1+i%K) * rng.NormFloat64() / 4
		}
	}
	return n
}

// systemOf returns the lower triangle of H, and g, by plain loops.
func systemOf(n *newton) (H, g []float64) {
	P := len(n.Theta)
	H, g = make([]float64, P*P), make([]float64, P)
	for i, e := range n.e {
		row := n.J[i*P : (i+1)*P]
		for r, v := range row {
			g[r] += e * v
			for c, u := range row[:r+1] {
				H[r*P+c] += v * u
			}
		}
	}
	for r, v := range n.Theta {
		alpha := n.Alpha[n.group[r]]
		H[r*P+r] += alpha
		g[r] -= alpha * v
	}
	return H, g
}

// 1,505 rows are summed in two halves that are not the same, 40 at once.
func TestSystemIsTheSumOverRows(t *testing.T) {
	for _, rows := range []int{8, 301} {
		n := artificial(5, rows)
		P := len(n.Theta)
		if split := len(n.e)*P*P > 1e7; split != (rows > 100) {
			t.Fatalf("%d rows of %d parameters", len(n.e), P)
		}
		for range 2 { // nothing is left of the first
			n.system()
		}
		H, g := systemOf(n)
		for r := range P {
			for c := range r + 1 {
				if got, want := n.H[r*P+c], H[r*P+c]; !(math.Abs(got-want) <= 1e-10*(1+math.Abs(want))) {
					t.Fatalf("%d rows: H[%d][%d] is %v, want %v", len(n.e), r, c, got, want)
				}
			}
			if !(math.Abs(n.g[r]-g[r]) <= 1e-10*(1+math.Abs(g[r]))) {
				t.Fatalf("%d rows: g[%d] is %v, want %v", len(n.e), r, n.g[r], g[r])
			}
		}
	}
}

// Noise and precisions follow the formulas, the leverage of every row being ‖L⁻¹J‖².
func TestEvidenceIsThatOfPlainLoops(t *testing.T) {
	for _, noise := range [][]float64{
		{1, 0.8, 0.9, 1.1, 1.2},
		{1, 3, 0.9, 0.1, 1.2}, // one channel above the bound of the update, one below
	} {
		evidenceIsThatOfPlainLoops(t, noise)
	}
}

func evidenceIsThatOfPlainLoops(t *testing.T, noise []float64) {
	n := artificial(5, 301)
	P, K := len(n.Theta), n.d.K
	for i := range n.e {
		n.e[i] *= noise[i%K]
	}
	H, _ := systemOf(n)
	L := H // in place
	for j := range P {
		for i := j; i < P; i++ {
			s := L[i*P+j]
			for k := range j {
				s -= L[i*P+k] * L[j*P+k]
			}
			if i == j {
				L[j*P+j] = math.Sqrt(s)
			} else {
				L[i*P+j] = s / L[j*P+j]
			}
		}
	}
	solve := func(x []float64) (u []float64, square float64) { // u = L⁻¹x
		u = slices.Clone(x)
		for r := range u {
			for c := range r {
				u[r] -= L[r*P+c] * u[c]
			}
			u[r] /= L[r*P+r]
			square += u[r] * u[r]
		}
		return u, square
	}
	squares, left := make([]float64, K), make([]float64, K)
	for i, e := range n.e {
		if e != 0 {
			_, leverage := solve(n.J[i*P : (i+1)*P])
			squares[i%K] += e * e
			left[i%K] += 1 - leverage
		}
	}
	sigma := slices.Clone(n.Sigma)
	for k := range K {
		sigma[k] *= math.Sqrt(min(max(squares[k]/left[k], 0.2), 2))
	}
	size, gamma, norm := make([]float64, len(n.Alpha)), make([]float64, len(n.Alpha)), make([]float64, len(n.Alpha))
	for i, g := range n.group {
		unit := make([]float64, P)
		unit[i] = 1
		_, variance := solve(unit) // of parameter i
		size[g]++
		gamma[g] += 1 - n.Alpha[g]*variance
		norm[g] += n.Theta[i] * n.Theta[i]
	}
	free := 0.0
	alpha := slices.Clone(n.Alpha)
	for g, v := range gamma {
		free += v
		alpha[g] = min(min(max(max(v, 1e-3)/norm[g], alpha[g]/3), 10*alpha[g]), 2*mostOfTerm)
	}
	was := slices.Clone(n.Sigma)
	if !n.updateHyperparameters() {
		t.Fatal("not factorised")
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-10*math.Abs(want)) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	for k := range K {
		near("noise", n.Sigma[k], sigma[k])
	}
	for g := range alpha {
		near("precision", n.Alpha[g], alpha[g])
	}
	near("number of free parameters", n.Free, free)
	for k, v := range noise {
		r := n.Sigma[k] * n.Sigma[k] / (was[k] * was[k])
		switch {
		case v == 3:
			near("the most", r, 2)
		case v == 0.1:
			near("the least", r, 0.2)
		case !(r > 0.21) || !(r < 1.99):
			t.Errorf("noise at its bounds does not show leverages: %v", r)
		}
	}
}

// rotation is the flow of a field that turns as the data do, without training.
func rotation(d *Data) *Flow {
	f := &Flow{Inputs: scale(d), Sigma: []float64{0.1, 0.1}, part: linear}
	zero, std := make([]float64, 2), f.Inputs.Lift.Std
	f.Inputs.Lift.Apply(zero, zero)
	f.Poly = newPolynomial(zero, 0, 1)
	f.Poly.dense = true
	for i, m := range f.Poly.terms {
		switch m {
		case term{1, -1, 0}:
			f.Poly.w[i] = f.Inputs.TimeStd * std[1] / std[0]
		case term{0, -1, 1}:
			f.Poly.w[i] = -f.Inputs.TimeStd * std[0] / std[1]
		}
	}
	f.bind()
	_, groups := f.groups()
	for range groups {
		f.Alpha = append(f.Alpha, 0.3)
	}
	return f
}

// What is observed until a time are the rows up to it, the one at that time among them, and
// the same bits as where all are observed; afterwards all are there again.
func TestObservationsUntilATime(t *testing.T) {
	d := turning(3, 12, 0.05)
	d.Trajectories[1].T = d.Trajectories[1].T[:5]
	d.Trajectories[1].Y = d.Trajectories[1].Y[:10]
	d.Trajectories[2].Y[6] = math.NaN()
	n := newNewton(rotation(d), d)
	P, K := len(n.Theta), 2
	spoil := func() { // nothing of an earlier pass may be left
		for i := range n.e {
			n.e[i] = 7
		}
		for i := range n.J {
			n.J[i] = 7
		}
	}
	spoil()
	if _, ok := n.residuals(true); !ok {
		t.Fatal("cannot be integrated")
	}
	e, J := slices.Clone(n.e), slices.Clone(n.J)
	if len(e) != (12+5+12)*K || len(J) != len(e)*P {
		t.Fatalf("%d residuals, %d derivatives", len(e), len(J))
	}
	if row := (12+5+3)*K + 0; e[row] != 0 || slices.ContainsFunc(J[row*P:(row+1)*P], func(v float64) bool { return v != 0 }) {
		t.Errorf("what was not measured has residual %v and derivatives %v", e[row], J[row*P:(row+1)*P])
	}
	if slices.Contains(e, 7) || slices.Contains(J, 7) {
		t.Error("residuals or derivatives that were not set")
	}
	until := d.Trajectories[0].T[3]
	n.observe(until)
	spoil()
	if _, ok := n.residuals(true); !ok {
		t.Fatal("cannot be integrated")
	}
	var some, rows []float64
	for _, first := range []int{0, 12, 17} {
		some = append(some, e[first*K:(first+4)*K]...)
		rows = append(rows, J[first*K*P:(first+4)*K*P]...)
	}
	if !slices.Equal(n.e, some) || !slices.Equal(n.J, rows) {
		t.Errorf("until %v s there are residuals %v, want %v", until, n.e, some)
	}
	n.observe(math.Nextafter(until, 0))
	if len(n.e) != 9*K || len(n.J) != 9*K*P {
		t.Errorf("%d residuals until just before the fourth observations", len(n.e))
	}
	n.observe(d.End())
	spoil()
	if _, ok := n.residuals(true); !ok || !slices.Equal(n.e, e) || !slices.Equal(n.J, J) {
		t.Error("all are observed again, and something differs")
	}
}

// A NaN weight, whichever it is, fails the integration and leaves nothing in the integrator.
func TestNaNIsNotIntegrated(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	const K = 2
	zero := []float64{0.1, -0.2}
	few := newPolynomial(zero, 1, 2)
	few.whole, few.terms, few.w = false, few.terms[:5], few.w[:5]
	in := &feature.Inputs{TimeStd: 1, Lift: channel.Identity(K)}
	in.Lift.Mean, in.Lift.Std = []float64{0, 0}, []float64{1, 1}
	for name, f := range map[string]*Flow{
		"net":   {Net: mlp.New([]int{K, 4, K}, []mlp.Activation{mlp.Sigmoid, mlp.Linear})},
		"terms": {Poly: few}, "linear": {Poly: newPolynomial(zero, 0, 1)}, "quadratic": {Poly: newPolynomial(zero, 0, 2)},
		"known": {Known: spinning()},
	} {
		f.Inputs = in
		f.bind()
		for i := range f.Theta {
			f.Theta[i] = 0.3 * rng.NormFloat64()
		}
		used, fresh := f.tangent(true), f.tangent(true)
		z0 := []float64{0.3, -0.7}
		fresh.start(z0)
		if !fresh.advance(0.1, 3) {
			t.Fatalf("%s: cannot be integrated", name)
		}
		for i, v := range f.Theta {
			f.Theta[i] = math.NaN()
			used.start(z0)
			if used.advance(0.1, 1) {
				t.Errorf("%s: weight %d is NaN, and the state %v", name, i, used.z)
			}
			f.Theta[i] = v
			used.start(z0)
			if !used.advance(0.1, 3) || !slices.Equal(used.z, fresh.z) || !slices.Equal(used.S, fresh.S) {
				t.Fatalf("%s: weight %d was NaN, and later states differ", name, i)
			}
		}
	}
}
