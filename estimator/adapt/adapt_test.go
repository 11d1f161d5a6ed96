package adapt

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
)

func TestModelsWithoutRatesDoNotAdapt(t *testing.T) {
	m := adaptable()
	m.Adaptation.Rate = nil
	if _, err := New(m, nil); !errors.Is(err, ErrNone) {
		t.Errorf("%v", err)
	}
}

// A model with so many states that learning would hold up predictions does not adapt.
func TestModelsOfManyStatesDoNotAdapt(t *testing.T) {
	for states, most := range map[int]bool{40: true, 50: false} {
		m := artificial.New(artificial.Size{K: states, P: 4, Features: 4, Points: 2, Horizon: 1, Equation: 1}, 1)
		m.Adaptation.Rate = slices.Repeat([]float64{1}, states)
		_, err := New(m, func(times []float64) (Predictor, error) { return estimator.NewFast(m, times) })
		if adapts := err == nil; adapts != most || !adapts && !errors.Is(err, ErrNone) {
			t.Errorf("%d states: %v", states, err)
		}
		if adapts := NewCorrector(m) != nil; adapts != most {
			t.Errorf("%d states: corrected %v", states, adapts)
		}
	}
}

func TestLearnsAChangedInput(t *testing.T) {
	m := adaptable()
	f := filter(t, m)
	theta := make([]float64, len(f.state.Theta))
	theta[m.K] = -0.2
	r := newRobot(t, m, theta)
	r.fly(f, 20)
	s := f.State()
	for i, want := range theta {
		if math.Abs(s.Theta[i]-want) > 0.05 {
			t.Errorf("parameter %d is %.3f, expected %.3f", i, s.Theta[i], want)
		}
	}
	if s.Share() < 0.3 {
		t.Errorf("adaptation counts %.2f", s.Share())
	}
	gain := s.Amounts(m)[m.K]
	if gain.Unit != "%" || math.Abs(gain.Value+20) > 5 || !(gain.Std > 0) {
		t.Errorf("%+v", gain)
	}
	f.Reset()
	if s.Theta[m.K] != 0 || s.Share() > 0.21 {
		t.Errorf("after a reset %v", s.Theta)
	}
}

