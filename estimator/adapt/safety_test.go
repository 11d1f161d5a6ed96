package adapt

import (
	"math"
	"os"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
)

// rest feeds a filter with a robot that is held, by the ground or a hand, for so many seconds:
// noise around its last state, and an input that would move it.
func (r *robot) rest(f *Filter, s, input float64) {
	u := []float64{r.m.Inputs.InputMean[0] + input*r.m.Inputs.InputStd[0]}
	for range int(s * 1e9 / period) {
		f.Observed(r.t, r.measured(), u)
		r.t += period
	}
}

// errors flies for so many seconds under inputs that are held for the horizon, and returns
// the root of the summed squares of errors at the horizon, of the model and of corrected
// predictions.
func (r *robot) errors(t *testing.T, f *Filter, s float64) (plain, corrected float64) {
	p, err := estimator.New(r.m, []float64{r.m.Horizon})
	if err != nil {
		t.Fatal(err)
	}
	a, b := p.NewPrediction(), p.NewPrediction()
	steps := int(math.Round(r.m.Horizon * 1e9 / period))
	for range int(s / r.m.Horizon) {
		r.u[0] = r.m.Inputs.InputMean[0] + 2*r.m.Inputs.InputStd[0]*r.rng.NormFloat64()
		u := slices.Clone(r.u)
		q := estimator.Query{X0: r.measured(), U: u}
		if !p.Predict(a, &q) || !p.Predict(b, &q) || !f.Correct(b, &q) {
			t.Fatal("not predicted")
		}
		for range steps {
			f.Observed(r.t, r.measured(), u)
			r.step()
			copy(r.u, u)
		}
		for k, x := range r.measured() {
			plain += (x - a.Mean[k]) * (x - a.Mean[k])
			corrected += (x - b.Mean[k]) * (x - b.Mean[k])
		}
	}
	return math.Sqrt(plain), math.Sqrt(corrected)
}

// asBefore fails unless what was learned is close to that of a robot that has not changed, and
// predictions are as good as those of the model alone: at once after three seconds of flight,
// and ten seconds later.
func (r *robot) asBefore(t *testing.T, f *Filter) {
	t.Helper()
	r.fly(f, 3)
	plain, corrected := r.errors(t, f, 10)
	if corrected > 1.05*plain {
		t.Errorf("from three seconds on the error is %.4f, without adaptation %.4f", corrected, plain)
	}
	sound(t, f)
	for i, v := range f.state.Theta {
		if math.Abs(v) > 0.1 {
			t.Errorf("parameter %d is %.3f thirteen seconds later", i, v)
		}
	}
}

// sound fails unless what was learned is within its bounds.
func sound(t *testing.T, f *Filter) {
	t.Helper()
	s := f.State()
	if err := s.check(s); err != nil {
		t.Fatal(err)
	}
	q := len(f.prior)
	for i, v := range s.Theta {
		if c := s.Covariance[i*q+i]; math.Abs(v) > widest*math.Sqrt(f.prior[i])*(1+1e-9) || c > f.prior[i]*(1+1e-9) {
			t.Errorf("parameter %d is %.3f with a variance of %.4f, bounds %.3f and %.4f", i, v, c, widest*math.Sqrt(f.prior[i]), f.prior[i])
		}
	}
	if math.Abs(s.Acting[0]) > surest {
		t.Errorf("inputs that act are %v better", s.Acting[0])
	}
	for i, v := range s.RestCovariances {
		if most := restPrior * (1 + 1e-9); math.Abs(v) > most || f.onDiagonal(i) && v <= 0 {
			t.Errorf("number %d of the covariances of the regressions is %v", i, v)
		}
	}
}

// On the ground an input has no effect, or less than it has in flight. Take-off and landing are
// such changes in a row.
func TestRestTakeOffAndLanding(t *testing.T) {
	for name, input := range map[string]float64{"idle": -1, "light": -0.02, "none": 0} {
		t.Run(name, func(t *testing.T) {
			m := adaptable()
			f := filter(t, m)
			r := newRobot(t, m, make([]float64, len(f.state.Theta)))
			r.rest(f, 300, input)
			sound(t, f)
			r.asBefore(t, f)
			for range 5 {
				r.rest(f, 4, input)
				r.fly(f, 4)
			}
			r.rest(f, 60, input)
			sound(t, f)
			r.asBefore(t, f)
		})
	}
}

