package paper

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
)

// Elimination of the start gives the normal equations, the step and the determinant that the
// start as K more parameters gives.
func TestEliminatedStartIsAParameter(t *testing.T) {
	const K, P, R = 2, 3, 8
	rng := rand.New(rand.NewPCG(4, 4))
	draw := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		return v
	}
	d := &Data{K: K, StartStd: []float64{0.3, 0.1}, Trajectories: []Trajectory{{X0: draw(K), T: []float64{1, 2, 3, 4}, Y: draw(R)}}}
	u := newUnknownStart(scale(d), d, 0, P)
	J, e, B, delta, white := draw(R*P), draw(R), draw(R*K), draw(K), make([]float64, R)
	copy(u.Y, B)
	copy(u.delta, delta)
	// [J B]ᵀ[J B] + diag(0, I) and [J B]ᵀe − (0, δ)
	all := mat.NewDense(R, P+K, nil)
	for r := range R {
		all.SetRow(r, append(append([]float64(nil), J[r*P:(r+1)*P]...), B[r*K:(r+1)*K]...))
	}
	var H mat.Dense
	H.Mul(all.T(), all)
	var g, step mat.VecDense
	g.MulVec(all.T(), mat.NewVecDense(R, e))
	for k := range K {
		H.Set(P+k, P+k, H.At(P+k, P+k)+1)
		g.SetVec(P+k, g.AtVec(P+k)-delta[k])
	}
	for p := range P { // a prior
		H.Set(p, p, H.At(p, p)+0.1)
	}
	if err := step.SolveVec(&H, &g); err != nil {
		t.Fatal(err)
	}
	var work matmul.Work
	if !u.eliminate(J, e, white, &work) {
		t.Fatal("no decomposition")
	}
	var h mat.Dense
	var q, theta mat.VecDense
	left := mat.NewDense(R, P, J)
	h.Mul(left.T(), left)
	q.MulVec(left.T(), mat.NewVecDense(R, white))
	for p := range P {
		h.Set(p, p, h.At(p, p)+0.1)
	}
	if err := theta.SolveVec(&h, &q); err != nil {
		t.Fatal(err)
	}
	u.move(theta.RawVector().Data)
	for i := range P + K {
		got := 0.0
		if i < P {
			got = theta.AtVec(i)
		} else {
			got = u.delta[i-P] - delta[i-P]
		}
		if math.Abs(got-step.AtVec(i)) > 1e-10 {
			t.Errorf("step %d is %v, that of all parameters %v", i, got, step.AtVec(i))
		}
	}
	whole, _ := mat.LogDet(&H)
	part, _ := mat.LogDet(&h)
	if math.Abs(part+u.logDet()-whole) > 1e-10 {
		t.Errorf("log determinant %v + %v, of all parameters %v", part, u.logDet(), whole)
	}
	// The joint covariance of state and start: slope and factor beside h⁻¹.
	var inverse, small mat.Dense
	if err := inverse.Inverse(&H); err != nil {
		t.Fatal(err)
	}
	if err := small.Inverse(&h); err != nil {
		t.Fatal(err)
	}
	b := u.posterior()
	in := scale(d)
	slope, factor := mat.NewDense(K, P, b.slope), mat.NewDense(K, K, b.factor)
	var cov, own mat.Dense
	cov.Product(slope, &small, slope.T())
	own.Mul(factor, factor.T())
	cov.Add(&cov, &own)
	for i := range K {
		for j := range K {
			want := inverse.At(P+i, P+j) * d.StartStd[i] * d.StartStd[j] / in.Lift.Std[i] / in.Lift.Std[j]
			if math.Abs(cov.At(i, j)-want) > 1e-10 {
				t.Errorf("covariance %d, %d of the start is %v, expected %v", i, j, cov.At(i, j), want)
			}
		}
	}
}

// The start of one trajectory, measured with an error, is found from its observations; the
// intervals hold it.
func TestMeasuredStartIsRefined(t *testing.T) {
	d := turning(1, 60, 0.05)
	d.StartStd = []float64{0.2, 0.2}
	d.Trajectories[0].X0 = []float64{0.5 + 0.25, 0 - 0.2}
	r := small()
	r.Refits = 0
	m, err := Learn(context.Background(), d, r, 3)
	if err != nil {
		t.Fatal(err)
	}
	x0 := d.Trajectories[0].X0
	if found := m.startOf(x0); math.Hypot(found[0]-0.5, found[1]) > 0.06 {
		t.Errorf("the start is taken for %v", found)
	}
	times := []float64{0, 1, 2.5, 4}
	mean, std := make([]float64, 8), make([]float64, 8)
	m.Predict(mean, std, x0, times)
	for i, at := range times {
		for k, x := range rotated(0.5, at) {
			if e := math.Abs(mean[2*i+k] - x); e > 0.08 || e > 4*std[2*i+k] || std[2*i+k] > 0.1 {
				t.Errorf("%v s, state %d: %v ± %v, the truth is %v", at, k, mean[2*i+k], std[2*i+k], x)
			}
		}
	}
}

// A start that was not observed has the width of its measurement.
func TestStartOfAnotherTrajectoryKeepsItsWidth(t *testing.T) {
	d := turning(6, 20, 0.03)
	d.StartStd = []float64{0.1, 0}
	rng := rand.New(rand.NewPCG(8, 8))
	for j := range d.Trajectories {
		d.Trajectories[j].X0[0] += 0.1 * rng.NormFloat64()
	}
	r := small()
	r.Refits = 0
	m, err := Learn(context.Background(), d, r, 3)
	if err != nil {
		t.Fatal(err)
	}
	mean, std := make([]float64, 4), make([]float64, 4)
	if !m.Integrate(mean, std, []float64{1, 0}, []float64{math.Pi / 2, math.Pi}) {
		t.Fatal("the flows cannot be integrated")
	}
	for i, want := range []float64{0, 0.1, 0.1, 0} { // a rotation by a quarter and a half
		if math.Abs(std[i]-want) > 0.03 {
			t.Errorf("standard deviation %d is %v, that of the start %v", i, std[i], want)
		}
	}
	d.StartStd = []float64{0.1}
	if _, err := Learn(context.Background(), d, r, 3); err == nil {
		t.Error("one standard deviation for two states")
	}
}
