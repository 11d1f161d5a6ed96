package calibration

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/rows"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// made draws folds whose errors over ObsStd are normal with the standard deviation that
// scale returns for fold, channel and covariates.
func made(rng *rand.Rand, folds, n int, scale func(fold, k int, x []float64) float64) []*heldErrors {
	const T, K = 3, 2
	var out []*heldErrors
	for f := range folds {
		e := &heldErrors{apart: windowsPerHorizon, times: []float64{0.1, 0.5, 1}}
		for i := range n {
			distance, leverage := math.Abs(rng.NormFloat64()), rng.ExpFloat64()
			w := heldWindow{flight: 3*f + 3*i/n, far: [3]float64{distance, leverage, 0.5}, weight: 1}
			for range T {
				for k := range K {
					at := heldError{std: 2, plain: 2}
					at.all = [model.Covariates]float64{min(distance, math.Log1p(mostDistance)), min(leverage, math.Log1p(mostLeverage)), rng.NormFloat64(), rng.Float64(), 1}
					at.z = scale(f, k, at.all[:]) * rng.NormFloat64()
					at.network = rng.NormFloat64() // helps as it should
					at.residual = 2*at.z + at.network
					w.errors = append(w.errors, at)
				}
			}
			e.windows = append(e.windows, w)
		}
		out = append(out, e)
	}
	return out
}

var all = Switches{NetworkWeight: true, ScaleFactor: true, Distance: true, Motion: true}

func calibrated(folds []*heldErrors, on Switches, whole bool) Model {
	f := Folds{Whole: whole, Windows: 2500}
	f.Folds = []Fold{{}}
	f.Folds[0].Data.Frame = &rows.Frame{K: 2, Inputs: feature.Inputs{Horizon: 1}, NoiseKnots: []float64{0, 0.1, 1}}
	return f.fit(folds, on, true)
}

// The coefficients that made the errors are found again.
func TestCoefficientsAreFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		name string
		b    [2][model.Covariates]float64 // by channel
	}{
		{"leverage", [2][model.Covariates]float64{{0, 0.8}, {0, 0.8}}},
		{"prior", [2][model.Covariates]float64{{0.15, 0.4, 0.25, 0, 0.1}, {0.15, 0.4, 0.25, 0, 0.1}}},
		{"distance and motion by channel", [2][model.Covariates]float64{{0.3, 0.3, 0.6}, {0.9, 0.3, 0.1}}},
		{"the variance is too wide", [2][model.Covariates]float64{{0, 0.3, 0, -0.9}, {0, 0.3, 0, -0.9}}},
	} {
		m := calibrated(made(rng, 4, 2000, func(_, k int, x []float64) float64 { return 1.4 * math.Exp(floats.Dot(c.b[k][:], x)) }), all, true)
		for k := range 2 {
			log := math.Log(1.4)
			for j, b := range m.Intervals.Coefficient {
				log += c.b[k][j] * m.Intervals.Centre[j]
				if len(b) > 0 && j != int(model.CovariateSpread) && math.Abs(b[k]-c.b[k][j]) > 0.08 { // the spread is always 1
					t.Errorf("%s: channel %d, %v: coefficient %v, want %v", c.name, k, model.Covariate(j), b[k], c.b[k][j])
				}
			}
			for _, s := range m.Intervals.LogScale[k*3 : k*3+3] {
				if s-log < -0.03 || s-log > 0.12 {
					t.Errorf("%s: channel %d: log scale %v, want %v", c.name, k, s, log)
				}
			}
		}
		if math.Abs(m.Intervals.Half50/model.Gaussian50-1) > 0.1 {
			t.Errorf("%s: half of the errors within %v", c.name, m.Intervals.Half50)
		}
	}
}

