package adapt

import (
	"math"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
)

// reported are samples as a sender reports them.
type reported struct {
	t    []int64     // ns
	x, u [][]float64 // K, P
}

// report flies for so many seconds, and changes each sample by tell, which reads the seconds since the start.
func (r *robot) report(s float64, tell func(x, u []float64, t float64)) (out reported) {
	for i := range int(s * 1e9 / period) {
		x, u := r.measured(), slices.Clone(r.u)
		tell(x, u, float64(i)*1e-9*period)
		out.t, out.x, out.u = append(out.t, r.t), append(out.x, x), append(out.u, u)
		r.step()
	}
	return out
}

// ratios feeds a filter and returns, for each part of so many seconds, the geometric mean over channels and times of the error of
// corrected predictions over that of the model, under the inputs that were reported, or under that held at the start.
func (d *reported) ratios(t *testing.T, f *Filter, part float64, under estimator.Readout) (out []float64) {
	t.Helper()
	m, ends := f.m, []int{5, 12, 25, 50} // samples ahead
	var times []float64
	for _, n := range ends {
		times = append(times, float64(n)*1e-9*period)
	}
	p, err := estimator.New(m, times)
	if err != nil {
		t.Fatal(err)
	}
	plain, corrected := p.NewPrediction(), p.NewPrediction()
	most, each := ends[len(ends)-1], int(part*1e9/period)
	squares := make([][2]float64, len(plain.Mean))
	for i := range d.t {
		if i+most < len(d.t) && i%4 == 0 {
			q := estimator.Query{X0: d.x[i], U: d.u[i]}
			if under == estimator.Plan {
				q.Plan, q.PlanStep = slices.Concat(d.u[i:i+most]...), 1e-9*period
			}
			if !p.Predict(plain, &q) || !p.Predict(corrected, &q) || !f.Correct(corrected, &q) {
				t.Fatal("not predicted")
			}
			for j := range squares {
				y := d.x[i+ends[j/m.K]][j%m.K]
				squares[j][0] += (y - plain.Mean[j]) * (y - plain.Mean[j])
				squares[j][1] += (y - corrected.Mean[j]) * (y - corrected.Mean[j])
			}
		}
		f.Observed(d.t[i], d.x[i], d.u[i])
		if (i+1)%each == 0 {
			sum := 0.0
			for _, s := range squares {
				sum += math.Log(s[1] / s[0])
			}
			out = append(out, math.Exp(sum/2/float64(len(squares))))
			clear(squares)
		}
	}
	return out
}

// A sender with false samples of a robot that has not changed makes predictions with adaptation no worse than those without, in any two
// seconds after the first.
func TestFalseSamplesDoNotMakeAdaptationWorse(t *testing.T) {
	oscillation := func(hz float64) func(x, _ []float64, t float64) {
		return func(x, _ []float64, t float64) { x[1] += 0.1 * math.Sin(2*math.Pi*hz*t) }
	}
	for name, tell := range map[string]func(x, u []float64, t float64){
		"a rate oscillates":        oscillation(1.5),
		"a rate oscillates slowly": oscillation(0.3),
		"a rate changes its sign twice a second": func(x, _ []float64, t float64) {
			if int(2*t)%2 == 1 {
				x[1] = -x[1]
			}
		},
		"inputs are reported as 0":                     func(_, u []float64, _ float64) { clear(u) },
		"inputs are reported with the opposite change": func(_, u []float64, t float64) { u[0] *= 1 + 0.5*math.Sin(2*math.Pi*t) },
	} {
		m := adaptable()
		f := filter(t, m)
		r := newRobot(t, m, make([]float64, len(f.state.Theta)))
		r.fly(f, 10)
		lies := r.report(20, tell)
		for i, ratio := range lies.ratios(t, f, 2, estimator.Plan) {
			if i > 0 && ratio > 1.05 {
				t.Errorf("%s: the error from %d s on is %.3f times that without adaptation", name, 2*i, ratio)
			}
		}
		truth := r.report(10, func(_, _ []float64, _ float64) {})
		for i, ratio := range truth.ratios(t, f, 2, estimator.Plan) {
			if i > 0 && ratio > 1.05 {
				t.Errorf("%s: %d s after its end the error is %.3f times that without adaptation", name, 2*i, ratio)
			}
		}
	}
}

// Where an input changes with every sample and has gained effect, a prediction under the input held now is off by that effect: what is known of the
// gain makes predictions under the inputs that follow better, and must not make the others worse.
func TestAnInputThatDoesNotStay(t *testing.T) {
	for under, most := range map[estimator.Readout]float64{estimator.Plan: 0.6, estimator.Hold: 1.02} {
		m := adaptable()
		f := filter(t, m)
		r := newRobot(t, m, make([]float64, len(f.state.Theta)))
		r.changes = 0.15
		r.fly(f, 10)
		r.theta[m.K] = .8
		changed := r.report(20, func(_, _ []float64, _ float64) {})
		for i, ratio := range changed.ratios(t, f, 2, under) {
			if i > 1 && i < 9 && ratio > most {
				t.Errorf("readout %d, %d s after a change: %.3f times the error without adaptation", under, 2*i, ratio)
			}
		}
	}
}

// The same bound leaves what an honest change brings.
func TestAnHonestChangeIsPublishedWhole(t *testing.T) {
	m := adaptable()
	f := filter(t, m)
	r := newRobot(t, m, make([]float64, len(f.state.Theta)))
	r.fly(f, 10)
	r.theta[m.K] = -0.4
	changed := r.report(12, func(_, _ []float64, _ float64) {})
	for i, ratio := range changed.ratios(t, f, 2, estimator.Plan) {
		if i > 1 && i < 5 && ratio > 0.5 {
			t.Errorf("%d s after a change of an input the error is %.3f times that without adaptation", 2*i, ratio)
		}
	}
}

// A false change that looks like one that the robot can have is learned, and when it is taken back predictions are worse for as long as
// the errors take to show it: for two seconds. From then on they are no worse than those without adaptation, where changes are as far apart
// as three of these times.
func TestAFalseChangeThatIsTakenBack(t *testing.T) {
	for _, every := range []int{2, 3, 5} { // two seconds
		for _, size := range []float64{0.2, 0.4, 0.8, 1.6} {
			for name, tell := range map[string]func(x, u []float64){
				"an input is reported larger":     func(_, u []float64) { u[0] *= 1 + size },
				"an input is reported with a sum": func(_, u []float64) { u[0] += size },
				"a rate is reported larger":       func(x, _ []float64) { x[1] *= 1 + size },
			} {
				m := adaptable()
				f := filter(t, m)
				r := newRobot(t, m, make([]float64, len(f.state.Theta)))
				r.fly(f, 10)
				at, after := 0.0, 0.0
				lies := r.report(60, func(x, u []float64, t float64) {
					if int(t/2)/every%2 == 1 {
						tell(x, u)
					}
				})
				for i, ratio := range lies.ratios(t, f, 2, estimator.Plan) {
					if i%every == 0 {
						at = max(at, ratio)
					} else {
						after = max(after, ratio)
					}
				}
				t.Logf("%s by %v every %d s: in the 2 s after a change at most %.2f times the error without adaptation, then %.3f", name, size, 2*every, at, after)
				if after > 1.05 && every > 2 {
					t.Errorf("%s by %v every %d s: %.3f times the error without adaptation", name, size, 2*every, after)
				}
			}
		}
	}
}
