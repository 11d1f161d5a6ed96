package dynamics

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// widths is what the covariates of a calibration are made of, state units.
type widths struct {
	displacement program.Reg // K×T, of the prior dynamics
	spread       program.Reg // K×T; None: 0
	total        program.Reg // K×T, variance with that of the posterior
	noise        []float64   // K×T, the one without
	rough        program.Reg // K×1; None: not known
}

// leastShare is what counts where nothing moves, spreads or is rough.
const leastShare = 0.1

// calibrated appends the factor of the variances by the regression on the covariates, K×T:
//
//	factor = exp(2 (logScale(τ) + Σ_j b_j (min(covariate_j, most_j) − centre_j) + further_j max(0, covariate_j − most_j)))
//	factor ← min(factor, max((bound² + d²)/total, exp(2 logScale)))      where that is above 1
func (c *compiler) calibrated(of *model.Calibration, w *widths, n oodScores) program.Reg {
	K, T := c.m.K, c.T()
	w.rough = c.roughness()
	logScale := c.tableOf(of.ScaleKnots(c.m), of.LogScale, c.times)
	constant := append([]float64(nil), logScale...)
	var terms []program.Reg
	for j, b := range of.Coefficient {
		cov := model.Covariate(j)
		if len(b) == 0 || cov == model.CovariateRoughness && w.rough == program.None {
			continue
		}
		x := c.covariate(cov, w, n)
		within := b // of what is below the bound, further of all: what is beyond remains
		if most, further := of.Bounds(cov); !math.IsInf(most, 1) {
			if further > 0 {
				terms = append(terms, c.Weigh(x, c.Shape(x).Cols, same(c.Rows(x), further), nil))
				within = shifted(b, -further)
			}
			x = c.Clamp(x, same(c.Rows(x), -inf), same(c.Rows(x), most))
		}
		terms = append(terms, c.Weigh(x, c.Shape(x).Cols, within, nil))
		for i := range constant {
			constant[i] -= b[i/T] * of.Centre[j]
		}
	}
	sum := []weighted{{c.Constant(K, T, constant), 2}}
	for _, t := range terms {
		sum = append(sum, weighted{t, 2})
	}
	factor := c.Function(program.Exp, c.sum(K, nil, sum...))
	if len(c.m.Bound) == 0 {
		return factor
	}
	bound, plain := c.table(c.m.Bound, c.times), make([]float64, K*T)
	for i, b := range bound {
		bound[i], plain[i] = b*b, math.Exp(2*logScale[i])
	}
	reach := c.Weigh(c.Function(program.Square, w.displacement), T, same(K, 1), bound)
	return c.least(factor, c.most(c.Times(reach, c.Function(program.Reciprocal, w.total)), c.Constant(K, T, plain)))
}

// shifted returns numbers, each with d added.
func shifted(v []float64, d float64) []float64 {
	out := slices.Clone(v)
	for i := range out {
		out[i] += d
	}
	return out
}

// covariate appends one of model.Covariates, K×1 or K×T.
func (c *compiler) covariate(cov model.Covariate, w *widths, n oodScores) program.Reg {
	K, T := c.m.K, c.T()
	switch cov {
	case model.CovariateDistance:
		return c.rowsOf(c.logOf(n.distance, 1), K)
	case model.CovariateLeverage:
		return c.rowsOf(c.logOf(n.leverage, 1), K)
	case model.CovariateMotion:
		inverse := make([]float64, K*T)
		for k := 0; k < K && len(c.m.RMSDisplacement.Typical) > 0; k++ {
			for i, t := range c.times {
				if typical := c.m.RMSDisplacement.At(c.m.NoiseKnots, k, t/c.m.Horizon); typical > 0 {
					inverse[k*T+i] = 1 / typical
				}
			}
		}
		return c.logOf(c.Function(program.Abs, c.Weigh(w.displacement, T, inverse, nil)), leastShare)
	case model.CovariateVariance:
		inverse := make([]float64, K*T)
		for i, v := range w.noise {
			inverse[i] = 1 / v
		}
		return c.Weigh(c.Function(program.Log, c.Weigh(w.total, T, inverse, nil)), T, same(K, 0.5), nil)
	case model.CovariateSpread:
		return c.share(w.spread, w, same(T, 1))
	default:
		fading := make([]float64, T)
		for i, t := range c.times {
			fading[i] = 1 - t/c.m.Horizon
		}
		return c.share(w.rough, w, fading)
	}
}

// logOf appends log(least + x).
func (c *compiler) logOf(x program.Reg, least float64) program.Reg {
	n := c.Rows(x)
	return c.Function(program.Log, c.Weigh(x, c.Shape(x).Cols, same(n, 1), same(n, least)))
}

// share appends fading·log(0.1 + size/√noise), K×T; size is K×1 or K×T, None is 0.
func (c *compiler) share(size program.Reg, w *widths, fading []float64) program.Reg {
	K, T := c.m.K, c.T()
	if size == program.None {
		return c.Constant(K, T, same(K*T, math.Log(leastShare)))
	}
	inverse := make([]float64, K*T)
	for i, v := range w.noise {
		inverse[i] = 1 / math.Sqrt(v)
	}
	return c.gated(c.logOf(c.Weigh(size, T, inverse, nil), leastShare), fading)
}

// covariates appends all covariates, by covariate and channel; those of an unknown roughness are 0.
func (c *compiler) covariates(w *widths, n oodScores) program.Reg {
	if !c.m.Displacement {
		return program.None
	}
	w.rough = c.roughness()
	var all []program.Reg
	for j := range model.Covariates {
		if j == model.CovariateRoughness && w.rough == program.None {
			all = append(all, c.Constant(c.m.K, c.T(), make([]float64, c.m.K*c.T())))
			continue
		}
		all = append(all, c.covariate(j, w, n))
	}
	return c.Stack(all...)
}

// roughness appends the root mean square of what a cubic leaves of a channel's start and history, K×1; None without
// history or with too few rows.
func (c *compiler) roughness() program.Reg {
	r := history.NewRoughness(c.m.History)
	if c.past == program.None || !r.Measures() {
		return program.None
	}
	n, row := c.m.History.Rows(), c.m.K+c.m.P
	m := r.Residuals()
	var all []program.Reg
	for k := range c.m.K {
		places := make([]int, n)
		for j := range places {
			places[j] = j*row + k
		}
		squares := c.Function(program.Square, c.Affine(n+1, nil, program.Part{X: c.Some(c.past, places...), M: m}))
		all = append(all, c.Affine(1, nil, program.Part{X: squares, M: same(n+1, 1/float64(r.Freedom()))}))
	}
	return c.Function(program.Sqrt, c.Stack(all...))
}
