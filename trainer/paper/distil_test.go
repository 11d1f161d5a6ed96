package paper

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// Variances follow errors of which the size changes along a line, and every round raises
// their likelihood.
func TestSpreadFollowsTheErrors(t *testing.T) {
	const n, F = 400, 12
	unit := math.Sqrt(2.0 / F)
	phi, square := make([]float64, n*F), make([]float64, n)
	for i := range n {
		x := 2*float64(i)/n - 1
		for j := range F / 2 {
			phi[i*F+j], phi[i*F+F/2+j] = unit*math.Cos(float64(j)*x), unit*math.Sin(float64(j+1)*x)
		}
		square[i] = math.Exp(4 * x) // by 55 in standard deviation
	}
	e := newWeightCovariance(phi, square)
	loss := func() float64 { // mean over rows of ½ (log s + e²/s)
		e.values()
		sum := 0.0
		for i, s := range e.s {
			sum += 0.5 * (math.Log(s) + square[i]/s) / n
		}
		return sum
	}
	before := loss()
	for range 5 {
		e.improve(4)
		after := loss()
		if !(after <= before+1e-12) {
			t.Errorf("loss rises from %v to %v", before, after)
		}
		before = after
	}
	m := e.factor()
	if m == nil {
		t.Fatal("no factor")
	}
	v := make([]float64, n)
	factorVariance(v, m, phi)
	for i := range v {
		if r := v[i] / square[i]; !(r >= 0.7) || !(r <= 1.4) {
			t.Errorf("row %d: variance %v, errors %v", i, v[i], square[i])
		}
		if !(math.Abs(v[i]-e.s[i]) <= 1e-6*e.s[i]) {
			t.Errorf("row %d: ‖Mφ‖² is %v, φᵀCφ %v", i, v[i], e.s[i])
		}
	}
}

// With a teacher whose variance depends on start and time, the features improve the net's
// means, and rounds raise the likelihood of the variances.
func TestSmootherLearnsMeansAndVariances(t *testing.T) {
	d := turning(5, 8, 0.05)
	in := scale(d)
	teacher := func(mean, variance, x0, times []float64) bool {
		for i, t := range times {
			x := rotated(x0[0], t)
			copy(mean[2*i:], x[:])
			if variance != nil {
				s := 0.02 * math.Exp(math.Sin(2*t)+3*(x0[0]-1))
				variance[2*i], variance[2*i+1] = s*s, 4*s*s
			}
		}
		return true
	}
	set := small().Final
	set.Steps = 100
	learned := func(rounds int) (s *Smoother, rms, loss float64) {
		set.Rounds = rounds
		s, err := distil(context.Background(), teacher, in, d, set, func(string) {}, 1)
		if err != nil {
			t.Fatal(err)
		}
		times := []float64{0.5, 1.5, 2.5, 3.5, 4.5}
		mean, variance, truth, spread := make([]float64, 10), make([]float64, 10), make([]float64, 10), make([]float64, 10)
		for i := range 20 {
			x0 := []float64{0.5 + float64(i)/19, 0}
			teacher(truth, spread, x0, times)
			s.Predict(mean, variance, x0, times)
			for j, v := range variance {
				e := (mean[j] - truth[j]) * (mean[j] - truth[j])
				rms += e / 200
				loss += 0.5 * (math.Log(v) + (spread[j]+e)/v) / 200
			}
		}
		return s, math.Sqrt(rms), loss
	}
	s, rms, loss := learned(30)
	if _, _, before := learned(0); !(loss < before-0.005) {
		t.Errorf("loss %v after 30 rounds, %v before", loss, before)
	}
	for k := range s.W {
		clear(s.W[k])
	}
	mean, variance, truth := make([]float64, 10), make([]float64, 10), make([]float64, 10)
	alone := 0.0
	times := []float64{0.5, 1.5, 2.5, 3.5, 4.5}
	for i := range 20 {
		x0 := []float64{0.5 + float64(i)/19, 0}
		teacher(truth, nil, x0, times)
		s.Predict(mean, variance, x0, times)
		for j := range mean {
			alone += (mean[j] - truth[j]) * (mean[j] - truth[j]) / 200
		}
	}
	if alone = math.Sqrt(alone); !(rms < 0.95*alone) {
		t.Errorf("root mean square error %v, of the net alone %v", rms, alone)
	}
}

// Starts from which solutions diverge are left out; too many of them are an error.
func TestDivergingStartsAreLeftOut(t *testing.T) {
	d := turning(5, 8, 0.05)
	in := scale(d)
	b := boxOf(d, in)
	for _, c := range []struct {
		least float64
		ok    bool
	}{{0, true}, {0.505, true}, {0.7, false}} {
		teacher := func(mean, variance, x0, times []float64) bool {
			for i := range times {
				mean[2*i], mean[2*i+1], variance[2*i], variance[2*i+1] = x0[0], x0[0], x0[0], x0[0]
			}
			return x0[0] >= c.least
		}
		l, ok := queryTeacher(teacher, in, b, d.End(), 400, 3, true, rand.New(rand.NewPCG(1, 1)))
		if ok != c.ok {
			t.Errorf("starts from %v on: ok is %v", c.least, ok)
		}
		if l.n != 3*(400-l.lost) || (l.lost > 0) != (c.least > 0) {
			t.Errorf("starts from %v on: %d rows, %d starts left out", c.least, l.n, l.lost)
		}
		if len(l.x) != 3*l.n || len(l.y) != 2*l.n || len(l.v) != 2*l.n || l.n%3 != 0 || l.n == 0 {
			t.Fatalf("%d rows, %d %d %d numbers", l.n, len(l.x), len(l.y), len(l.v))
		}
		for i := range l.n {
			x0 := in.Lift.Mean[0] + in.Lift.Std[0]*l.y[2*i]
			if z := (l.y[2*i] - b.center[0]) * b.rate[0]; !(x0 >= c.least) || !(math.Abs(z-l.x[3*i+1]) <= 1e-9) {
				t.Fatalf("row %d: start %v, input %v of %v", i, x0, l.x[3*i+1], z)
			}
		}
	}
}

// Where no flow can be integrated the smoother is distilled from the members.
func TestSmootherIsDistilledFromMembersWithoutFlows(t *testing.T) {
	d := turning(5, 8, 0.05)
	r := small()
	f, err := Train(context.Background(), d, r.Settings, 1)
	if err != nil {
		t.Fatal(err)
	}
	m := &Model{K: d.K, Members: []*Fit{f}}
	r.Final.Starts, r.Final.Steps = 100, 500
	s, err := distil(context.Background(), m.membersMixture(), f.Inputs, d, r.Final, func(string) {}, 1)
	if err != nil {
		t.Fatal(err)
	}
	times := []float64{1, 2, 3, 4}
	a, va, b, vb := make([]float64, 8), make([]float64, 8), make([]float64, 8), make([]float64, 8)
	f.Predict(a, va, []float64{1, 0}, times)
	s.Predict(b, vb, []float64{1, 0}, times)
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= 0.1) || !(vb[i] >= 0.3*va[i]) || !(vb[i] <= 3*va[i]+0.01) {
			t.Errorf("number %d: smoother %v ± %v, member %v ± %v", i, b[i], math.Sqrt(vb[i]), a[i], math.Sqrt(va[i]))
		}
	}
	if m.Integrate(a, va, []float64{1, 0}, times) {
		t.Error("there is nothing to integrate")
	}
}