// Where folds do not agree on coefficients the prior's stand; intervals
// grow with the leverage in any case.
func TestCoefficientsThatFoldsDoNotAgreeOn(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	m := calibrated(made(rng, 4, 2000, func(f, _ int, x []float64) float64 {
		return math.Exp([]float64{1.2, 0.1, 0.9, -0.4}[f] * x[model.CovariateLeverage])
	}), all, true)
	if b := m.Intervals.Coefficient[model.CovariateLeverage]; len(b) == 0 || b[0] < 0.3 {
		t.Errorf("folds disagree: coefficients %v", m.Intervals.Coefficient)
	}
	m = calibrated(made(rng, 4, 2000, func(_, _ int, x []float64) float64 { return math.Exp(-0.5 * x[model.CovariateLeverage]) }), all, true)
	for _, b := range m.Intervals.Coefficient[model.CovariateLeverage] {
		if b != 0.25 {
			t.Errorf("smaller errors far away: coefficients %v", m.Intervals.Coefficient)
		}
	}
}

// The intervals cover 95 % of what a further fold has on average, where folds differ in scale.
func TestIntervalsCoverAnotherFold(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	covered, n := 0.0, 0.0
	heavy := 0.0
	for range 20 {
		folds := made(rng, 6, 300, func(int, int, []float64) float64 { return 1 })
		for _, e := range folds {
			scale := math.Exp(0.4 * rng.NormFloat64())
			for _, w := range e.windows {
				for j := range w.errors {
					w.errors[j].z *= scale
					w.errors[j].residual = w.errors[j].network + 2*w.errors[j].z
				}
			}
		}
		m := calibrated(folds[:5], all, true)
		heavy += m.Intervals.Half50 / 20
		for _, w := range folds[5].windows {
			for _, e := range w.errors {
				n++
				if math.Abs(e.z) <= normal95*math.Exp(m.Intervals.LogScale[0]) {
					covered++
				}
			}
		}
	}
	if c := covered / n; c < 0.92 || c > 0.985 {
		t.Errorf("coverage of another fold %v", c)
	}
	if heavy > 1.05*model.Gaussian50 {
		t.Errorf("half of the errors within %v", heavy)
	}
}

// Blocks of one flight, of which few show motion, are covered together: 95 % of all their errors, not of a block in the mean.
func TestBlocksAreCoveredTogether(t *testing.T) {
	scale := func(fold, _ int, _ []float64) float64 { return []float64{1, 1, 1, 1, 20}[fold] }
	covered := func(whole bool) float64 {
		folds := made(rand.New(rand.NewPCG(12, 1)), 5, 600, scale)
		m := calibrated(folds, all, whole)
		within, n := 0.0, 0.0
		for _, fold := range folds {
			for i := range fold.windows {
				for j, e := range fold.windows[i].errors {
					log := m.Intervals.LogScale[j%2*3+2] // at the horizon
					for at, b := range m.Intervals.Coefficient {
						if len(b) > 0 {
							log += b[j%2] * (e.all[at] - m.Intervals.Centre[at])
						}
					}
					if j/2 == 2 {
						n++
						if math.Abs(e.residual-m.NetworkWeight[j%2*3+2]*e.network)/e.std <= normal95*math.Exp(log) {
							within++
						}
					}
				}
			}
		}
		return within / n
	}
	if c := covered(false); c < 0.96 {
		t.Errorf("%.3f of the errors of blocks are covered", c)
	}
	if c := covered(true); c > 0.92 {
		t.Errorf("%.3f of those of whole flights: one that is unlike all others decides alone", c)
	}
}