func TestAnUnchangedRobotStaysUnchanged(t *testing.T) {
	m := adaptable()
	f := filter(t, m)
	r := newRobot(t, m, make([]float64, len(f.state.Theta)))
	r.fly(f, 30)
	q := estimator.Query{X0: r.x, U: r.u}
	p, err := estimator.New(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	before, after := p.NewPrediction(), p.NewPrediction()
	if !p.Predict(before, &q) || !p.Predict(after, &q) || !f.Correct(after, &q) {
		t.Fatal("not predicted")
	}
	for j := range before.Mean {
		if math.Abs(after.Mean[j]-before.Mean[j]) > 0.25*before.ObsStd[j] || after.ObsStd[j] > 1.2*before.ObsStd[j] {
			t.Errorf("%d: %v ± %v became %v ± %v", j, before.Mean[j], before.ObsStd[j], after.Mean[j], after.ObsStd[j])
		}
	}
}

// The derivatives of a corrected mean are those of differences between its times.
func TestCorrectedDerivatives(t *testing.T) {
	m := adaptable()
	f := filter(t, m)
	theta := make([]float64, len(f.state.Theta))
	theta[m.K], theta[0] = -0.2, 0.3
	r := newRobot(t, m, theta)
	r.fly(f, 10)
	const h = 1e-5
	p, err := estimator.New(m, []float64{0.26, 0.26 + h})
	if err != nil {
		t.Fatal(err)
	}
	dst := p.NewPrediction().WithDerivatives()
	q := estimator.Query{X0: r.x, U: r.u}
	if !p.Predict(dst, &q) || !f.Correct(dst, &q) {
		t.Fatal("not predicted")
	}
	for k := range m.K {
		slope := (dst.Mean[m.K+k] - dst.Mean[k]) / h
		if math.Abs(slope-dst.DMean[k]) > 0.02*(1+math.Abs(slope)) {
			t.Errorf("state %d: derivative %v, differences %v", k, dst.DMean[k], slope)
		}
	}
}

// What the history would add is checked as the rest is: a prediction stays as it is where it
// is not finite.
func TestACorrectionThatIsNotFiniteIsLeftOut(t *testing.T) {
	m := artificial.New(artificial.Size{K: 2, P: 1, Features: 4, Points: 20, Horizon: 0.5, Equation: 1, History: []float64{0.05, 0.1}}, 3)
	m.Adaptation.Rate = []float64{2, 1}
	p, err := estimator.New(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := filter(t, m)
	f.state.Theta[0] = 1
	q := estimator.Query{X0: []float64{0, 0}, U: []float64{0}, Plan: []float64{0}, History: make([]float64, 6)}
	dst := p.NewPrediction()
	if !p.Predict(dst, &q) || !f.Correct(dst, &q) {
		t.Fatal("not predicted")
	}
	before := slices.Clone(dst.Mean)
	for i := range m.Stack {
		if c := &m.Stack[i]; c.Kind == model.Direct {
			for j := range c.Direct.Levels {
				for k := range c.Direct.Levels[j].Weights {
					c.Direct.Levels[j].Weights[k] = math.Inf(1)
				}
			}
		}
	}
	if NewCorrector(m).Correct(dst, &q, f.State()) || !slices.Equal(dst.Mean, before) {
		t.Errorf("%v became %v", before, dst.Mean)
	}
}

// The same calls give the same numbers; a state that is kept and restored, too.
func TestRestoredFilterContinues(t *testing.T) {
	m := adaptable()
	a, b := filter(t, m), filter(t, m)
	theta := []float64{0.2, 0, -0.2, 0, 0}
	newRobot(t, m, theta[:len(a.state.Theta)]).fly(a, 5)
	newRobot(t, m, theta[:len(b.state.Theta)]).fly(b, 5)
	if !slices.Equal(a.State().Numbers(nil), b.State().Numbers(nil)) {
		t.Fatal("the same calls gave other numbers")
	}
	kept := a.State().Clone()
	numbers := kept.Numbers(nil)
	c := filter(t, m)
	if err := c.Restore(kept, 0); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.State().Numbers(nil), numbers) {
		t.Error("the restored state differs")
	}
	if err := c.Restore(kept, 1e6); err != nil {
		t.Fatal(err)
	}
	for i, v := range c.State().Theta {
		if math.Abs(v) > 1e-9 || math.Abs(c.State().Covariance[i*len(c.prior)+i]-c.prior[i]) > 1e-9 {
			t.Errorf("parameter %d after a long time: %v", i, v)
		}
	}
	wide := kept.Clone()
	wide.Theta[0] = 1e6
	if err := c.Restore(wide, 0); err != nil || c.State().Theta[0] > widest*biasStd {
		t.Errorf("%v: a parameter of 1e6 became %v", err, c.State().Theta[0])
	}
	for i := range numbers {
		damaged := kept.Clone()
		bad := slices.Clone(numbers)
		bad[i] = math.NaN()
		if err := damaged.SetNumbers(bad); err != nil {
			t.Fatal(err)
		}
		if err := c.Restore(damaged, 0); err == nil {
			t.Errorf("number %d is NaN and was taken", i)
		}
	}
	kept.Covariance[1] += 1
	if c.Restore(kept, 0) == nil {
		t.Error("a covariance that is not symmetric was taken")
	}
	if kept.SetNumbers(numbers[1:]) == nil {
		t.Error("a number too few was taken")
	}
	other := a.State().Clone()
	other.Kind = "another robot"
	if c.Restore(other, 0) == nil {
		t.Error("another robot's state was taken")
	}
}

// A model of the same kind with other rates means the same by what it restores.
func TestRestoreInOtherUnits(t *testing.T) {
	m := adaptable()
	a := filter(t, m)
	newRobot(t, m, []float64{0.3, 0, 0, 0, 0}[:len(a.state.Theta)]).fly(a, 5)
	other := adaptable()
	other.Adaptation.Rate = []float64{4, 0.5}
	b := filter(t, other)
	if err := b.Restore(a.State(), 0); err != nil {
		t.Fatal(err)
	}
	before, after := a.State().Amounts(m), b.State().Amounts(other)
	for i := range before {
		if math.Abs(before[i].Value-after[i].Value) > 1e-9*(1+math.Abs(before[i].Value)) || math.Abs(before[i].Std-after[i].Std) > 1e-9 {
			t.Errorf("%+v became %+v", before[i], after[i])
		}
	}
}

// Whatever comes, nothing is lost for good: what is learned stays finite and within bounds,
// and a robot that has not changed is predicted as before some seconds later.
func TestBadSamples(t *testing.T) {
	for name, spoil := range map[string]func(i int, t *int64, x, u []float64){
		"not a number":   func(i int, _ *int64, x, _ []float64) { x[i%2] = math.NaN() },
		"infinite input": func(_ int, _ *int64, _, u []float64) { u[0] = math.Inf(1) },
		"garbage":        func(i int, _ *int64, x, _ []float64) { x[0] += 10 * math.Sin(float64(i*i)) },
		"huge":           func(_ int, _ *int64, x, u []float64) { x[0], u[0] = 1e300, -1e300 },
		"frozen":         func(_ int, _ *int64, x, _ []float64) { x[0], x[1] = 0.1, 0.1 },
		"clock back":     func(_ int, t *int64, _, _ []float64) { *t -= 3_600_000_000_000 },
		"clock ahead":    func(_ int, t *int64, _, _ []float64) { *t += 1 << 61 },
		"same stamp":     func(_ int, t *int64, _, _ []float64) { *t = 5_000_000_000 },
		"gaps":           func(i int, t *int64, _, _ []float64) { *t += int64(i) * 200_000_000 },
	} {
		t.Run(name, func(t *testing.T) {
			m := adaptable()
			f := filter(t, m)
			r := newRobot(t, m, make([]float64, len(f.state.Theta)))
			same, undisturbed := filter(t, m), newRobot(t, m, r.theta)
			r.fly(f, 5)
			undisturbed.fly(same, 17)
			for i := range 200 {
				at, x, u := r.t, r.measured(), slices.Clone(r.u)
				spoil(i, &at, x, u)
				f.Observed(at, x, u)
				r.step()
			}
			s := f.State()
			if err := s.check(s); err != nil {
				t.Fatal(err)
			}
			for i, v := range s.Theta {
				if math.Abs(v) > widest*math.Sqrt(f.prior[i]) {
					t.Errorf("parameter %d is %v", i, v)
				}
			}
			r.fly(f, 10)
			for i, v := range s.Theta {
				if want := same.state.Theta[i]; math.Abs(v-want) > 0.1 {
					t.Errorf("parameter %d is %v ten seconds later, undisturbed %v", i, v, want)
				}
			}
		})
	}
}

// No window lasts from one end of time to the other.
func TestIntervalsThatOverflow(t *testing.T) {
	f := filter(t, adaptable())
	for _, at := range []int64{math.MinInt64, math.MaxInt64} {
		f.Observed(at, []float64{0, 0}, []float64{0})
	}
	if f.n != 1 || f.number != 1 || f.begun != math.MaxInt64 {
		t.Errorf("%d windows wait of %d, the newest began at %d", f.n, f.number, f.begun)
	}
}

// The covariance stays symmetric and positive over a day of learning.
func TestCovarianceStaysPositiveForADay(t *testing.T) {
	m := adaptable()
	f := filter(t, m)
	q := len(f.prior)
	rng := rand.New(rand.NewPCG(5, 6))
	s := make([]float64, q)
	for i := range 24 * 3600 * perHorizon {
		for j := range s {
			s[j] = rng.NormFloat64() * math.Pow(10, 3*rng.Float64())
		}
		f.update(s, rng.NormFloat64()*1e-2, 1e-6, 4) // far more certain than any sensor
		f.age(1. / perHorizon)
		if i%10_000 == 0 {
			if err := checkPositive(f.state.Covariance, q); err != nil {
				t.Fatalf("after %d steps: %v", i, err)
			}
		}
	}
	if err := checkPositive(f.state.Covariance, q); err != nil {
		t.Fatal(err)
	}
}

func TestDoesNotAllocate(t *testing.T) {
	m := adaptable()
	f := filter(t, m)
	r := newRobot(t, m, make([]float64, len(f.state.Theta)))
	r.fly(f, 2)
	p, err := estimator.New(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	dst, q := p.NewPrediction(), estimator.Query{X0: r.x, U: r.u}
	if n := testing.AllocsPerRun(200, func() {
		r.t += period
		f.Observed(r.t, r.x, r.u)
		p.Predict(dst, &q)
		f.Correct(dst, &q)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkQuadrotor is what adaptation costs with a model of the size of a quadrotor's: the
// correction of a prediction of 12 states at 100 points, beside the prediction, and a second of
// learning from samples at 100 Hz.
func BenchmarkQuadrotor(b *testing.B) {
	size := artificial.Size{K: 12, P: 4, Features: 100, Basis: 2, Members: 3, D: 3, Core: []int{32, 32}, Points: 100, Horizon: 0.5, Equation: 1, Nets: 3}
	for i := range 20 {
		size.History = append(size.History, 0.01*float64(i+1))
	}
	m := artificial.New(size, 1)
	m.Adaptation.Rate = slices.Repeat([]float64{0.1}, m.K)
	var fast *estimator.Fast
	f, err := New(m, func(times []float64) (p Predictor, err error) {
		if fast == nil {
			fast, err = estimator.NewFast(m, times)
			return fast, err
		}
		return fast.For(times)
	})
	if err != nil {
		b.Fatal(err)
	}
	p, err := fast.For(nil)
	if err != nil {
		b.Fatal(err)
	}
	dst := p.NewPrediction()
	q := estimator.Query{X0: make([]float64, m.K), Plan: make([]float64, 25*m.P), History: make([]float64, m.History.Rows()*(m.K+m.P))}
	b.Run("prediction", func(b *testing.B) {
		for b.Loop() {
			p.Predict(dst, &q)
		}
	})
	b.Run("correction", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f.Correct(dst, &q)
		}
	})
	b.Run("second of learning", func(b *testing.B) {
		b.ReportAllocs()
		x, u := make([]float64, m.K), make([]float64, m.P)
		t := int64(0)
		for b.Loop() {
			for range 100 {
				t += 10_000_000
				x[t/10_000_000%12] += 1e-3
				f.Observed(t, x, u)
			}
		}
	})
}
