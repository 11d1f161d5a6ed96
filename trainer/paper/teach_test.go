package paper

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/mlp"
)

func TestPolynomialsDerivatives(t *testing.T) {
	const K = 3
	zero := []float64{0.4, -0.2, 0.1}
	chosen, dense := newPolynomial(zero), newWhole(zero, 2)
	if n := K * (K + K*(K+1)/2); len(chosen.w) != n || len(dense.w) != n+K {
		t.Fatalf("%d and %d terms", len(chosen.w), len(dense.w))
	}
	derivatives(t, chosen)
	derivatives(t, dense)
}

// derivatives compares those of a polynomial of three states with differences.
func derivatives(t *testing.T, p *polynomial) {
	t.Helper()
	const K, h = 3, 1e-6
	rng := rand.New(rand.NewPCG(4, 4))
	for i := range p.w {
		p.w[i] = rng.NormFloat64()
	}
	z := []float64{0.3, -1.2, 0.7}
	P := 5 + len(p.w)
	w := &tangent{K: K, P: P, zs: z, f: make([]float64, K), b: make([]float64, K)}
	at := func() []float64 {
		clear(w.f)
		p.add(w)
		return append([]float64(nil), w.f...)
	}
	fz, F := make([]float64, K*K), make([]float64, K*P)
	w.fz, w.F, w.sensitivity = fz, F, true
	at()
	w.sensitivity = false
	// Of a polynomial of degree two central differences leave rounding only.
	check := func(what string, x *float64, got func(k int) float64) {
		old := *x
		*x = old + h
		plus := at()
		*x = old - h
		minus := at()
		*x = old
		for k := range K {
			if want := (plus[k] - minus[k]) / (2 * h); math.Abs(got(k)-want) > 1e-8 {
				t.Errorf("output %d by %s: %v, difference %v", k, what, got(k), want)
			}
		}
	}
	for j := range K {
		check("a state", &z[j], func(k int) float64 { return fz[k*K+j] })
	}
	for n := range p.w {
		check("a weight", &p.w[n], func(k int) float64 { return F[k*P+5+n] })
	}
}

func TestPolynomialFitsWhatIsOne(t *testing.T) {
	const K, n = 2, 40
	rng := rand.New(rand.NewPCG(5, 5))
	z, y := make([]float64, n*K), make([]float64, n*K)
	for i := range n {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		z[i*K], z[i*K+1] = a, b
		y[i*K], y[i*K+1] = 2*a-a*b, 0.5*b*b
	}
	p := newPolynomial(make([]float64, K))
	p.fit(y, z, n, K, 1e-6)
	for i, v := range y {
		if math.Abs(v) > 1e-5 {
			t.Fatalf("number %d: %v is left", i, v)
		}
	}
	p.add(&tangent{K: K, zs: []float64{3, 5}, f: y[:K], b: make([]float64, K)}) // 2·3 − 15, 12.5
	if math.Abs(y[0]+9) > 1e-3 || math.Abs(y[1]-12.5) > 1e-3 {
		t.Errorf("at another point %v", y[:K])
	}
}

// Terms that say nothing are left out: of two states with ten terms, a rotation has two.
func TestFlowFindsTheTerms(t *testing.T) {
	d := turning(5, 20, 0.02)
	r := small()
	f, err := Train(context.Background(), d, r.Settings, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		fl   *Flow
		most int
	}{{f.NewPolynomialFlow(d, false), 6}, {f.newPlainFlow(d, sparse), 4}} {
		if !c.fl.Shoot(context.Background(), d, 12) {
			t.Fatalf("%s: cannot be integrated", c.fl.Form())
		}
		if n := len(c.fl.Poly.terms); n < 2 || n > c.most {
			t.Errorf("%s: %d terms are left", c.fl.Form(), n)
		}
		if c.fl.Free > 8 {
			t.Errorf("%s: %v effective parameters", c.fl.Form(), c.fl.Free)
		}
	}
}

