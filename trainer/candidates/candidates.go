// Package candidates fits the candidates of the stack of prior dynamics: the difference
// equation, its linear form, constant velocity, the direct map with history and the nets in
// the linear equation or on a chain of links. What folds choose (shape, history, weight decay) it keeps for the
// fit to all flights.
package candidates

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/actuator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model"
	equation "github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/budget"
	"github.com/dgm-robotics/dgm/trainer/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/priordynamics/dynamicsnet"
	"github.com/dgm-robotics/dgm/trainer/ridge"
	"github.com/dgm-robotics/dgm/trainer/stack"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// atOnce is the time of a fit after the training was stopped.
const atOnce = 5 * time.Second

// Settings say which candidates there are, and bound their fits.
type Settings struct {
	Equation, Linear, Velocity bool // difference equation, its linear form beside it, constant velocity
	Direct, History            bool // direct map; with history
	Nets                       Nets // in the linear equation
	Motion                     bool // equations of motion, where names and units allow one
	Inputs                     []channel.Channel
	Actuators                  []actuator.Response // (optional) P, how inputs follow their commands: what equations read
	Effort                     priordynamics.Effort
	DirectWindows              int       // that direct maps are fitted to, at most
	MotionWindows              int       // that equations of motion are fitted to, at most; parts of the cross-validation have half of them
	Knots                      []float64 // of the stack's weights, as parts of the horizon, ascending
	Folds                      int       // of the cross-validation of a direct map without parts
	Seed                       uint64
}

// Nets sizes the nets in the linear equation; without members there are none.
type Nets struct {
	Members      int
	Match, Shoot int // steps
}

// Prior is the prior dynamics of a training, with what was chosen for it.
type Prior struct {
	Shape  priordynamics.Choice // zero without an equation
	Stack  *stack.Stack         // nil = none
	Motion *Motion              // nil = none was found

	task   window.Task
	body   equation.Body
	set    Settings
	direct ridge.Config        // of the direct map
	nets   *dynamicsnet.Choice // nets in the linear equation; nil = none
	parts  int                 // of the cross-validation

	chain equation.Chain // of links that the states are of; empty = none was looked for, or found
}

// Names of the candidates of the stack.
const (
	equationName  = "difference equation"
	linearName    = "linear equation"
	velocityName  = "constant velocity"
	directName    = "direct map"
	netsName      = "nets in the linear equation"
	chainName     = "nets on a chain of links"
	motionName    = "equation of motion"
	residualsName = "direct map of the residuals of the equation"
)

// Choose fits the candidates to the known flights and to every part of their
// cross-validation, and weighs them. Without any candidate the prior is without a stack.
func Choose(ctx context.Context, known []window.Flight, parts []window.Fold, task window.Task, body equation.Body, readouts int, set Settings, b *budget.Adaptation) (*Prior, error) {
	p := &Prior{task: task, parts: len(parts), body: body, set: set, direct: ridge.Default(known, task, readouts)}
	p.direct.Windows = set.DirectWindows
	if !set.History {
		p.direct.Rows, p.direct.History = nil, history.Spec{}
	}
	if !set.Equation && !set.Velocity {
		return p, nil
	}
	if set.Equation {
		if err := p.chooseShape(ctx, window.Settled(known, set.Actuators), b); err != nil {
			return nil, err
		}
	}
	fitted, err := p.fitAll(ctx, known, parts, b)
	if err != nil {
		return nil, err
	}
	t := stack.Task{Task: task, Knots: set.Knots, Readouts: readouts, History: p.direct.History, Actuators: set.Actuators}
	b.Say("prior dynamics: weights")
	p.Stack, err = stack.Fit(parts, t, fitted)
	return p, err
}

// Spec returns the prior dynamics of the model, and of each part of the cross-validation.
func (p *Prior) Spec() (whole estimator.PriorDynamicsSpec, folds []estimator.PriorDynamicsSpec) {
	if p.Stack == nil {
		return whole, make([]estimator.PriorDynamicsSpec, p.parts)
	}
	for _, f := range p.Stack.Folds {
		folds = append(folds, p.Stack.Spec(f))
	}
	return p.Stack.Spec(p.Stack.Components), folds
}

