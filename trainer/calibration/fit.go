package calibration

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/nets"
	"github.com/dgm-robotics/dgm/trainer/rows"
)

// Switches are the parts of a calibration model are fitted; the others leave the
// prediction as it is.
type Switches struct {
	NetworkWeight, ScaleFactor, Distance, Motion bool
}

// Fit calibrates so many readouts by what the folds hold out, with the posterior of one
// net: the intervals of an ensemble are no narrower. The first readout decides between
// which distances it counts. done is called after each.
func Fit(folds Folds, net *nets.Net, set nets.Conditioning, on Switches, readouts int, done func(model.Readout)) ([]Model, error) {
	var out []Model
	for r := range readouts {
		e, err := folds.errors(net, model.Readout(r), set)
		if err != nil {
			return nil, err
		}
		var reach *Model
		if r > 0 {
			reach = &out[0]
		}
		out = append(out, fit(folds.Folds[0].Data.Frame, e, on, reach))
		done(model.Readout(r))
	}
	return out, nil
}

// Score returns the mean log likelihood of a held-out point of each fold, with the
// posterior of a net and the calibration model fitted to it, with a plan.
func Score(folds Folds, net *nets.Net, set nets.Conditioning, on Switches) ([]float64, error) {
	e, err := folds.errors(net, model.Plan, set)
	if err != nil {
		return nil, err
	}
	return fit(folds.Folds[0].Data.Frame, e, on, nil).Scores, nil
}

// Try conditions a net on the first fold and predicts what the fold holds out, for its
// time alone.
func Try(folds Folds, net *nets.Net, set nets.Conditioning) error {
	_, err := folds.errorsOf(0, net, model.Plan, set)
	return err
}

// fit fits the calibration model to the errors of the folds, as far as the switches ask
// for it. reach has the distances and the typical motion; nil = they are fitted too.
func fit(f *rows.Frame, folds []*heldErrors, on Switches, reach *Model) Model {
	H, times := f.Inputs.Horizon, folds[0].times
	m := Model{NetworkWeight: networkWeight(f, folds, on.NetworkWeight)}
	if reach != nil {
		m.Near, m.Far, m.TypicalMotion = reach.Near, reach.Far, reach.TypicalMotion
	} else {
		m.Near, m.Far = reachOf(f.K, folds)
		m.TypicalMotion = typicalMotion(f.K, folds)
	}
	m.DistanceExponent, m.MotionExponent = m.exponents(f.K, folds, on)
	if reach == nil {
		m.Far *= beyond
		if m.DistanceExponent > 0 {
			m.Far = math.Min(m.Far, m.Near*math.Pow(maxDistanceFactor, 1/m.DistanceExponent))
		}
	}
	m.setFactors(folds)
	at := scaleFactors(f.K, folds, on.ScaleFactor)
	for k := range f.K {
		for _, tau := range f.NoiseKnots {
			m.ScaleFactor = append(m.ScaleFactor, interpolate(times, at, k, tau*H))
		}
	}
	m.Scores = scores(folds, at)
	return m
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
	at, weights := hats(f.NoiseKnots, taus), make([][]float64, len(folds))
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

// scores returns the mean log likelihood of a held-out point of each fold with scale
// factors (T × K), outliers capped. Here, where models are compared, strata of states
// weigh the same; the calibration model itself is of windows as they come, since so is
// the coverage that is promised.
func scores(folds []*heldErrors, at [][]float64) []float64 {
	var out []float64
	for _, fold := range folds {
		sum, n := 0.0, 0.0
		for i, factors := range at {
			for k, factor := range factors {
				fold.each(len(factors), i, k, func(w *heldWindow, e *heldError) {
					f := factor * w.factor[i]
					sum += w.weight * logLikelihood(e.z/f, f*e.std)
					n += w.weight
				})
			}
		}
		out = append(out, sum/n)
	}
	return out
}