// A sensor that is frozen for a minute.
func TestFrozenForAMinute(t *testing.T) {
	m := adaptable()
	f := filter(t, m)
	r := newRobot(t, m, make([]float64, len(f.state.Theta)))
	r.fly(f, 10)
	frozen := r.measured()
	for range int(60e9 / period) {
		f.Observed(r.t, []float64{frozen[0], r.measured()[1]}, r.u)
		r.step()
	}
	sound(t, f)
	r.asBefore(t, f)
}

// The robot's clock is set again and again: what was learned stays, because no error is made
// of samples from before and after it. A clock that goes too fast is a changed robot.
func TestClockSteps(t *testing.T) {
	m := adaptable()
	f := filter(t, m)
	theta := make([]float64, len(f.state.Theta))
	theta[m.K] = -0.2
	r := newRobot(t, m, theta)
	r.fly(f, 20)
	for i := range 40 {
		r.t += []int64{40e6, 3600e9, -300e6, -3600e9}[i%4]
		r.fly(f, 0.7)
		sound(t, f)
		if g := f.state.Theta[m.K]; i%4 != 2 && math.Abs(g+0.2) > 0.2 { // an hour forgets
			t.Errorf("after step %d of the clock the gain is %.3f", i, g)
		}
	}
	r.fly(f, 10)
	for i, want := range theta {
		if math.Abs(f.state.Theta[i]-want) > 0.06 {
			t.Errorf("parameter %d is %.3f, expected %.3f", i, f.state.Theta[i], want)
		}
	}
}

// A change beyond the bounds is held at them, and unlearned in seconds when it ends.
func TestNothingWindsUpAtTheBounds(t *testing.T) {
	m := adaptable()
	f := filter(t, m)
	theta := make([]float64, len(f.state.Theta))
	theta[m.K] = -0.99
	r := newRobot(t, m, theta)
	r.fly(f, 120)
	sound(t, f)
	if g, most := f.state.Theta[m.K], widest*gainStd; g > -0.9*most {
		t.Errorf("a gain of -1.4 was learned as %.3f, the bound is %.3f", g, -most)
	}
	clear(r.theta)
	r.asBefore(t, f)
}

// What is certain after minutes of flight is learned anew in seconds when it changes.
func TestAChangeAfterALongFlight(t *testing.T) {
	m := adaptable()
	f := filter(t, m)
	r := newRobot(t, m, make([]float64, len(f.state.Theta)))
	r.fly(f, 300)
	r.theta[m.K] = -0.6
	r.fly(f, 3)
	if g := f.state.Theta[m.K]; math.Abs(g+0.6) > 0.1 {
		t.Errorf("three seconds later the gain is %.3f, expected -0.6", g)
	}
}

