package trainer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	equation "github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/budget"
	"github.com/dgm-robotics/dgm/trainer/calibration"
	"github.com/dgm-robotics/dgm/trainer/nets"
	"github.com/dgm-robotics/dgm/trainer/ood"
	"github.com/dgm-robotics/dgm/trainer/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/priordynamics/dynamicsnet"
	"github.com/dgm-robotics/dgm/trainer/ridge"
	"github.com/dgm-robotics/dgm/trainer/rows"
	"github.com/dgm-robotics/dgm/trainer/stack"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// noiseKnots are the places of the noise knots on the horizon: dense where it
// grows fastest.
var noiseKnots = []float64{0, 0.03, 0.1, 0.3, 1}

// foldCount is how often the data are parted for choosing and calibrating.
const foldCount = 4

// atOnce is the time of a fit after the training was stopped.
const atOnce = 5 * time.Second

// fittedPrior is the prior dynamics of a training.
type fittedPrior struct {
	choice priordynamics.Choice // zero without an equation
	stack  *stack.Stack         // nil = none

	task   window.Task
	body   equation.Body
	cfg    *Config
	direct ridge.Config        // of the direct map
	nets   *dynamicsnet.Choice // nets in the linear equation; nil = none
	parts  int                 // of the cross-validation
}

// Names of the candidates of the stack.
const (
	equationName = "difference equation"
	linearName   = "linear equation"
	velocityName = "constant velocity"
	directName   = "direct map"
	netsName     = "nets in the linear equation"
)

// choosePrior chooses the prior dynamics by the known flights, and fits them to these and
// to every part of the cross-validation.
func choosePrior(ctx context.Context, d *Data, cfg Config, task window.Task, readouts int, known []window.Flight, parts []window.Fold, b *budget.Adaptation) (*fittedPrior, error) {
	p := &fittedPrior{task: task, parts: len(parts), body: d.Body, cfg: &cfg, direct: ridge.Default(known, task, readouts)}
	if !cfg.History {
		p.direct.Rows = nil
	}
	if cfg.Prior == "none" {
		return p, nil
	}
	if cfg.usesEquation() {
		if err := p.chooseShape(ctx, known, b); err != nil {
			return nil, err
		}
	}
	candidates, err := p.candidates(ctx, known, parts, b)
	if err != nil {
		return nil, err
	}
	t := stack.Task{Task: task, Knots: noiseKnots, Readouts: readouts, History: p.direct.History}
	b.Say("prior dynamics: weights")
	p.stack, err = stack.Fit(parts, t, candidates)
	return p, err
}

// chooseShape chooses the shape of the difference equation.
func (p *fittedPrior) chooseShape(ctx context.Context, known []window.Flight, b *budget.Adaptation) error {
	b.Say("prior dynamics")
	var err error
	p.choice, err = priordynamics.Choose(ctx, known, p.task, p.body, func(done, of int) {
		work := b.Choose / float64(of)
		if done == 0 {
			work = 0
		}
		b.Work(fmt.Sprintf("prior dynamics: candidate %d of %d", done+1, of), work)
	})
	if err == nil {
		b.SetEquation(secondsOfWork*p.choice.Work(p.task, p.effort()), 2+p.parts)
		b.Work("prior dynamics", b.Choose/float64(len(p.choice.Candidates))) // the last of them
	}
	return err
}

// candidates fits the candidates of the stack to flights, and to every part of their
// cross-validation. b has the progress.
func (p *fittedPrior) candidates(ctx context.Context, flights []window.Flight, parts []window.Fold, b *budget.Adaptation) ([]stack.Candidate, error) {
	velocity := stack.Candidate{Name: velocityName, Whole: model.Component{Kind: model.Velocity}}
	for range parts {
		velocity.Folds = append(velocity.Folds, velocity.Whole)
	}
	var out []stack.Candidate
	if p.cfg.usesEquation() {
		rolled := stack.Candidate{Name: equationName}
		linear := stack.Candidate{Name: linearName}
		for i := range len(parts) + 1 {
			of := flights
			if i > 0 {
				b.Work(fmt.Sprintf("prior dynamics: fold %d of %d", i, len(parts)), b.Equation)
				of = parts[i-1].Train
			}
			pair, err := p.fit(ctx, of)
			if err != nil {
				return nil, err
			}
			if i == 0 {
				rolled.Whole, linear.Whole = rollout(pair.Prior), rollout(pair.Secondary)
				continue
			}
			rolled.Folds, linear.Folds = append(rolled.Folds, rollout(pair.Prior)), append(linear.Folds, rollout(pair.Secondary))
		}
		out = append(out, rolled)
		if p.cfg.Folds.Secondary {
			out = append(out, linear)
		}
	}
	if p.cfg.Prior != "equation" {
		out = append(out, velocity)
	}
	if p.cfg.Prior == "stack" {
		b.Work("prior dynamics: direct map", b.Equation) // the last fit
		direct, err := p.fitDirect(ctx, flights, parts)
		b.Work("prior dynamics: nets", b.Direct)
		if err != nil {
			return nil, err
		}
		nets, err := p.fitNets(ctx, flights, parts, b)
		if err != nil {
			return nil, err
		}
		out = append(out, slices.Concat(direct, nets)...)
	}
	return out, nil
}

