package calibration

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// The distance and the leverage up to which folds fit how intervals grow: folds have some of a thousand times as much, with errors of their own kind.
const mostDistance, mostLeverage = 5, 10

// What intervals grow by beyond the bounds is no estimate of the folds, which hold out flights of the manoeuvres that they are fitted to: it is that of
// another manoeuvre of twelve simulated robots (docs/notes/trainer.md). How far the components of the stack are apart says most of the error there.
const furtherLeverage, furtherSpread = 0.08, 0.4

// usualSpreads of the held-out predictions have a spread of the components up to the bound.
const usualSpreads = 0.95

// setBounds sets those of the covariates in a calibration: of the spread only where the calibration is the last one, as models are compared within their data.
func setBounds(c *model.Calibration, folds []*heldErrors, allowed []model.Covariate, last bool) {
	c.Most = slices.Repeat([]float64{math.Inf(1)}, int(model.Bounded))
	c.Further = make([]float64, model.Bounded)
	c.Most[model.CovariateDistance], c.Most[model.CovariateLeverage] = math.Log1p(mostDistance), math.Log1p(mostLeverage)
	if !last {
		return
	}
	if slices.Contains(allowed, model.CovariateLeverage) {
		c.Further[model.CovariateLeverage] = furtherLeverage
	}
	if slices.Contains(allowed, model.CovariateSpread) {
		c.Most[model.CovariateSpread], c.Further[model.CovariateSpread] = usualSpread(folds), furtherSpread
	}
}

// usualSpread returns the covariate that usualSpreads of the held-out predictions have at most, every fold weighing the same.
func usualSpread(folds []*heldErrors) float64 {
	var values []weighted
	for _, e := range folds {
		for i := range e.windows {
			for j := range e.windows[i].errors {
				if at := &e.windows[i].errors[j]; at.plain > 0 {
					values = append(values, weighted{at.all[model.CovariateSpread], 1 / float64(len(e.windows))})
				}
			}
		}
	}
	return quantile(values, usualSpreads)
}

// bound parts the covariates of all errors at the bounds of a calibration, and widens the standard deviations by what is beyond.
func bound(folds []*heldErrors, c *model.Calibration) {
	for _, e := range folds {
		for i := range e.windows {
			for j := range e.windows[i].errors {
				if at := &e.windows[i].errors[j]; at.plain > 0 {
					at.bound(c)
				}
			}
		}
	}
}

func (e *heldError) bound(c *model.Calibration) {
	log := 0.0
	for j, x := range e.all {
		within, added := c.Counted(model.Covariate(j), x)
		e.x[j] = within
		log += added
	}
	was := e.std
	e.std = e.plain * math.Exp(log)
	e.z *= was / e.std
}