// learned returns a filter that has learned that an input has a fifth less effect, with its robot and the model's predictor.
func learned(t *testing.T) (*Filter, *robot, *estimator.Predictor) {
	t.Helper()
	m := adaptable()
	f := filter(t, m)
	theta := make([]float64, len(f.state.Theta))
	theta[m.K] = -0.2
	r := newRobot(t, m, theta)
	r.fly(f, 20)
	p, err := estimator.New(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f, r, p
}

// Of the mixture of a series as much is published as its moves explain of the errors of late, with caution where they leave much; what was
// learned stays.
func TestTheLedgerTakesAdaptationBack(t *testing.T) {
	f, r, p := learned(t)
	moved := func(plan []float64) (out float64) {
		plain, corrected, q := p.NewPrediction(), p.NewPrediction(), estimator.Query{X0: r.x, U: r.u, Plan: plan}
		if !p.Predict(plain, &q) || !p.Predict(corrected, &q) || !f.Correct(corrected, &q) {
			t.Fatal("not predicted")
		}
		for j, v := range plain.Mean {
			out = max(out, math.Abs(corrected.Mean[j]-v))
		}
		return out
	}
	const entries, moves = 16., 1000.
	set := func(part, left float64) { // of the moves that were right, and variance of what they leave
		for i := range f.state.Variances {
			copy(f.state.Ledger[ledgerSums*i:], []float64{entries, part*part*moves + left*entries, part * moves, moves})
		}
	}
	best := func(part float64) float64 { return (part*moves + ledgerPrior) / (moves + ledgerPrior) }
	set(1, 1)
	whole := [...]float64{moved(r.u), moved(nil)}
	if whole[0] == 0 || whole[1] == 0 {
		t.Fatal("nothing was learned")
	}
	for _, c := range []struct{ part, left, want float64 }{
		{1, 0.9 * ledgerLeft, 1},
		{1.5, 1, 1},
		{0.8, 1, 1},
		{0.4, 1, ledgerReach * best(0.4)},
		{-1, 1, 0},
		{0.5, ledgerLeft + 0.1*moves/entries, ledgerReach*best(0.5) - ledgerCaution*math.Sqrt(0.1)},
		{0.3, moves / entries, 0},
	} {
		set(c.part, c.left)
		for readout, plan := range [...][]float64{r.u, nil} {
			if d := moved(plan) / whole[readout]; math.Abs(d-c.want) > 0.01 {
				t.Errorf("where a part %v of the moves is right and %.1f variances are left the mean moves by %.4f of the whole, expected %.4f", c.part, c.left, d, c.want)
			}
		}
	}
}

// The covariance of the start adds to the variance of a corrected prediction what it adds to
// the model's.
func TestCorrectionWithTheCovarianceOfTheStart(t *testing.T) {
	f, r, p := learned(t)
	predict := func(p0 []float64, correct bool) *estimator.Prediction {
		dst, q := p.NewPrediction(), estimator.Query{X0: r.x, U: r.u, P0: p0}
		if !p.Predict(dst, &q) || correct && !f.Correct(dst, &q) {
			t.Fatal("not predicted")
		}
		return dst
	}
	p0 := []float64{4e-2, 1e-2, 1e-2, 9e-2}
	plain, started := predict(nil, false), predict(p0, false)
	corrected, both := predict(nil, true), predict(p0, true)
	moved := 0.0
	for j := range both.Mean {
		if both.Mean[j] != corrected.Mean[j] {
			t.Errorf("%d: the mean is %v, without P0 %v", j, both.Mean[j], corrected.Mean[j])
		}
		moved = max(moved, math.Abs(corrected.Mean[j]-plain.Mean[j]))
		want := started.Std[j]*started.Std[j] - plain.Std[j]*plain.Std[j]
		if got := both.Std[j]*both.Std[j] - corrected.Std[j]*corrected.Std[j]; !(want > 0) || math.Abs(got-want) > 0.04*want {
			t.Errorf("%d: P0 adds %v to the variance, without adaptation %v", j, got, want)
		}
	}
	if moved == 0 {
		t.Error("nothing was corrected")
	}
}

// For a long time, with flights, changes, rests and a clock that is set, all that is learned
// stays within its bounds, and the covariance symmetric and positive. With DGM_SLOW it is a day.
func TestEverythingStaysSoundOverTime(t *testing.T) {
	m := adaptable()
	f := filter(t, m)
	r := newRobot(t, m, make([]float64, len(f.state.Theta)))
	hours := 0.1
	if os.Getenv("DGM_SLOW") != "" {
		hours, r.every = 24, 5
	}
	for i := range int(hours * 60) {
		for j := range r.theta {
			r.theta[j] = 0
			if i%3 > 0 {
				r.theta[j] = 0.3 * r.rng.NormFloat64()
			}
		}
		r.fly(f, 50)
		r.rest(f, 10, 0.5*r.rng.NormFloat64())
		if i%10 == 9 {
			r.t -= 5e9
		}
		sound(t, f)
	}
	clear(r.theta)
	r.every = 0
	r.asBefore(t, f)
}