// Intervals of a robot that mostly rests grow up to the motion of the block that moves most, not to that of rest.
func TestBoundIsOfTheBlockThatMovesMost(t *testing.T) {
	flight := func(speed float64) window.Flight {
		f := window.Flight{K: 1}
		for i := range 41 {
			f.T, f.X = append(f.T, 0.1*float64(i)), append(f.X, speed*0.1*float64(i))
		}
		return f
	}
	f := &rows.Frame{K: 1, Inputs: feature.Inputs{Horizon: 1}, NoiseKnots: []float64{0, 0.5, 1}, HoldRMSE: []float64{0, 0.7, 0.8}}
	folds := []*heldErrors{{flights: []window.Flight{flight(0), flight(1)}}, {flights: []window.Flight{flight(-0.5)}}}
	got := blockBound(f, folds)
	for j, want := range []float64{0, 0.7, 1} {
		if math.Abs(got[j]-want) > 1e-12 {
			t.Errorf("bound %v at knot %d, want %v", got[j], j, want)
		}
	}
	if f.HoldRMSE[2] != 0.8 {
		t.Error("the frame's own has changed")
	}
	m := &model.Model{}
	for _, bound := range [][]float64{nil, got} {
		want := f.HoldRMSE
		if bound != nil {
			want = bound
		}
		if Apply(m, f, []Model{{bound: bound}}); &m.Bound[0] != &want[0] {
			t.Errorf("bound %v of a model, want %v", m.Bound, want)
		}
	}
}

// Where folds are blocks of the flights that they are fitted to, intervals are wider, and
// the flight effect is not known; else it is the deviation between the means of flights.
func TestFlightEffect(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	folds := made(rng, 4, 3000, func(int, int, []float64) float64 { return 1 })
	shift := make(map[int]float64)
	for _, e := range folds {
		for i := range e.windows {
			w := &e.windows[i]
			if _, known := shift[w.flight]; !known {
				shift[w.flight] = 0.8 * (2*float64(len(shift)%2) - 1)
			}
			for j := range w.errors {
				if j%2 == 1 { // the second channel
					w.errors[j].z += shift[w.flight]
					w.errors[j].residual = w.errors[j].network + 2*w.errors[j].z
				}
			}
		}
	}
	whole, blocks := calibrated(folds, all, true), calibrated(folds, all, false)
	if got := whole.FlightEffect; len(got) != 2 || got[0] > 0.15 || math.Abs(got[1]-0.8) > 0.12 {
		t.Errorf("flight effect %v, want 0 and 0.8", got)
	}
	if blocks.FlightEffect != nil {
		t.Errorf("flight effect %v of blocks", blocks.FlightEffect)
	}
	if got := (&Folds{Whole: true}).anotherFlight(1, []float64{0.3, 0}); math.Abs(got-0.3/math.Sqrt2) > 1e-12 {
		t.Errorf("two channels, one of which differs by 0.3, add %v", got)
	}
	for q, tau := range blocks.Intervals.Knots {
		more := func(m Model) float64 {
			return 0.5 * math.Log1p(square((&Folds{Whole: m.Whole}).anotherFlight(tau, m.FlightEffect)))
		}
		want := more(blocks) - more(whole)
		if got := blocks.Intervals.LogScale[q] - whole.Intervals.LogScale[q]; math.Abs(got-want) > 0.03 { // the margin of whole flights is small here
			t.Errorf("at %v of the horizon wider by %v, want %v", tau, got, want)
		}
	}
}

// A measure is limited where errors beyond are outside of their intervals more often; else
// beyond all that was held out.
func TestLimits(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	folds := made(rng, 4, 2000, func(int, int, []float64) float64 { return 1 })
	most := 0.0
	for _, e := range folds {
		for i := range e.windows {
			w := &e.windows[i]
			for j := range w.errors {
				w.errors[j].all = [model.Covariates]float64{} // nothing widens the intervals
				if w.far[1] > 3 {
					w.errors[j].z *= 4
					w.errors[j].residual = 2*w.errors[j].z + w.errors[j].network
				}
				if w.far[0] > 2 {
					w.errors[j].z, w.errors[j].residual = 0, w.errors[j].network
				}
			}
			most = math.Max(most, w.far[0])
		}
	}
	m := calibrated(folds, all, true)
	if got := m.limits; got.Distance < 0.6*most || math.Abs(got.Leverage-math.Log(1/0.05)) > 0.2 || got.Input != leastInput {
		t.Errorf("limits %+v, want distance %v, leverage %v and input 2", got, most, math.Log(1/0.05))
	}
}

