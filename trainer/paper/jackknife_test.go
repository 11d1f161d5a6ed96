package paper

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// Where the form and the noise model are right, refits without some trajectories differ as the
// flow claims; where every trajectory has a speed of its own, which the flow counts as noise,
// they differ by more.
func TestJackknifeOfSeparateSpeeds(t *testing.T) {
	r := small()
	ratio := func(d *Data) (m *Model, ratio float64) {
		t.Helper()
		f, err := Train(context.Background(), d, r.Settings, 1)
		if err != nil {
			t.Fatal(err)
		}
		flow := f.newFlow(d, linear)
		if !flow.Shoot(context.Background(), d, 12) {
			t.Fatal("cannot be integrated")
		}
		m = &Model{K: d.K, VarianceInflation: 1, Members: []*Fit{f}, Flows: []*Flow{flow}}
		r := r
		r.Refits = 8
		if err := m.inflate(context.Background(), d, r, 1); err != nil {
			t.Fatal(err)
		}
		return m, m.VarianceInflation
	}
	d := turning(32, 12, 0.05)
	m, right := ratio(d)
	if right == 1 || !(right >= leastInflation) || !(right <= 2) {
		t.Errorf("the form is right, and the factor %v", right)
	}
	own := turning(32, 12, 0.02)
	rng := rand.New(rand.NewPCG(3, 3))
	for j := range own.Trajectories {
		tr := &own.Trajectories[j]
		speed := 1 + 0.1*rng.NormFloat64()
		for i, at := range tr.T {
			x := rotated(tr.X0[0], at*speed)
			tr.Y[2*i], tr.Y[2*i+1] = x[0]+0.02*rng.NormFloat64(), x[1]+0.02*rng.NormFloat64()
		}
	}
	if _, wide := ratio(own); !(wide >= 3) {
		t.Errorf("every trajectory has a speed of its own, and the factor is %v", wide)
	}

	m.VarianceInflation = 1
	without := make([]*Model, 8)
	if _, ok := m.jackknifeVariance(without, d); ok {
		t.Error("a ratio without refits")
	}
	for g := range without {
		c := m.Flows[0].copy()
		c.Theta[g%len(c.Theta)] += 0.001 * float64(1+g)
		without[g] = &Model{K: 2, VarianceInflation: 1, Flows: []*Flow{c}}
	}
	full, ok := m.jackknifeVariance(without, d)
	flow := m.Flows[0]
	for i := range flow.Inv {
		flow.Inv[i] *= 0.5
	}
	flow.setPosterior(flow.Inv)
	if halved, _ := m.jackknifeVariance(without, d); !ok || !(full > 0) || !(math.Abs(halved-4*full) <= 1e-9*halved) {
		t.Errorf("half of the standard deviation makes %v of %v", halved, full)
	}
	without[3], without[5] = nil, nil
	if _, ok := m.jackknifeVariance(without, d); !ok {
		t.Error("two of eight groups failed, and there is no ratio")
	}
}

// claiming returns a model of one flow with standard deviation std of each parameter.
func claiming(f *Flow, std float64) *Model {
	P := len(f.Theta)
	inv := make([]float64, P*P)
	for i := range P {
		inv[i*P+i] = std
	}
	f.setPosterior(inv)
	return &Model{K: f.Dim(), VarianceInflation: 1, Flows: []*Flow{f}}
}

// Where refits differ from the flow by known amounts, the ratio is the jackknife's variance
// (G − 1)/G Σ(…)², of the groups that were refined, over what the flow claims.
func TestScatterIsTheJackknife(t *testing.T) {
	d := turning(25, 6, 0.05) // more trajectories than are looked at
	flow := rotation(d)
	m := claiming(flow, 0.01)
	const G = 8
	without := make([]*Model, G)
	for g := range without {
		c := flow.copy()
		c.Theta[g%len(c.Theta)] += 0.002 * float64(1+g)
		without[g] = &Model{K: 2, VarianceInflation: 1, Flows: []*Flow{c}}
	}
	without[2], without[5] = nil, nil
	squares, variances := make([]float64, 2), make([]float64, 2)
	for j := 0; j < 25; j += 2 {
		tr := &d.Trajectories[j]
		size := len(tr.Y)
		mean, variance := make([]float64, size), make([]float64, size)
		if !flow.predict(mean, variance, tr.X0, tr.T) {
			t.Fatal("cannot be integrated")
		}
		clear(mean)
		var all [][]float64
		for _, w := range without {
			if w == nil {
				continue
			}
			one := make([]float64, size)
			if !w.Flows[0].predict(one, nil, tr.X0, tr.T) {
				t.Fatal("cannot be integrated")
			}
			all = append(all, one)
			for i, v := range one {
				mean[i] += v / 6
			}
		}
		for i, v := range variance {
			variances[i%2] += v
			for _, one := range all {
				squares[i%2] += 5. / 6 * (one[i] - mean[i]) * (one[i] - mean[i])
			}
		}
	}
	want := (squares[0]/variances[0] + squares[1]/variances[1]) / 2
	if got, ok := m.jackknifeVariance(without, d); !ok || !(math.Abs(got-want) <= 1e-9*want) {
		t.Errorf("the ratio is %v, want %v", got, want)
	}
	without[0] = nil
	if _, ok := m.jackknifeVariance(without, d); !ok {
		t.Error("five of eight groups were refined, and there is no ratio")
	}
	without[7] = nil
	if ratio, ok := m.jackknifeVariance(without, d); ok {
		t.Errorf("half of the groups failed, and the ratio is %v", ratio)
	}
}