// A form that cannot be integrated from one member is refined from the next.
func TestAFlowIsTriedFromAnotherMember(t *testing.T) {
	d := turning(5, 8, 0.05)
	r := small()
	good, err := Train(context.Background(), d, r.Settings, 1)
	if err != nil {
		t.Fatal(err)
	}
	bad, err := Train(context.Background(), d, r.Settings, 2)
	if err != nil {
		t.Fatal(err)
	}
	last := &bad.Params.Dynamics.Layers[len(bad.Params.Dynamics.Layers)-1]
	for i := range last.B {
		last.B[i] = math.NaN()
	}
	m := &Model{K: d.K, Members: []*Fit{bad}}
	if flows := m.shoot(context.Background(), d, r, []part{netAlone}, 1); len(flows) != 0 || m.Dropped != 1 {
		t.Fatalf("%d flows of a field that is no number, %d dropped", len(flows), m.Dropped)
	}
	m = &Model{K: d.K, Members: []*Fit{bad, good}}
	if flows := m.shoot(context.Background(), d, r, []part{netAlone, sparse}, 1); len(flows) != 2 || m.Dropped != 0 {
		t.Errorf("%d flows with a good member beside, %d dropped", len(flows), m.Dropped)
	}
}

// A dense field keeps all of its terms, and those of one degree and output share a
// precision: of a rotation it finds that squares say nothing.
func TestDenseFlowHoldsTermsTogether(t *testing.T) {
	d := turning(5, 20, 0.02)
	r := small()
	f, err := Train(context.Background(), d, r.Settings, 1)
	if err != nil {
		t.Fatal(err)
	}
	fl := f.newPlainFlow(d, quadratic)
	if !fl.Shoot(context.Background(), d, 12) {
		t.Fatal("cannot be integrated")
	}
	if len(fl.Theta) != 12 || len(fl.Alpha) != 6 {
		t.Errorf("%d weights, %d precisions", len(fl.Theta), len(fl.Alpha))
	}
	for k := range 2 {
		if ofStates, ofSquares := fl.Alpha[2+k], fl.Alpha[4+k]; ofSquares < 10*ofStates {
			t.Errorf("output %d: precision %v of states, %v of products", k, ofStates, ofSquares)
		}
	}
	if fl.Free > 10 {
		t.Errorf("%v effective parameters", fl.Free)
	}
}

func TestDescentIsTheGradient(t *testing.T) {
	const rows, h = 7, 1e-6
	rng := rand.New(rand.NewPCG(6, 6))
	net := mlp.New([]int{2, 4, 3, 2}, []mlp.Activation{mlp.Tanh, mlp.Sigmoid, mlp.Linear})
	net.Glorot(rng)
	theta := make([]float64, net.Params())
	net.Bind(theta)
	d := newDescent(&net, rows)
	for i := range d.x {
		d.x[i] = rng.NormFloat64()
	}
	last := len(d.y) - 1
	loss := func() float64 {
		d.forward(&net, rows)
		s := 0.0
		for _, v := range d.y[last] {
			s += 0.5 * v * v
		}
		return s
	}
	loss()
	copy(d.ybar, d.y[last])
	d.backward(&net, rows)
	for i := range theta {
		old := theta[i]
		theta[i] = old + h
		plus := loss()
		theta[i] = old - h
		minus := loss()
		theta[i] = old
		if want := (plus - minus) / (2 * h); math.Abs(d.grad[i]-want) > 1e-7 {
			t.Fatalf("parameter %d: %v, difference %v", i, d.grad[i], want)
		}
	}
	// The flying net says the same.
	tape := mlp.NewTape(&net, rows, false)
	net.Forward(tape, rows, d.x, nil)
	loss()
	for i, v := range tape.Out() {
		if math.Abs(v-d.y[last][i]) > 1e-12 {
			t.Fatalf("output %d: %v and %v", i, d.y[last][i], v)
		}
	}
}

