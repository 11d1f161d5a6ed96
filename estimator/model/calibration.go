package model

import (
	"fmt"
	"math"
)

// Covariate is what the standard deviation of a prediction depends on, beside channel and
// time. Numbers are in model files and never change.
type Covariate int

// The covariates. All but the first two differ by channel and time.
const (
	CovariateDistance  Covariate = iota // log(1 + distance of the start from the training states)
	CovariateLeverage                   // log(1 + leverage) of state, history and plan, see direct.Map.Leverage
	CovariateMotion                     // log(0.1 + |predicted displacement|/typical displacement)
	CovariateVariance                   // half the log of the variance with the posterior's over that without
	CovariateSpread                     // log(0.1 + spread of the components/standard deviation without the posterior's)
	CovariateRoughness                  // (1 − τ) log(0.1 + roughness of the channel's history/standard deviation without the posterior's), see history.Roughness
	Covariates
)

// Bounded is how many covariates may have bounds, see Calibration.Most.
const Bounded = CovariateSpread + 1

// firstCovariates is how many there were in files before the roughness.
const firstCovariates = CovariateRoughness

func (c Covariate) String() string {
	return [...]string{"distance", "leverage", "motion", "posterior variance", "component spread", "roughness"}[c]
}

// Calibration is the calibration of the standard deviations in one condition: that of
// channel k at τ is multiplied by
//
//	exp(logScale_k(τ) + Σ_j coefficient_jk (min(covariate_j, most_j) − centre_j) + further_j max(0, covariate_j − most_j))
//
// (non-homogeneous Gaussian regression, Gneiting et al. 2005), logScale linear in √τ between its
// knots. Where the sum is positive, the variance grows to that of Bound and the
// predicted displacement together, at most.
type Calibration struct {
	Knots       []float64   // (optional) R, τ at which LogScale is given, ascending; defaults to the noise knots
	LogScale    []float64   // K×R
	Coefficient [][]float64 // by covariate, the last may be missing: K; none = 0
	Centre      []float64   // as many
	PlainSensor bool        // the sensor's variance is not multiplied: the state's is what remains, if that is more
	Most        []float64   // of the first covariates, those of the start or all up to Bounded: where one is larger, the rest counts by Further; +Inf, or none = as it is
	Further     []float64   // as many, ≥ 0: coefficients, of all channels, of what covariates have beyond Most; none = 0
	Half50      float64     // half width of the central 50 % interval over the standard deviation; of a Gaussian 0.6745
}

// Bounds returns up to where a covariate counts by its coefficients, and by what it counts beyond.
func (p *Calibration) Bounds(j Covariate) (most, further float64) {
	most = math.Inf(1)
	if int(j) < len(p.Most) {
		most = p.Most[j]
	}
	if int(j) < len(p.Further) {
		further = p.Further[j]
	}
	return most, further
}

// Counted parts a covariate: what counts by its coefficients, and what it adds to the log standard deviations of all channels.
func (p *Calibration) Counted(j Covariate, x float64) (within, added float64) {
	most, further := p.Bounds(j)
	if x <= most {
		return x, 0
	}
	return most, further * (x - most)
}

// MeasuredHalf50 returns the half width of the central 50 % interval of a measurement over its standard deviation std, by that of
// the state and the variance beside of its sensor, whose noise is Gaussian (see SensorNoise).
func MeasuredHalf50(half50, std, beside float64) float64 {
	variance := std * std
	beside = min(beside, variance)
	return math.Sqrt(half50*half50*(variance-beside)+Gaussian50*Gaussian50*beside) / std
}

// Gaussian50 is the half width of the central 50 % interval of a Gaussian.
const Gaussian50 = 0.6744897501960817

// maxLogScale bounds log scales and coefficients.
const maxLogScale = 50

// maxFurther bounds the coefficients beyond bounds: at 1 a standard deviation is in proportion to what the covariate is the logarithm of.
const maxFurther = 1