// Factors are within their bounds, and 1 where there is nothing to find them by.
func TestFactorsHaveBounds(t *testing.T) {
	d, few := turning(8, 6, 0.05), turning(7, 6, 0.05)
	for name, c := range map[string]struct {
		d      *Data
		std    float64 // that the flow claims of its parameters
		refits int
		known  *Known
		want   float64
	}{
		"variance far too small":  {d, 1e-6, 2, nil, mostInflation},
		"variance far too large":  {d, 1, 2, nil, leastInflation},
		"a known field":           {d, 1e-6, 2, spinning(), 1},
		"too few trajectories":    {few, 1e-6, 2, nil, 1},
		"no refits":               {d, 1e-6, 0, nil, 1},
		"one group":               {d, 1e-6, 1, nil, 1},
		"more groups than it has": {d, 1e-6, 3, nil, 1},
	} {
		m := claiming(rotation(c.d), c.std)
		r := small()
		r.Refits, r.Known = c.refits, c.known
		if err := m.inflate(context.Background(), c.d, r, 1); err != nil {
			t.Fatal(err)
		}
		if m.VarianceInflation != c.want {
			t.Errorf("%s: factor %v, want %v", name, m.VarianceInflation, c.want)
		}
	}
}

// A copy shares no memory with its flow.
func TestCopiesShareNoMemory(t *testing.T) {
	d := turning(4, 8, 0.05)
	f, err := Train(context.Background(), d, small().Settings, 1)
	if err != nil {
		t.Fatal(err)
	}
	flow := f.newFlow(d, rawAndNet)
	c := flow.copy()
	x0, at := []float64{1, 0}, []float64{1, 2}
	was, is := make([]float64, 4), make([]float64, 4)
	flow.predict(was, nil, x0, at)
	if c.predict(is, nil, x0, at); is[3] != was[3] {
		t.Errorf("a copy predicts %v, the flow %v", is, was)
	}
	for i := range c.Theta {
		c.Theta[i] *= 0.5
	}
	c.Alpha[0], c.Sigma[0] = 7, 7
	if flow.predict(is, nil, x0, at); is[3] != was[3] || flow.Alpha[0] == 7 || flow.Sigma[0] == 7 {
		t.Error("the copy's numbers are the flow's")
	}
	if c.predict(is, nil, x0, at); is[3] == was[3] {
		t.Error("the copy's field does not follow its parameters")
	}
}

// A linear parameter θ of prior precision α that n observations of precision s measure is
// claimed to within 1/(α + ns), of which the share α/(α + ns) is bias by the prior.
func TestPriorBias(t *testing.T) {
	d := turning(6, 10, 0.05)
	f, err := Train(context.Background(), d, small().Settings, 1)
	if err != nil {
		t.Fatal(err)
	}
	flow := f.newFlow(d, linear)
	n := newNewton(flow, d)
	for i := range flow.Alpha {
		flow.Alpha[i] = 3 * float64(i+1)
	}
	if _, ok := n.residuals(true); !ok {
		t.Fatal("cannot be integrated")
	}
	n.system()
	if !n.factorise(0) {
		t.Fatal("not positive definite")
	}
	flow.setPosterior(n.inv)
	x0, times := []float64{0.9, 0.1}, []float64{1, 2.5}
	mean, variance := make([]float64, 4), make([]float64, 4)
	bias, ok := flow.squaredBias(x0, times)
	if !ok || !flow.predict(mean, variance, x0, times) {
		t.Fatal("cannot be integrated")
	}
	// The part due to noise, J(H⁻¹)ᵀ squared row by row, is the rest of the variance.
	P := len(flow.Theta)
	w := flow.tangent(true)
	rest, row := make([]float64, 4), 0
	flow.integrate(w, mean, x0, times, func(int) {
		for k := range 2 {
			s := make([]float64, P) // L⁻¹ of the state's derivatives
			for r := range P {
				for c := range r + 1 {
					s[r] += n.inv[r*P+c] * w.S[k*P+c]
				}
			}
			for j := range len(n.e) {
				a := 0.0
				for r := range P {
					b := 0.0
					for c := range r + 1 {
						b += n.inv[r*P+c] * n.J[j*P+c]
					}
					a += b * s[r]
				}
				rest[row] += math.Pow(flow.Inputs.Lift.Std[k]*a, 2)
			}
			row++
		}
	})
	for i, v := range variance {
		if !(bias[i] > 0.001*v) || !(math.Abs(bias[i]+rest[i]-v) <= 1e-9*v) {
			t.Errorf("bias %v and noise %v of %v", bias[i], rest[i], v)
		}
	}
	m := &Model{K: 2, VarianceInflation: 1, Flows: []*Flow{flow}}
	one, ok := m.priorBias(d)
	if !ok || !(one > 0) || one >= 1 {
		t.Errorf("share %v", one)
	}
	m.Flows = append(m.Flows, flow)
	if two, ok := m.priorBias(d); !ok || !(math.Abs(two-one) <= 1e-12) {
		t.Errorf("twice the same flow: %v, once %v", two, one)
	}
}