// A net is fitted far beyond what Adam does in as many steps.
func TestRegressionIsExact(t *testing.T) {
	const n = 1500
	rng := rand.New(rand.NewPCG(7, 7))
	net := mlp.New([]int{2, 16, 16, 1}, []mlp.Activation{mlp.Tanh, mlp.Tanh, mlp.Linear})
	net.Glorot(rng)
	x, y, w := make([]float64, 2*n), make([]float64, n), make([]float64, n)
	for i := range n {
		a, b := 2*rng.Float64()-1, 2*rng.Float64()-1
		x[2*i], x[2*i+1], y[i], w[i] = a, b, math.Sin(4*a+2*b*b), 1
	}
	regress(context.Background(), &net, x, y, w, Regression{Steps: 1000, Batch: 200, Rate: 0.01, Last: 1e-5}, func(int) {}, rng)
	tape := mlp.NewTape(&net, n, false)
	net.Forward(tape, n, x, nil)
	s := 0.0
	for i, v := range tape.Out() {
		s += (v - y[i]) * (v - y[i]) / n
	}
	if rms := math.Sqrt(s); !(rms < 0.03) { // 0.02; by Adam 0.09
		t.Errorf("root mean square error %v", rms)
	}
}

// Errors of which the size changes along a line get variances that do, and every
// round makes them likelier.
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
	e := newSpread(phi, square)
	before := e.loss()
	for range 5 {
		e.improve(4)
		after := e.loss()
		if after > before+1e-12 {
			t.Errorf("loss rises from %v to %v", before, after)
		}
		before = after
	}
	m := e.factor()
	if m == nil {
		t.Fatal("no factor")
	}
	v := make([]float64, n)
	factorVariance(v, m, phi, n)
	for i := range v {
		if r := v[i] / square[i]; r < 0.7 || r > 1.4 {
			t.Errorf("row %d: variance %v, errors %v", i, v[i], square[i])
		}
		if math.Abs(v[i]-e.s[i]) > 1e-6*e.s[i] {
			t.Errorf("row %d: ‖Mφ‖² is %v, φᵀCφ %v", i, v[i], e.s[i])
		}
	}
}

