package calibration

import (
	"errors"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/nets"
	"github.com/dgm-robotics/dgm/trainer/rows"
	"github.com/dgm-robotics/dgm/trainer/stack"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Switches are the parts of a calibration that are fitted; the others leave the prediction
// as it is.
type Switches struct {
	NetworkWeight, ScaleFactor, Distance, Motion bool
}

// covariates returns those that may be chosen.
func (on Switches) covariates() []model.Covariate {
	if !on.ScaleFactor {
		return nil
	}
	out := []model.Covariate{model.CovariateVariance, model.CovariateRoughness}
	if on.Distance {
		out = append(out, model.CovariateDistance, model.CovariateLeverage, model.CovariateSpread)
	}
	if on.Motion {
		out = append(out, model.CovariateMotion)
	}
	return out
}

// Errors are the errors of a model in its conditions, on data that it was not conditioned on.
type Errors struct {
	folds      Folds
	conditions []model.Condition
	of         [][]*heldErrors // by condition: of each fold
}

// Predict returns the errors on what the folds hold out, with the posterior of one net: the
// intervals of an ensemble are no narrower. done is called after each condition.
func Predict(folds Folds, net *nets.Net, set nets.Conditioning, conditions []model.Condition, done func(model.Condition)) (*Errors, error) {
	e := &Errors{folds: folds, conditions: conditions}
	known := map[model.Readout][]model.Posterior{}
	for _, condition := range conditions {
		readout := condition.Readout()
		if known[readout] == nil {
			posteriors, err := folds.posteriors(net, readout, set)
			if err != nil {
				return nil, err
			}
			known[readout] = posteriors
		}
		of, err := folds.errors(net, known[readout], condition)
		if err != nil {
			return nil, err
		}
		e.of = append(e.of, of)
		done(condition)
	}
	return e, nil
}

// Add adds the errors of a model on flights that it has not seen, as one more fold, and
// reports whether there are any: as the folds, they are whole flights or they are not.
func (e *Errors) Add(m *model.Model, flights []window.Flight, whole bool) (added bool, err error) {
	if whole != e.folds.Whole {
		return false, nil
	}
	plain := *m
	plain.NetworkWeight, plain.Calibration, plain.Checks = nil, nil, nil
	e.folds.aim(&plain)
	for i, condition := range e.conditions {
		held, err := e.folds.replayed(&plain, flights, condition)
		if errors.Is(err, errUnscored) {
			continue
		}
		if err != nil {
			return added, err
		}
		e.of[i] = append(e.of[i], held)
		added = true
	}
	return added, nil
}

// WholeFlights returns how many whole flights were held out.
func (e *Errors) WholeFlights() int {
	return wholeFlights(&e.folds, e.of[0])
}

// Fit calibrates each of the conditions by the errors.
func (e *Errors) Fit(on Switches) (out []Model) {
	for i, of := range e.of {
		m := e.folds.fit(of, on, true)
		m.Joint = e.folds.joint(of, e.conditions[i], &m)
		out = append(out, m)
	}
	return out
}

// Score returns the mean log likelihood of a held-out point of each fold, with the
// posterior of a net and calibrated by all covariates, with a plan.
func Score(folds Folds, net *nets.Net, set nets.Conditioning, on Switches) ([]float64, error) {
	posteriors, err := folds.posteriors(net, model.Plan, set)
	if err != nil {
		return nil, err
	}
	e, err := folds.errors(net, posteriors, model.Plan.Condition(false))
	if err != nil {
		return nil, err
	}
	return folds.fit(e, on, false).Scores, nil
}

// Try conditions a net on the first fold and predicts what the fold holds out, for its
// time alone.
func Try(folds Folds, net *nets.Net, set nets.Conditioning) error {
	folds.Folds = folds.Folds[:1]
	posteriors, err := folds.posteriors(net, model.Plan, set)
	if err == nil {
		_, err = folds.errors(net, posteriors, model.Plan.Condition(false))
	}
	return err
}

// fit fits the calibration to the errors of the folds, as far as the switches ask for it.
// Without choosing, each covariate has one coefficient for all channels.
func (f *Folds) fit(folds []*heldErrors, on Switches, choosing bool) Model {
	frame := f.Folds[0].Data.Frame
	m := Model{Whole: f.Whole}
	setBounds(&m.Intervals, folds, on.covariates(), choosing)
	bound(folds, &m.Intervals)
	m.NetworkWeight = networkWeight(frame, folds, on.NetworkWeight)
	c := newCells(frame, folds, f.Windows)
	m.Intervals.Centre, m.Intervals.Coefficient = c.mean, make([][]float64, model.Covariates)
	allowed := slices.DeleteFunc(on.covariates(), func(j model.Covariate) bool { return !c.varies(j) })
	chosen := form{allowed, pooled}
	if choosing {
		chosen = c.choose(allowed)
	}
	m.Terms, m.Own = chosen.terms, chosen.freedom == own
	r := c.whole(chosen)
	q := c.quantiles(chosen, choosing, choosing && !f.Whole)
	m.Intervals.PlainSensor = true
	if choosing {
		m.limits = limitsOf(folds, r, q)
		m.FlightEffect = f.flightEffect(folds, c, r)
		if f.Whole {
			m.beyond = beyond(folds, m.limits)
		} else {
			m.bound = blockBound(frame, folds)
		}
	}
	m.Intervals.Knots = c.taus
	if on.ScaleFactor {
		f.scale(&m, c, r, q)
		m.Intervals.Half50 = half50(q)
	} else {
		m.Intervals.Half50 = model.Gaussian50
		m.Intervals.LogScale = make([]float64, c.K*c.T)
	}
	m.Scores = c.scores(&m)
	return m
}

// scale writes the log scales and the coefficients: the regression with the 95 % quantile
// and its margin. Other flights differ by more than the folds show.
func (f *Folds) scale(m *Model, c *cells, r *regression, q quantiles) {
	for k := range c.K {
		for i, tau := range c.taus {
			scale := r.level[k][i] + math.Log(math.Max(q.q95[i]/normal95, 1e-9)) + q.margin()
			m.Intervals.LogScale = append(m.Intervals.LogScale, scale+0.5*math.Log1p(square(f.anotherFlight(tau, m.FlightEffect))))
		}
	}
	for _, j := range r.terms {
		for k := range c.K {
			m.Intervals.Coefficient[j] = append(m.Intervals.Coefficient[j], r.b[k][j])
		}
	}
}

// margin is what the log of the standard deviation is raised by: two standard errors over
// folds, as the next flight is not among them. Blocks have none: what another flight adds to
// theirs is a prior (anotherFlight).
func (q *quantiles) margin() float64 { return 2 * q.standardError }

// half50 returns the half width of the 50 % interval over the standard deviation, geometric
// mean over times.
func half50(q quantiles) float64 {
	log, n := 0.0, 0.0
	for i, v := range q.q95 {
		if v > 0 && q.q50[i] > 0 {
			log += math.Log(q.q50[i] / v * normal95)
			n++
		}
	}
	if n == 0 {
		return model.Gaussian50
	}
	return math.Exp(log/n - q.margin())
}

// scores returns the mean log likelihood of a held-out point of each fold with the
// calibration, outliers capped. Here, where models are compared, strata of states weigh the
// same; the calibration itself is of windows as they come, since so is the coverage that is
// promised.
func (c *cells) scores(m *Model) []float64 {
	sum, n := make([]float64, c.folds), make([]float64, c.folds)
	for k := range c.of {
		for i := range c.of[k] {
			e := &c.of[k][i]
			s := m.Intervals.LogScale[k*c.T+e.at]
			for j, b := range m.Intervals.Coefficient {
				if len(b) > 0 {
					s += b[k] * e.x[j]
				}
			}
			factor := math.Exp(s)
			sum[e.fold] += e.strata * logLikelihood(e.z/factor, factor*e.std)
			n[e.fold] += e.strata
		}
	}
	for f := range sum {
		sum[f] /= math.Max(n[f], 1e-300)
	}
	return sum
}

// networkWeight returns the network weight (K×Q) and applies it to the errors of the
// folds.
func networkWeight(f *rows.Frame, folds []*heldErrors, on bool) []float64 {
	K, times := f.K, folds[0].times
	if !on {
		return slices.Repeat([]float64{1}, K*len(f.NoiseKnots))
	}
	taus := make([]float64, len(times))
	for i, t := range times {
		taus[i] = t / f.Inputs.Horizon
	}
	at, weights := stack.Hats(f.NoiseKnots, taus), make([][]float64, len(folds))
	for n, fold := range folds {
		for k := range K {
			var outcomes []outcome
			for i := range times {
				fold.each(K, i, k, func(_ *heldWindow, e *heldError) {
					outcomes = append(outcomes, outcome{at: i, residual: e.residual, addition: e.network})
				})
			}
			weights[n] = append(weights[n], weight(outcomes, at)...)
		}
	}
	out := agreed(weights)
	for _, fold := range folds {
		for i, hat := range at {
			for k := range K {
				g := 0.0
				for q, w := range hat {
					g += w * out[k*len(hat)+q]
				}
				fold.each(K, i, k, func(_ *heldWindow, e *heldError) { e.z = (e.residual - g*e.network) / e.std })
			}
		}
	}
	return out
}
