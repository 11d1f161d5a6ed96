package estimator

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// intervals evaluates the calibration of the standard deviations of a model at fixed times.
type intervals struct {
	m          *model.Model
	conditions [model.Conditions]conditionIntervals
	typical    []float64 // T×K, displacement, state units; 0 = not known
	bound      []float64 // T×K, variance of what widens at most, state units squared
	inside     []float64 // K, variances of the sensors, see model.Model.SensorNoise
	beside     []float64 // K
	of         *conditionIntervals
	start      [model.CovariateMotion]float64 // covariates of the query
	perChannel []float64                      // K: their part of the log factor
	fading     []float64                      // T: 1 − τ
	roughness  history.Roughness
	rough      []float64 // K, of the query's history; none = not known
}

// conditionIntervals is the calibration of one condition at the times.
type conditionIntervals struct {
	calibration *model.Calibration // nil = none
	logScale    []float64          // T×K
	plain       []float64          // T×K, factor of the variance by that alone
	uses        [model.Covariates]bool
}

func newIntervals(m *model.Model, times []float64) intervals {
	K, Q := m.K, len(m.NoiseKnots)
	v := intervals{m: m, perChannel: make([]float64, K), roughness: history.NewRoughness(m.History), rough: make([]float64, 0, K)}
	v.inside, v.beside = m.SensorNoise()
	knots := make([]float64, Q)
	for _, t := range times {
		v.fading = append(v.fading, 1-t/m.Horizon)
		model.KnotWeights(knots, m.NoiseKnots, t/m.Horizon)
		for k := range K {
			typical, bound := 0.0, math.Inf(1)
			if len(m.RMSDisplacement.Typical) > 0 {
				typical = m.RMSDisplacement.At(m.NoiseKnots, k, t/m.Horizon)
			}
			if len(m.Bound) > 0 {
				bound = dot(knots, m.Bound[k*Q:(k+1)*Q])
				bound *= bound
			}
			v.typical, v.bound = append(v.typical, typical), append(v.bound, bound)
		}
	}
	for c := range v.conditions {
		of, ok := model.ForCondition(m.Calibration, model.Condition(c))
		if !ok {
			continue
		}
		at := &v.conditions[c]
		at.calibration = &of
		for j, b := range of.Coefficient {
			at.uses[j] = len(b) > 0
		}
		scale := of.ScaleKnots(m)
		R := len(scale)
		weights := make([]float64, R)
		for _, t := range times {
			model.KnotWeights(weights, scale, t/m.Horizon)
			for k := range K {
				log := dot(weights, of.LogScale[k*R:(k+1)*R])
				at.logScale, at.plain = append(at.logScale, log), append(at.plain, math.Exp(2*log))
			}
		}
	}
	return v
}

// begin prepares the factors of a prediction of a query whose distance and leverage are known.
// It reports whether there is a calibration.
func (v *intervals) begin(dst *Prediction, q *Query) bool {
	v.of = &v.conditions[dst.condition()]
	v.start = [...]float64{model.CovariateDistance: math.Log1p(dst.Distance), model.CovariateLeverage: math.Log1p(dst.Leverage)}
	v.rough = v.rough[:0]
	if row := v.m.K + v.m.P; v.roughness.Measures() && len(q.History) >= v.m.History.Rows()*row {
		for k := range v.m.K {
			v.rough = append(v.rough, v.roughness.Of(q.History, row, k, q.X0[k]))
		}
	}
	c := v.of.calibration
	if c == nil {
		dst.Half50 = model.Gaussian50
		return false
	}
	dst.Half50 = c.Half50
	clear(v.perChannel)
	for j, x := range v.start {
		if v.of.uses[j] {
			for k := range v.perChannel {
				v.perChannel[k] += v.part(model.Covariate(j), k, x)
			}
		}
	}
	return true
}

// covariates writes the covariates of channel k at time i: displacement and spread are those
// of the prior dynamics, total is the variance with that of the posterior and noise the one
// without, in state units.
func (v *intervals) covariates(dst []float64, i, k int, displacement, total, noise, spread float64) {
	copy(dst, v.start[:])
	dst[model.CovariateMotion] = v.motion(i, k, displacement)
	dst[model.CovariateVariance] = 0.5 * math.Log(total/noise)
	dst[model.CovariateSpread] = logShare(spread, noise)
	dst[model.CovariateRoughness] = 0
	if len(v.rough) > 0 {
		dst[model.CovariateRoughness] = v.fading[i] * logShare(v.rough[k], noise)
	}
}

// motion returns the covariate of that name.
func (v *intervals) motion(i, k int, displacement float64) float64 {
	typical := v.typical[i*v.m.K+k]
	if typical <= 0 {
		return math.Log(leastShare)
	}
	return math.Log(leastShare + math.Abs(displacement)/typical)
}

// leastShare is what counts where nothing moves, spreads or is rough.
const leastShare = 0.1

// logShare is the covariate of a spread or a roughness, of which noise is the variance.
func logShare(size, noise float64) float64 {
	return math.Log(leastShare + size/math.Sqrt(noise))
}

// factor returns the factor of the variance of channel k at time i; the arguments are those
// of covariates.
func (v *intervals) factor(i, k int, displacement, total, noise, spread float64) float64 {
	at := i*v.m.K + k
	log := v.perChannel[k]
	if v.of.uses[model.CovariateMotion] {
		log += v.part(model.CovariateMotion, k, v.motion(i, k, displacement))
	}
	if v.of.uses[model.CovariateVariance] {
		log += v.part(model.CovariateVariance, k, 0.5*math.Log(total/noise))
	}
	if v.of.uses[model.CovariateSpread] {
		log += v.part(model.CovariateSpread, k, logShare(spread, noise))
	}
	if v.usesRoughness() {
		log += v.part(model.CovariateRoughness, k, v.fading[i]*logShare(v.rough[k], noise))
	}
	return v.bounded(at, math.Exp(2*(v.of.logScale[at]+log)), total, displacement)
}

// part returns what a covariate x adds to the log factor of channel k.
func (v *intervals) part(j model.Covariate, k int, x float64) float64 {
	c := v.of.calibration
	within, added := c.Counted(j, x)
	return c.Coefficient[j][k]*(within-c.Centre[j]) + added
}

// usesRoughness reports whether the factors depend on it: without history they do not.
func (v *intervals) usesRoughness() bool {
	return v.of.uses[model.CovariateRoughness] && len(v.rough) > 0
}

// sensor returns what the sensor of channel k has of the noise of the horizon, and what a measurement has besides.
func (v *intervals) sensor(k int, noise float64) (inside, beside float64) {
	return math.Min(v.inside[k], noise), v.beside[k]
}

// state returns the calibrated variance of a state, by the factor of its variance and those
// of its sensor's: folds show that of their sum, of which the sensor's is known.
func (v *intervals) state(factor, state, sensor float64) float64 {
	if c := v.of.calibration; c != nil && c.PlainSensor {
		return math.Max(factor*state, factor*(state+sensor)-sensor)
	}
	return factor * state
}

// bounded returns a factor of the variance at place i·K+k that widens it no further than to
// the bound with the displacement.
func (v *intervals) bounded(at int, factor, total, displacement float64) float64 {
	most := v.bound[at] + displacement*displacement
	if factor*total <= most {
		return factor
	}
	return math.Min(factor, math.Max(most/total, v.of.plain[at]))
}