// A teacher that is sure of some starts and times and not of others: the features add to the
// net's means, and rounds make the variances likelier.
func TestSmootherLearnsMeansAndVariances(t *testing.T) {
	d := turning(5, 8, 0.05)
	in := scale(d)
	say := func(mean, variance, x0, times []float64) bool {
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
		s, err := teach(context.Background(), say, in, d, set, func(string) {}, 1)
		if err != nil {
			t.Fatal(err)
		}
		times := []float64{0.5, 1.5, 2.5, 3.5, 4.5}
		mean, variance, truth, spread := make([]float64, 10), make([]float64, 10), make([]float64, 10), make([]float64, 10)
		for i := range 20 {
			x0 := []float64{0.5 + float64(i)/19, 0}
			say(truth, spread, x0, times)
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
		say(truth, nil, x0, times)
		s.Predict(mean, variance, x0, times)
		for j := range mean {
			alone += (mean[j] - truth[j]) * (mean[j] - truth[j]) / 200
		}
	}
	if alone = math.Sqrt(alone); !(rms < 0.95*alone) {
		t.Errorf("root mean square error %v, of the net alone %v", rms, alone)
	}
}

// A corner of the box from which solutions run off costs its own starts; many cost the
// lesson.
func TestStartsThatRunOffAreLeftOut(t *testing.T) {
	d := turning(5, 8, 0.05)
	in := scale(d)
	b := boxOf(d, in)
	for _, c := range []struct {
		least float64
		ok    bool
	}{{0, true}, {0.505, true}, {0.7, false}} {
		say := func(mean, variance, x0, times []float64) bool {
			for i := range times {
				mean[2*i], mean[2*i+1], variance[2*i], variance[2*i+1] = x0[0], x0[0], x0[0], x0[0]
			}
			return x0[0] >= c.least
		}
		l, ok := ask(say, in, b, d.End(), 400, 3, true, rand.New(rand.NewPCG(1, 1)))
		if ok != c.ok {
			t.Errorf("starts from %v on: ok is %v", c.least, ok)
		}
		if len(l.x) != 3*l.n || len(l.y) != 2*l.n || len(l.v) != 2*l.n || l.n%3 != 0 || l.n == 0 {
			t.Fatalf("%d rows, %d %d %d numbers", l.n, len(l.x), len(l.y), len(l.v))
		}
		for i := range l.n {
			x0 := in.Lift.Mean[0] + in.Lift.Std[0]*l.y[2*i]
			if z := (l.y[2*i] - b.center[0]) * b.rate[0]; x0 < c.least || math.Abs(z-l.x[3*i+1]) > 1e-9 {
				t.Fatalf("row %d: start %v, input %v of %v", i, x0, l.x[3*i+1], z)
			}
		}
	}
}

// Terms that say nothing are left out, but for the last: a state that stands still.
func TestAFieldThatSaysNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	d := &Data{K: 1}
	for s := range 3 {
		tr := Trajectory{X0: []float64{1 + float64(s)}}
		for i := range 12 {
			tr.T, tr.Y = append(tr.T, 5*float64(i)/11), append(tr.Y, tr.X0[0]+0.05*rng.NormFloat64())
		}
		d.Trajectories = append(d.Trajectories, tr)
	}
	r := small()
	r.Rounds, r.Refits, r.Final.Steps = 8, 2, 400
	var told []string
	r.Told = func(what string) { told = append(told, what) }
	m, err := Learn(context.Background(), d, r, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(told) < 20 || told[0] != "members are trained" || !slices.Contains(told, "the smoother is taught, 50 %") && !slices.Contains(told, "the smoother is taught, 52 %") {
		t.Errorf("told %q", told)
	}
	mean, std := make([]float64, 2), make([]float64, 2)
	m.Predict(mean, std, []float64{2}, []float64{1, 5})
	for i, v := range mean {
		if !(math.Abs(v-2) < 0.15) || !(std[i] > 0 && std[i] < 0.3) {
			t.Errorf("%v ± %v of a state that stays at 2", v, std[i])
		}
	}
}

func TestDataAreChecked(t *testing.T) {
	for want, spoil := range map[string]func(d *Data){
		"trajectory 2: time 3 is":            func(d *Data) { d.Trajectories[1].T[2] = 0.1 },
		"trajectory 2: state 1 of the start": func(d *Data) { d.Trajectories[1].X0[0] = math.NaN() },
		"trajectory 1: state 2 at time 3 is": func(d *Data) { d.Trajectories[0].Y[5] = math.Inf(1) },
		"trajectory 1: a start of 2 and":     func(d *Data) { d.Trajectories[0].Y = d.Trajectories[0].Y[1:] },
		"no state was measured after time 0": func(d *Data) { d.Trajectories = nil },
	} {
		d := turning(2, 8, 0.05)
		spoil(d)
		if _, err := Learn(context.Background(), d, small(), 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	r := small()
	r.Members = 0
	if _, err := Learn(context.Background(), turning(2, 8, 0.05), r, 1); err == nil {
		t.Error("no members, no error")
	}
}

// Where no flow can be integrated the smoother learns from the members.
func TestMembersTeachToo(t *testing.T) {
	d := turning(5, 8, 0.05)
	r := small()
	f, err := Train(context.Background(), d, r.Settings, 1)
	if err != nil {
		t.Fatal(err)
	}
	m := &Model{K: d.K, Members: []*Fit{f}}
	r.Final.Starts, r.Final.Steps = 100, 500
	s, err := teach(context.Background(), m.together(), f.Inputs, d, r.Final, func(string) {}, 1)
	if err != nil {
		t.Fatal(err)
	}
	times := []float64{1, 2, 3, 4}
	a, va, b, vb := make([]float64, 8), make([]float64, 8), make([]float64, 8), make([]float64, 8)
	f.Predict(a, va, []float64{1, 0}, times)
	s.Predict(b, vb, []float64{1, 0}, times)
	for i := range a {
		if math.Abs(a[i]-b[i]) > 0.1 || vb[i] < 0.3*va[i] || vb[i] > 3*va[i]+0.01 {
			t.Errorf("number %d: smoother %v ± %v, member %v ± %v", i, b[i], math.Sqrt(vb[i]), a[i], math.Sqrt(va[i]))
		}
	}
	if m.Integrate(a, va, []float64{1, 0}, times) {
		t.Error("there is nothing to integrate")
	}
}

// Flows within five nats of the best count, however few the data are; of many data
// those within a hundredth of a nat a number.
func TestFlowsThatExplainTheDataCount(t *testing.T) {
	few := turning(2, 5, 0)    // 20 numbers
	many := turning(50, 20, 0) // 2000 numbers
	flows := []*Flow{{Evidence: 4.9}, nil, {Evidence: 0}, {Evidence: 5.1}, {Evidence: 19}, {Evidence: 21}}
	for _, c := range []struct {
		d    *Data
		want int
	}{{few, 2}, {many, 4}} {
		if got := explain(flows, c.d); len(got) != c.want {
			t.Errorf("%d numbers: %d flows count, want %d", c.d.Rows()*c.d.K, len(got), c.want)
		}
	}
}

// Flows refined on what another flow says, with noise, are off by what they claim: where
// terms were chosen somewhat more, which is what refits are for.
func TestRefitsAreOffByWhatTheyClaim(t *testing.T) {
	d := turning(5, 20, 0.05)
	r := small()
	f, err := Train(context.Background(), d, r.Settings, 1)
	if err != nil {
		t.Fatal(err)
	}
	learned := func(d *Data) *Model {
		flow := f.newPlainFlow(d, sparse)
		if !flow.Shoot(context.Background(), d, 12) {
			t.Fatal("cannot be integrated")
		}
		return &Model{K: d.K, Temper: 1, Members: []*Fit{f}, Flows: []*Flow{flow}}
	}
	truth := learned(d)
	const n = 40
	sum := 0.0
	for i := range uint64(n) {
		own, ok := truth.drawn(d, truth.Flows[0], rand.New(rand.NewPCG(2, i)))
		if !ok {
			t.Fatal("cannot be integrated")
		}
		m := learned(own)
		ratio, ok := m.distance(truth, d)
		if !ok {
			t.Fatal("no ratio")
		}
		sum += ratio
		for j := range m.Flows[0].Inv {
			m.Flows[0].Inv[j] *= 0.5
		}
		if sure, _ := m.distance(truth, d); math.Abs(sure-4*ratio) > 1e-9*sure {
			t.Fatalf("half of the standard deviation makes %v of %v", sure, ratio)
		}
	}
	// Weak terms are left out in some draws and kept in others: 2.2 here.
	if mean := sum / n; mean < 0.8 || mean > 3.5 {
		t.Errorf("variances have to be multiplied by %v", mean)
	}
	plain, wide := make([]float64, 4), make([]float64, 4)
	truth.say(make([]float64, 4), plain, d.Trajectories[0].X0, []float64{1, 2})
	truth.Temper = 4
	truth.say(make([]float64, 4), wide, d.Trajectories[0].X0, []float64{1, 2})
	truth.Temper = 1
	for i, v := range plain {
		if math.Abs(wide[i]-4*v) > 1e-12*wide[i] {
			t.Errorf("variance %v, four times as large %v", v, wide[i])
		}
	}
	r.Refits = 3
	if err := truth.temper(context.Background(), d, r, 1); err != nil || truth.Temper == 1 || truth.Temper < leastTemper || truth.Temper > mostTemper {
		t.Errorf("factor %v, %v", truth.Temper, err)
	}
	if _, ok := (&Model{K: d.K, Temper: 1}).distance(truth, d); ok {
		t.Error("a ratio without flows")
	}
}
