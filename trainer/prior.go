package trainer

import (
	"context"
	"fmt"
	"time"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	equation "github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/budget"
	"github.com/dgm-robotics/dgm/trainer/calibration"
	"github.com/dgm-robotics/dgm/trainer/nets"
	"github.com/dgm-robotics/dgm/trainer/ood"
	"github.com/dgm-robotics/dgm/trainer/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/rows"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// noiseKnots are the places of the noise knots on the horizon: dense where it
// grows fastest.
var noiseKnots = []float64{0, 0.03, 0.1, 0.3, 1}

// foldCount is how often the data are parted for choosing and calibrating.
const foldCount = 4

// Shares of the budget for choosing prior dynamics, and for fitting them. Every fit has
// the same, so that a fold's prior dynamics are as good as the exported ones.
const (
	chooseShare = 0.1
	fitShare    = 0.04
)

// atOnce is the time of a fit after the training was stopped.
const atOnce = 5 * time.Second

// fittedPrior is the prior dynamics of a training.
type fittedPrior struct {
	choice priordynamics.Choice // zero without an equation
	weight []float64            // K×Q, of the secondary linear model
	known  estimator.PriorDynamicsSpec
	folds  []estimator.PriorDynamicsSpec // each fitted without what its fold holds out; none without an equation

	task   window.Task
	effort priordynamics.Effort
	limit  time.Duration
}

// choosePrior chooses the prior dynamics by the known flights, and fits them to these and
// to every part of the cross-validation.
func choosePrior(ctx context.Context, d *Data, cfg Config, task window.Task, known []window.Flight, parts []window.Fold, b *budget.Adaptation) (*fittedPrior, error) {
	p := &fittedPrior{
		task: task, effort: priordynamics.Effort{Windows: cfg.Equation.Windows, Iterations: cfg.Equation.Iterations}, limit: b.Share(fitShare),
	}
	if cfg.Prior == "velocity" {
		p.known.Stack = []model.Component{{Kind: model.Velocity}}
	}
	if cfg.Prior != "equation" {
		return p, nil
	}
	b.Say("prior dynamics")
	limited, cancel := context.WithTimeout(ctx, b.Share(chooseShare))
	defer cancel()
	var err error
	p.choice, err = priordynamics.Choose(limited, known, task, d.Body, func(done, of int) {
		work := budget.WorkChoose / float64(of)
		if done == 0 {
			work = 0
		}
		b.Work(fmt.Sprintf("prior dynamics: candidate %d of %d", done+1, of), work)
	})
	if err != nil {
		return nil, err
	}
	b.Work("prior dynamics", budget.WorkChoose/float64(len(p.choice.Candidates))) // the last of them
	pair, err := p.fit(ctx, known)
	if err != nil {
		return nil, err
	}
	var pairs []priordynamics.Pair
	for i, part := range parts {
		b.Work(fmt.Sprintf("prior dynamics: fold %d of %d", i+1, len(parts)), budget.WorkEquations/float64(len(parts)))
		fitted, err := p.fit(ctx, part.Train)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, fitted)
	}
	p.weight = make([]float64, len(task.States)*len(noiseKnots))
	if cfg.Folds.Secondary && len(pairs) > 0 {
		p.weight = calibration.SecondaryWeight(parts, pairs, task, noiseKnots)
	}
	p.known = p.spec(pair)
	for _, fitted := range pairs {
		p.folds = append(p.folds, p.spec(fitted))
	}
	return p, nil
}

// fit fits the chosen shapes to flights, within their share of the budget.
func (p *fittedPrior) fit(ctx context.Context, flights []window.Flight) (priordynamics.Pair, error) {
	limit := p.limit
	if ctx.Err() != nil {
		limit = min(limit, atOnce)
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	return p.choice.Fit(limited, flights, p.task, p.effort)
}

func (p *fittedPrior) spec(pair priordynamics.Pair) estimator.PriorDynamicsSpec {
	return estimator.PriorDynamicsSpec{Stack: []model.Component{
		{Kind: model.Equation, Members: []equation.Model{*pair.Prior}},
		{Kind: model.Equation, Members: []equation.Model{*pair.Secondary}, Weights: [][]float64{p.weight, p.weight}},
	}}
}

// frame measures the frame of all nets on the known flights, and returns these as data,
// with the folds.
func (p *fittedPrior) frame(d *Data, cfg Config, known []window.Flight, parts []window.Fold, stride float64) (nets.Data, calibration.Folds, error) {
	frame, err := rows.NewFrame(d.Channels, known, window.Cut(known, p.task.Horizon, stride), rows.Settings{
		Horizon: p.task.Horizon, Knots: cfg.Knots, Basis: cfg.options().Bases[0], NoiseKnots: noiseKnots, ConstantNoise: cfg.Noise == "constant", Prior: p.known,
	})
	if err != nil {
		return nets.Data{}, calibration.Folds{}, err
	}
	data := nets.NewData(frame, known, stride)
	out := calibration.Folds{Strata: ood.Starts(&frame.Inputs.Lift, known, data.Windows).Strata()}
	for i, part := range parts {
		f := frame
		if p.folds != nil {
			f = frame.WithPrior(p.folds[i])
		}
		out.Folds = append(out.Folds, calibration.NewFold(nets.NewData(f, part.Train, stride), part.Held))
	}
	return data, out, nil
}

// refit returns flights as data in the frame of others, with prior dynamics fitted to
// them.
func (p *fittedPrior) refit(ctx context.Context, data nets.Data, flights []window.Flight, stride float64) (nets.Data, error) {
	frame := data.Frame
	if model.EquationOf(p.known.Stack) != nil {
		pair, err := p.fit(ctx, flights)
		if err != nil {
			return nets.Data{}, err
		}
		frame = frame.WithPrior(p.spec(pair))
	}
	return nets.NewData(frame, flights, stride), nil
}