// Errors that are added are one more fold: where they are larger, intervals are wider.
func TestWholeFlightsOfErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	folds := made(rng, 4, 300, func(int, int, []float64) float64 { return 1 })
	more := made(rng, 1, 300, func(int, int, []float64) float64 { return 2 })[0]
	for i := range more.windows {
		more.windows[i].flight = 20
	}
	e := Errors{folds: Folds{Whole: true, Windows: 2500, Folds: []Fold{{}}}, conditions: []model.Condition{0}, of: [][]*heldErrors{folds}}
	e.folds.Folds[0].Data.Frame = &rows.Frame{K: 2, Inputs: feature.Inputs{Horizon: 1}, NoiseKnots: []float64{0, 0.1, 1}}
	before, flights := e.Fit(all), e.WholeFlights()
	e.of[0] = append(e.of[0], more)
	after := e.Fit(all)
	if e.WholeFlights() != flights+1 || len(after[0].Scores) != 5 {
		t.Errorf("%d flights after %d, scores %v", e.WholeFlights(), flights, after[0].Scores)
	}
	for i, s := range after[0].Intervals.LogScale {
		if s <= before[0].Intervals.LogScale[i] {
			t.Errorf("log scale %v after %v", s, before[0].Intervals.LogScale[i])
		}
	}
	if added, err := e.Add(nil, nil, false); added || err != nil {
		t.Errorf("blocks are added to whole flights: %v, %v", added, err)
	}
}

func TestPairedDifference(t *testing.T) {
	gain, standardError := PairedDifference([]float64{1, 2, 3, 4}, []float64{0, 2, 2, 2})
	if math.Abs(gain-1) > 1e-15 || math.Abs(standardError-math.Sqrt(0.5/3)) > 1e-15 {
		t.Errorf("%v ± %v, expected 1 ± %v", gain, standardError, math.Sqrt(0.5/3))
	}
}

func TestSwitches(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	folds := func() []*heldErrors {
		out := made(rng, 4, 2000, func(_, _ int, x []float64) float64 { return 1.5 * math.Exp(0.7*x[0]) })
		for _, fold := range out {
			for _, w := range fold.windows {
				for j := range w.errors {
					w.errors[j].network = rng.NormFloat64() // has nothing to do with the residual
				}
			}
		}
		return out
	}
	with := calibrated(folds(), all, true)
	if len(with.Terms) == 0 || with.Intervals.LogScale[0] < 0.4 || with.NetworkWeight[0] > 0.3 {
		t.Errorf("terms %v, log scale %v, network weight %v", with.Terms, with.Intervals.LogScale[0], with.NetworkWeight[0])
	}
	without := calibrated(folds(), Switches{}, true)
	if len(without.Terms) != 0 || without.Intervals.LogScale[0] != 0 || without.NetworkWeight[0] != 1 {
		t.Errorf("switched off: terms %v, log scale %v, network weight %v", without.Terms, without.Intervals.LogScale[0], without.NetworkWeight[0])
	}
}

// Each channel has its own coefficients, unless folds are too few or too small to show them.
func TestCoefficientsOfFewErrors(t *testing.T) {
	scale := func(_, _ int, x []float64) float64 {
		return math.Exp(floats.Dot([]float64{0.15, 0.4, 0.25, 0, 0.1}, x[:5]))
	}
	for n, own := range map[int]bool{12: false, 2000: true} {
		if m := calibrated(made(rand.New(rand.NewPCG(6, 1)), 3, n, scale), all, true); m.Own != own {
			t.Errorf("%d windows: each channel's own: %v", n, m.Own)
		}
	}
}
