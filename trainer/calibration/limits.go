package calibration

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/ood"
	"github.com/dgm-robotics/dgm/trainer/nets"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/rows"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// flaggedShares are the shares of the windows held out that one measure may flag, and
// mostOutside that of the errors outside of their 95 % intervals with which windows hold
// their promise.
var flaggedShares = []float64{0.02, 0.05, 0.1, 0.15, 0.2}

const mostOutside = 0.12

// leastShare is that of the windows held out that a measure flags where it does not follow
// the error.
const leastShare = 0.01

// seen is one window held out.
type seen struct {
	weight     float64    // every fold counts the same
	far        [3]float64 // as in heldWindow
	n, outside float64    // errors, and those outside of the 95 % intervals
}

// limitsOf returns the distance, the leverage and the input score from which on a window is
// flagged: those which 1 % of the windows held out are beyond, and from there inwards as long
// as less than 88 % of the errors are within their 95 % intervals.
func limitsOf(folds []*heldErrors, r *regression, q quantiles) ood.Limits {
	windows := seenBy(folds, r, q)
	var limit [3]float64
	for m := range limit {
		var values []weighted
		for i := range windows {
			values = append(values, weighted{windows[i].far[m], windows[i].weight})
		}
		limit[m] = quantile(values, 1-leastShare)
		for _, share := range flaggedShares {
			at := quantile(values, 1-share)
			if outsideBetween(windows, m, at, limit[m]) <= mostOutside {
				break
			}
			limit[m] = at
		}
	}
	return ood.Limits{Distance: limit[0], Leverage: limit[1], Input: math.Max(limit[2], leastInput)}
}

// leastFolds are as many as must remain where folds are beyond the data of the others.
const leastFolds = 3

// beyond reports which folds are an extrapolation to a model of the others: most of their windows are flagged. Such a
// prediction is flagged in flight, too, and its interval grows by the covariates, which these folds help to fit. They say
// nothing of how wide intervals are within the data. Where too few folds would remain, none is.
func beyond(folds []*heldErrors, l ood.Limits) []bool {
	out, remain := make([]bool, len(folds)), 0
	for i, e := range folds {
		flagged := 0
		for j := range e.windows {
			if far := e.windows[j].far; far[0] > l.Distance || far[1] > l.Leverage || far[2] > l.Input {
				flagged++
			}
		}
		if out[i] = 2*flagged > len(e.windows); !out[i] {
			remain++
		}
	}
	if remain < leastFolds {
		clear(out)
	}
	return out
}

// outsideBetween returns the share of errors outside of their intervals among windows whose
// measure m is above low and at most high; 0 of none.
func outsideBetween(windows []seen, m int, low, high float64) float64 {
	outside, n := 0.0, 0.0
	for i := range windows {
		if w := &windows[i]; w.far[m] > low && w.far[m] <= high {
			outside += w.weight * w.outside
			n += w.weight * w.n
		}
	}
	return outside / math.Max(n, 1e-300)
}

// seenBy counts the errors of every window.
func seenBy(folds []*heldErrors, r *regression, q quantiles) (out []seen) {
	centre := r.centre
	for _, e := range folds {
		for i := range e.windows {
			w := &e.windows[i]
			s := seen{weight: 1 / float64(len(e.windows)), far: w.far}
			for j := range w.errors {
				at := &w.errors[j]
				if at.std == 0 {
					continue
				}
				c := cell{at: j / len(r.level), x: at.x}
				for n := range c.x {
					c.x[n] -= centre[n]
				}
				s.n++
				if math.Abs(at.z) > math.Exp(r.log(j%len(r.level), &c))*q.q95[c.at] {
					s.outside++
				}
			}
			if s.n > 0 {
				out = append(out, s)
			}
		}
	}
	return out
}

// trainedShare is that of the training windows whose leverage is above a further limit over
// trainedFactor: their own part in the fit makes it less than that of new windows.
const trainedShare, trainedFactor = 0.05, 1.4

// leastInput is the least limit of the score of the input: an input a whole range beyond that
// of training. The leverage counts the input, too.
const leastInput = 2

// leverageWindows are those of which the limit is a quantile, at most.
const leverageWindows = 2500

// LimitLeverage limits the leverage from which on a prediction of the model is flagged to
// 1.4 times that which 5 % of the windows of its training data are beyond, for folds that hold
// out blocks of the flights that they are fitted to: they do not show how errors grow under
// another controller. Whole flights do.
func LimitLeverage(m *model.Model, d nets.Data) {
	prior := estimator.PriorDynamicsOf(m)
	var q estimator.Query
	var values []weighted
	rows := window.PlanRows(d.Flights, m.Horizon)
	for w := range replay.Each(d.Flights, window.Thin(d.Windows, leverageWindows), nil) {
		w.Query(&q, m, model.Plan, rows)
		prior.Start(q.X0, signal(m, &q), model.Plan, q.History)
		if prior.Condition() == model.Plan.Condition(false) {
			values = append(values, weighted{prior.Leverage(), 1})
		}
	}
	if limit := trainedFactor * quantile(values, 1-trainedShare); m.OOD.Leverage == 0 || limit < m.OOD.Leverage {
		m.OOD.Leverage = limit
	}
}

// signal returns the input of a query; nil without inputs.
func signal(m *model.Model, q *estimator.Query) channel.Command {
	switch {
	case m.P == 0:
		return nil
	case q.Plan != nil:
		return &feature.Plan{Values: q.Plan, P: m.P, Step: m.Horizon / float64(len(q.Plan)/m.P)}
	}
	return &feature.Plan{Values: q.U, P: m.P, Step: m.Horizon}
}

// blockBound returns up to which standard deviation intervals grow (K×Q) where folds hold out
// blocks of the same flights: the rms error of holding the start state in the block where it is
// largest, since rest bounds no motion.
func blockBound(frame *rows.Frame, folds []*heldErrors) []float64 {
	K, Q, H := frame.K, len(frame.NoiseKnots), frame.Inputs.Horizon
	bound, d := slices.Clone(frame.HoldRMSE), make([]float64, K)
	for _, e := range folds {
		for i := range e.flights {
			block := &e.flights[i]
			squares, n := make([]float64, K*Q), make([]float64, K*Q)
			for _, w := range window.Cut(e.flights[i:i+1], H, H/windowsPerHorizon) {
				for q, tau := range frame.NoiseKnots {
					block.Displacement(d, w.Start, tau*H)
					for k, v := range d {
						if !math.IsNaN(v) {
							squares[k*Q+q] += v * v
							n[k*Q+q]++
						}
					}
				}
			}
			for j, sum := range squares {
				bound[j] = math.Max(bound[j], math.Sqrt(sum/math.Max(n[j], 1)))
			}
		}
	}
	return bound
}