// fitNets fits an ensemble of nets in the linear equation, and one net for each fold; none
// where the flights are too short, or where folds find them no better than the equation.
func (p *fittedPrior) fitNets(ctx context.Context, flights []window.Flight, parts []window.Fold, b *budget.Adaptation) ([]stack.Candidate, error) {
	if !p.cfg.usesNets() || ctx.Err() != nil || len(parts) > 0 && len(parts) < 2 || len(parts) == 0 && p.nets == nil {
		return nil, nil
	}
	if len(parts) > 0 {
		b.Say("prior dynamics: nets, weight decay")
		set := dynamicsnet.Default(len(p.task.States))
		set.Match.Steps, set.Shoot.Steps = p.cfg.Dynamics.Match, p.cfg.Dynamics.Shoot
		choice, err := dynamicsnet.Choose(ctx, parts, p.task, p.body, set, p.cfg.Seed)
		if errors.Is(err, dynamicsnet.ErrTooFew) || ctx.Err() != nil {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		p.nets = choice
	}
	choice := 0.0
	if len(parts) > 0 {
		choice = b.NetChoice
	}
	b.Work("prior dynamics: nets", choice)
	var seeds []uint64
	for i := range p.cfg.Dynamics.Members {
		seeds = append(seeds, p.cfg.Seed*1000+uint64(i))
	}
	members, err := p.nets.Fit(ctx, flights, seeds)
	b.Work("prior dynamics: nets", b.Nets)
	if errors.Is(err, dynamicsnet.ErrTooFew) || ctx.Err() != nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := stack.Candidate{Name: netsName, Whole: model.Component{Kind: model.Equation, Members: members}}
	if len(parts) > 0 {
		for _, fold := range p.nets.Folds {
			out.Folds = append(out.Folds, model.Component{Kind: model.Equation, Members: fold})
		}
	}
	return []stack.Candidate{out}, nil
}

// rollout returns a difference equation as a component.
func rollout(m *equation.Model) model.Component {
	return model.Component{Kind: model.Equation, Members: []equation.Model{*m}}
}

// fitDirect fits the direct map, with as much history as pays on the folds, or without
// folds as much as was chosen before; none where it is left out, the flights are too short
// for it, or the time is up.
func (p *fittedPrior) fitDirect(ctx context.Context, flights []window.Flight, parts []window.Fold) ([]stack.Candidate, error) {
	if !p.cfg.Direct {
		return nil, nil
	}
	choose := len(parts) > 0
	if !choose {
		parts = window.Folds(flights, p.task.Horizon, foldCount)
	}
	f, err := ridge.Fit(ctx, flights, parts, p.task, p.direct)
	if errors.Is(err, ridge.ErrTooFew) || ctx.Err() != nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if choose {
		rows := f.KeepBest()
		p.direct.Rows, p.direct.History.Edges = nil, p.direct.History.Edges[:rows]
		if rows > 0 {
			p.direct.Rows = []int{rows}
		}
	}
	out := stack.Candidate{Name: directName, Whole: model.Component{Kind: model.Direct, Direct: f.Model}}
	for i := range f.Folds {
		out.Folds = append(out.Folds, model.Component{Kind: model.Direct, Direct: f.Folds[i]})
	}
	return []stack.Candidate{out}, nil
}

// fit fits the chosen shapes to flights. Once ctx ends, it takes a little time at most.
func (p *fittedPrior) fit(ctx context.Context, flights []window.Flight) (priordynamics.Pair, error) {
	if ctx.Err() != nil {
		brief, cancel := context.WithTimeout(context.WithoutCancel(ctx), atOnce)
		defer cancel()
		ctx = brief
	}
	return p.choice.Fit(ctx, flights, p.task, p.effort())
}

func (p *fittedPrior) effort() priordynamics.Effort {
	return priordynamics.Effort{Windows: p.cfg.Equation.Windows, Iterations: p.cfg.Equation.Iterations}
}

// secondsOfWork is the time of one core for a multiplication of a fit, s, about.
const secondsOfWork = 2.2e-9

// frame measures the frame of all nets on the known flights, and returns these as data,
// with the folds.
func (p *fittedPrior) frame(d *Data, cfg Config, known []window.Flight, parts []window.Fold, stride float64) (nets.Data, calibration.Folds, error) {
	var spec estimator.PriorDynamicsSpec
	if p.stack != nil {
		spec = p.stack.Spec(p.stack.Components)
	}
	frame, err := rows.NewFrame(d.Channels, known, window.Cut(known, p.task.Horizon, stride), rows.Settings{
		Horizon: p.task.Horizon, Knots: cfg.Knots, Basis: cfg.options().Bases[0], NoiseKnots: noiseKnots, ConstantNoise: cfg.Noise == "constant", Prior: spec,
	})
	if err != nil {
		return nets.Data{}, calibration.Folds{}, err
	}
	data := nets.NewData(frame, known, stride)
	out := calibration.Folds{Whole: len(parts) > 0 && parts[0].Whole, Strata: ood.Starts(&frame.Inputs.Lift, known, data.Windows).Strata()}
	for i, part := range parts {
		f := frame
		if p.stack != nil {
			f = frame.WithPrior(p.stack.Spec(p.stack.Folds[i]))
		}
		out.Folds = append(out.Folds, calibration.NewFold(nets.NewData(f, part.Train, stride), part.Held))
	}
	return data, out, nil
}

// refit returns flights as data in the frame of others, with prior dynamics fitted to
// them and the weights of before. Once ctx ends, components that take long stay as they were.
func (p *fittedPrior) refit(ctx context.Context, data nets.Data, flights []window.Flight, stride float64, b *budget.Adaptation) (nets.Data, error) {
	frame := data.Frame
	if p.stack != nil {
		candidates, err := p.candidates(ctx, flights, nil, b)
		if err != nil {
			return nets.Data{}, err
		}
		frame = frame.WithPrior(p.stack.Spec(p.stack.With(candidates)))
	}
	return nets.NewData(frame, flights, stride), nil
}
