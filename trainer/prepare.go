package trainer

import (
	"context"
	"fmt"
	"time"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/ood"
	"github.com/dgm-robotics/dgm/trainer/nets"
	outside "github.com/dgm-robotics/dgm/trainer/ood"
	choice "github.com/dgm-robotics/dgm/trainer/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/rows"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// noiseKnots are the places of the noise knots on the horizon: dense where it
// grows fastest.
var noiseKnots = []float64{0, 0.03, 0.1, 0.3, 1}

// folds is how often the data are parted for choosing and calibrating.
const folds = 4

// foldData is one part of the cross-validation: what is left to condition on,
// under an equation fitted to it alone, and what is scored.
type foldData struct {
	data   nets.Data
	held   []window.Flight
	region ood.Detector // of what is left
}

// prepare chooses what the nets start from, sets up the frame of all fits and
// parts the data into folds.
func (t *training) prepare(known []window.Flight) error {
	parts := window.Folds(known, t.H, folds)
	bases := make([]estimator.PriorDynamicsSpec, len(parts))
	base := estimator.PriorDynamicsSpec{Velocity: t.cfg.Prior == "velocity"}
	if t.cfg.Prior == "equation" {
		var err error
		if base, err = t.chooseBase(known, parts, bases); err != nil {
			return err
		}
	}
	windows := window.Cut(known, t.H, t.stride)
	frame, err := rows.NewFrame(t.d.Channels, known, windows, rows.Settings{
		Horizon: t.H, Knots: t.cfg.Knots, Basis: t.bases()[0], NoiseKnots: noiseKnots, ConstantNoise: t.cfg.Noise == "constant", Base: base,
	})
	if err != nil {
		return err
	}
	t.data = nets.Data{Frame: frame, Flights: known, Windows: windows, Samples: samples(known)}
	t.cells = outside.Starts(&frame.Inputs.Lift, known, windows).Cells()
	for i, f := range parts {
		d := t.dataOn(f.Train, frame.WithBase(bases[i]))
		if t.cfg.Prior != "equation" {
			d.Frame = frame
		}
		r, _ := outside.Starts(&frame.Inputs.Lift, d.Flights, d.Windows).Region() // without one, distances are 0
		t.folds = append(t.folds, foldData{d, f.Held, r})
	}
	if t.linearStd, err = linearErrors(parts, t.states, t.P, t.H, noiseKnots); err != nil {
		return err
	}
	t.meter.work("folds", workFolds)
	return nil
}

// chooseBase chooses the difference equation and how much of its companion is
// blended in, and writes the base of every fold, fitted without what it holds out.
func (t *training) chooseBase(known []window.Flight, parts []window.Fold, bases []estimator.PriorDynamicsSpec) (estimator.PriorDynamicsSpec, error) {
	t.meter.say("difference equation")
	limited, cancel := context.WithTimeout(t.ctx, t.share(chooseShare))
	defer cancel()
	tried, err := choice.Choose(limited, known, t.states, t.d.Body, t.P, t.H, func(done, of int) {
		share := workChoose / float64(of)
		if done == 0 {
			share = 0
		}
		t.meter.work(fmt.Sprintf("difference equation: candidate %d of %d", done+1, of), share)
	})
	if err != nil {
		return estimator.PriorDynamicsSpec{}, err
	}
	t.res.Priors, t.shape = tried, tried[0].Shape
	if t.companion, err = choice.Companion(known, t.states, t.d.Body, t.P, t.H); err != nil {
		return estimator.PriorDynamicsSpec{}, err
	}
	t.meter.work("difference equation", workChoose/float64(len(tried))) // the last of them
	base, err := t.baseOf(known)
	if err != nil {
		return estimator.PriorDynamicsSpec{}, err
	}
	var pairs []choice.Pair
	for i, f := range parts {
		t.meter.work(fmt.Sprintf("difference equation: fold %d of %d", i+1, len(parts)), workEquations/float64(len(parts)))
		if bases[i], err = t.baseOf(f.Train); err != nil {
			return estimator.PriorDynamicsSpec{}, err
		}
		pairs = append(pairs, choice.Pair{Prior: bases[i].Model, Companion: bases[i].Secondary, Held: f.Held})
	}
	t.blend = make([]float64, len(t.states)*len(noiseKnots))
	if t.cfg.Fold.Companion && len(pairs) > 0 {
		t.blend = choice.Blend(pairs, len(t.states), t.P, t.H, noiseKnots)
	}
	for i := range bases {
		bases[i].LinearWeight = t.blend
	}
	base.LinearWeight = t.blend
	return base, nil
}

// Shares of the budget that choosing an equation, and fitting one, may take. Every
// fit has the same, so that a fold's equation is as good as the one that flies.
const (
	chooseShare = 0.1
	fitShare    = 0.04
	coreShare   = 0.25 // of choosing core and basis
)

// atOnce is what a fit may take when somebody waits for the end.
const atOnce = 5 * time.Second

func (t *training) share(s float64) time.Duration { return time.Duration(s * float64(t.cfg.Budget)) }

func (t *training) effort() choice.Effort {
	return choice.Effort{Windows: t.cfg.Roll.Windows, Iterations: t.cfg.Roll.Iterations}
}

// baseOf fits both equations to flights, within their share of the budget; a training
// that is to end goes on with what this leaves.
func (t *training) baseOf(flights []window.Flight) (estimator.PriorDynamicsSpec, error) {
	limit := t.share(fitShare)
	if t.ctx.Err() != nil {
		limit = min(limit, atOnce)
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), limit)
	defer cancel()
	p, err := choice.Fit(limited, flights, t.states, t.P, t.H, t.shape, t.effort())
	if err != nil {
		return estimator.PriorDynamicsSpec{}, err
	}
	c, err := choice.FitCompanion(flights, t.states, t.P, t.companion)
	return estimator.PriorDynamicsSpec{Model: p, Secondary: c, LinearWeight: t.blend}, err
}

// dataOf returns flights as data, under a base fitted to them alone.
func (t *training) dataOf(flights []window.Flight) (nets.Data, error) {
	if t.cfg.Prior != "equation" {
		return t.dataOn(flights, t.data.Frame), nil
	}
	base, err := t.baseOf(flights)
	return t.dataOn(flights, t.data.Frame.WithBase(base)), err
}

func (t *training) dataOn(flights []window.Flight, f *rows.Frame) nets.Data {
	return nets.Data{Frame: f, Flights: flights, Windows: window.Cut(flights, t.H, t.stride), Samples: samples(flights)}
}