// ScaleKnots returns the τ at which LogScale is given (R).
func (p *Calibration) ScaleKnots(m *Model) []float64 {
	if len(p.Knots) > 0 {
		return p.Knots
	}
	return m.NoiseKnots
}

func (m *Model) checkCalibration(c *checker) {
	Q := len(m.NoiseKnots)
	c.that(len(m.Calibration) <= Conditions, "calibration", "%d conditions, at most %d", len(m.Calibration), Conditions)
	for i := range m.Calibration {
		p, field := &m.Calibration[i], fmt.Sprintf("calibration[%d]", i)
		c.that(m.Displacement, field, "belongs to a model of displacements")
		c.finite(field+".knots", p.Knots)
		for j, tau := range p.Knots {
			c.that(tau >= 0 && (j == 0 || tau > p.Knots[j-1]), field+".knots", "must ascend from 0 or later")
		}
		c.length(field+".log_scale", p.LogScale, m.K*len(p.ScaleKnots(m)))
		n := len(p.Coefficient)
		c.that(n >= int(firstCovariates) && n <= int(Covariates), field+".coefficient", "of %d covariates, expected %d to %d", n, firstCovariates, Covariates)
		c.length(field+".centre", p.Centre, n)
		for j, b := range p.Coefficient {
			at := fmt.Sprintf("%s.coefficient[%d]", field, j)
			if len(b) > 0 {
				c.length(at, b, m.K)
			}
			c.each(at, b, func(v float64) bool { return v >= -maxLogScale && v <= maxLogScale }, "%v is outside ±%d", maxLogScale)
		}
		c.each(field+".log_scale", p.LogScale, func(v float64) bool { return v >= -maxLogScale && v <= maxLogScale }, "%v is outside ±%d", maxLogScale)
		c.positive(field+".half50", p.Half50)
		if len(p.Most) != int(Bounded) && len(p.Most) > 0 {
			c.length(field+".most", p.Most, int(CovariateMotion))
		}
		if len(p.Further) > 0 {
			c.length(field+".further", p.Further, len(p.Most))
			c.each(field+".further", p.Further, func(v float64) bool { return v >= 0 && v <= maxFurther }, "%v is outside 0 … %d", maxFurther)
		}
	}
	if len(m.Bound) > 0 {
		c.length("bound", m.Bound, m.K*Q)
		c.each("bound", m.Bound, func(v float64) bool { return v >= 0 }, "%v is negative")
	}
}

func calibrationFields(p *Calibration, c *coder, version int) {
	if c.optional("knots", len(p.Knots) > 0) {
		c.floats("knots", &p.Knots)
	}
	c.floats("log_scale", &p.LogScale)
	c.matrix("coefficient", &p.Coefficient, double)
	c.floats("centre", &p.Centre)
	c.float("half50", &p.Half50)
	if c.optional("most", len(p.Most) > 0) {
		c.floats("most", &p.Most)
	}
	if version >= versionWithFurther && c.optional("further", len(p.Further) > 0) {
		c.floats("further", &p.Further)
	}
	if c.optional("plain_sensor", p.PlainSensor) {
		c.flag("plain_sensor", &p.PlainSensor)
	}
}

// KnotWeights writes to dst (Q) the weights at τ of a function that is given at knots
// (Q, ascending τ), linear in √τ between them and constant beyond the ends.
func KnotWeights(dst, knots []float64, tau float64) {
	clear(dst)
	if len(knots) == 1 || tau <= knots[0] {
		dst[0] = 1
		return
	}
	last := len(knots) - 1
	if tau >= knots[last] {
		dst[last] = 1
		return
	}
	j := 0
	for tau > knots[j+1] {
		j++
	}
	a, b, s := math.Sqrt(knots[j]), math.Sqrt(knots[j+1]), math.Sqrt(tau)
	dst[j], dst[j+1] = (b-s)/(b-a), (s-a)/(b-a)
}