// Refit returns the prior dynamics fitted to other flights, with the weights and choices of
// before: of the components of the stack alone. Once ctx ends, components that take long stay as they were.
func (p *Prior) Refit(ctx context.Context, flights []window.Flight, b *budget.Adaptation) (estimator.PriorDynamicsSpec, error) {
	if p.Stack == nil {
		return estimator.PriorDynamicsSpec{}, nil
	}
	fitted, err := p.fitAll(ctx, flights, nil, b)
	if err != nil {
		return estimator.PriorDynamicsSpec{}, err
	}
	return p.Stack.Spec(p.Stack.With(fitted)), nil
}

func (p *Prior) chooseShape(ctx context.Context, known []window.Flight, b *budget.Adaptation) error {
	b.Say("prior dynamics")
	var err error
	p.Shape, err = priordynamics.Choose(ctx, known, p.task, p.body, func(done, of int) {
		work := b.Choose / float64(of)
		if done == 0 {
			work = 0
		}
		b.Work(fmt.Sprintf("prior dynamics: candidate %d of %d", done+1, of), work)
	})
	if err == nil {
		b.SetEquation(secondsOfWork*p.Shape.Work(p.task, p.set.Effort), 2+p.parts)
		b.Work("prior dynamics", b.Choose/float64(len(p.Shape.Candidates))) // the last of them
	}
	return err
}

// counts reports whether a candidate of one of the names is in the stack, or there is none yet.
func (p *Prior) counts(names ...string) bool {
	return p.Stack == nil || slices.ContainsFunc(names, func(name string) bool { return slices.Contains(p.Stack.Names, name) })
}

// fitAll fits the candidates of the stack that count to flights, and to every part of their
// cross-validation. b has the progress.
func (p *Prior) fitAll(ctx context.Context, flights []window.Flight, parts []window.Fold, b *budget.Adaptation) ([]stack.Candidate, error) {
	velocity := stack.Candidate{Name: velocityName, Whole: model.Component{Kind: model.Velocity}}
	for range parts {
		velocity.Folds = append(velocity.Folds, velocity.Whole)
	}
	acting, actingParts := window.Settled(flights, p.set.Actuators), p.acting(parts)
	out, err := p.fitEquations(ctx, acting, actingParts, b)
	if err != nil {
		return nil, err
	}
	if p.set.Velocity {
		out = append(out, velocity)
	}
	b.Work("equation of motion", b.Equation) // the last fit
	moved, err := p.fitMotion(ctx, acting, actingParts, b)
	if err != nil {
		return nil, err
	}
	var direct []stack.Candidate
	if p.counts(directName, residualsName) {
		if direct, err = p.fitDirect(ctx, flights, parts, p.base(acting, out, moved), b); err != nil {
			return nil, err
		}
	}
	nets, err := p.fitNets(ctx, acting, actingParts, b)
	return slices.Concat(out, direct, nets, moved), err
}

// fitEquations fits the difference equation and its linear form, which takes a third of the iterations.
func (p *Prior) fitEquations(ctx context.Context, flights []window.Flight, parts []window.Fold, b *budget.Adaptation) (out []stack.Candidate, err error) {
	fit := func(name string, shape priordynamics.Shape, iterations int) error {
		c, effort := stack.Candidate{Name: name}, p.set.Effort
		effort.Iterations = max(1, iterations)
		for i, of := range append(parts[:len(parts):len(parts)], window.Fold{Train: flights}) {
			m, err := p.fit(ctx, of.Train, shape, effort)
			if err != nil {
				return err
			}
			if c.Whole = rollout(m); i < len(parts) {
				c.Folds = append(c.Folds, c.Whole)
				b.Work(fmt.Sprintf("prior dynamics: %s, fold %d of %d", name, i+1, len(parts)), b.Equation/2)
			}
		}
		out = append(out, c)
		return nil
	}
	if p.set.Equation && p.counts(equationName) {
		err = fit(equationName, p.Shape.Shape, p.set.Effort.Iterations)
	}
	if p.set.Equation && p.set.Linear && p.counts(linearName) && err == nil {
		err = fit(linearName, p.Shape.Secondary, p.set.Effort.Iterations/3)
	}
	return out, err
}

