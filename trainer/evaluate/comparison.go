package evaluate

import "math"

// BaselineComparison compares the distributions of the model with those of the linear model
// under an interval of its own, calibrated on the same held-out parts of the
// training data: a learned model that only has the better error bars should not
// win by them against a predictor that was given none.
type BaselineComparison struct {
	LogLik       float64 `json:"loglik"`        // mean over channels and horizons
	LinearLogLik float64 `json:"linear_loglik"` //
	CRPS         float64 `json:"crps"`          // geometric mean of the model's CRPS over the linear one's
}

// comparison gathers a Fair.
type comparison struct {
	n                 float64
	logLik, linear    float64
	logRatio, nRatios float64
}

func (c *comparison) add(e *Channel) {
	c.n++
	c.logLik += e.LogLik
	c.linear += e.LinearLogLik
	if e.CRPS > 0 && e.LinearCRPS > 0 {
		c.logRatio += math.Log(e.CRPS / e.LinearCRPS)
		c.nRatios++
	}
}

// result is nil if nothing was compared.
func (c *comparison) result() *BaselineComparison {
	if c.n == 0 {
		return nil
	}
	return &BaselineComparison{LogLik: c.logLik / c.n, LinearLogLik: c.linear / c.n, CRPS: math.Exp(c.logRatio / math.Max(c.nRatios, 1))}
}

// Better reports whether the model is better in both.
func (f *BaselineComparison) Better() bool { return f.LogLik > f.LinearLogLik && f.CRPS < 1 }