// clearly is by how much the mean logarithm of an error is below that of another.
const clearly = 0.5

// base returns the equation whose residuals have a direct map: that of motion, or the linear difference equation with dry friction
// where that errs clearly less; nil = none. Without friction a linear one leaves nothing that the direct map itself has not.
func (p *Prior) base(flights []window.Flight, equations, moved []stack.Candidate) *stack.Candidate {
	var base *stack.Candidate
	if len(moved) > 0 {
		base = &moved[0]
	}
	if s := p.Shape.Shape; s.Dry && len(equations) > 0 && equations[0].Name == equationName {
		of := func(c *stack.Candidate) float64 { return priordynamics.LogError(&c.Whole.Members[0], flights, p.task) }
		if e := &equations[0]; base == nil || of(e) < of(base)-clearly {
			base = e
		}
	}
	return base
}

// acting returns parts with the inputs that equations read.
func (p *Prior) acting(parts []window.Fold) []window.Fold {
	out := slices.Clone(parts)
	for i := range out {
		out[i].Train, out[i].Held = window.Settled(out[i].Train, p.set.Actuators), window.Acting(out[i].Held, p.set.Actuators)
	}
	return out
}

// fitNets fits an ensemble of nets in the linear equation, and one net for each fold; none
// where the flights are too short, or where folds find them no better than the equation.
func (p *Prior) fitNets(ctx context.Context, flights []window.Flight, parts []window.Fold, b *budget.Adaptation) ([]stack.Candidate, error) {
	if p.set.Nets.Members == 0 || !p.counts(netsName, chainName) || ctx.Err() != nil || len(parts) > 0 && len(parts) < 2 || len(parts) == 0 && p.nets == nil {
		return nil, nil
	}
	if len(parts) > 0 {
		b.Say("prior dynamics: nets, weight decay")
		set := dynamicsnet.Default(len(p.task.States))
		set.Match.Steps, set.Shoot.Steps = p.set.Nets.Match, p.set.Nets.Shoot
		choice, err := dynamicsnet.Choose(ctx, parts, p.task, p.body, p.chainOf(ctx, flights), set, p.set.Seed)
		if errors.Is(err, dynamicsnet.ErrTooFew) || ctx.Err() != nil {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		p.nets = choice
		if MayChain(p.task) && !p.nets.Chained() {
			b.NoChain(2)
		}
	}
	choice := 0.0
	if len(parts) > 0 {
		choice = b.NetChoice
	}
	b.Work("prior dynamics: nets", choice)
	var seeds []uint64
	for i := range p.set.Nets.Members {
		seeds = append(seeds, p.set.Seed*1000+uint64(i))
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
	if p.nets.Chained() {
		out.Name = chainName
	}
	if len(parts) > 0 {
		for _, fold := range p.nets.Folds {
			out.Folds = append(out.Folds, model.Component{Kind: model.Equation, Members: fold})
		}
	}
	return []stack.Candidate{out}, nil
}

// fit fits a shape to flights. Once ctx ends, it takes a little time at most.
func (p *Prior) fit(ctx context.Context, flights []window.Flight, shape priordynamics.Shape, e priordynamics.Effort) (*equation.Model, error) {
	if ctx.Err() != nil {
		brief, cancel := context.WithTimeout(context.WithoutCancel(ctx), atOnce)
		defer cancel()
		ctx = brief
	}
	return priordynamics.Fit(ctx, flights, p.task, shape, e)
}

// secondsOfWork is the time of one core for a multiplication of a fit, s, about.
const secondsOfWork = 2.2e-9
