package candidates

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dgm-robotics/dgm/estimator/model"
	equation "github.com/dgm-robotics/dgm/estimator/motion"
	dynamics "github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/budget"
	"github.com/dgm-robotics/dgm/trainer/motion"
	"github.com/dgm-robotics/dgm/trainer/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/priordynamics/manipulator"
	"github.com/dgm-robotics/dgm/trainer/stack"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// singleLink is the number of states of a single link. Its equation of motion is linear in
// the lifted states: the linear equation has it without a chain.
const singleLink = 2

// Motion is the equation of motion of a training.
type Motion struct {
	Equation *equation.Equation // with the parameters of the last fit; that of a chain has kind and parameters alone

	chain dynamics.Chain // (optional) it is that of a chain of links
	step  motion.Settings
}

// EquationOfMotion returns the equation with the parameters of the last fit; nil = none was found.
func (p *Prior) EquationOfMotion() *equation.Equation {
	if p.Motion == nil {
		return nil
	}
	return p.Motion.Equation
}

// fitMotion fits the equation of motion that names and units propose, with the parts of the cross-validation those of the
// least error of all kinds; none where there is none that could be fitted.
func (p *Prior) fitMotion(ctx context.Context, flights []window.Flight, parts []window.Fold, b *budget.Adaptation) ([]stack.Candidate, error) {
	if !p.set.Motion || ctx.Err() != nil || len(parts) == 0 && p.Motion == nil {
		return nil, nil
	}
	b.Say("equation of motion")
	if len(parts) > 0 {
		if err := p.chooseMotion(ctx, flights); err != nil || p.Motion == nil {
			return nil, err
		}
	} else if err := p.refitMotion(ctx, flights, p.Motion); err != nil {
		return nil, err
	}
	out := stack.Candidate{Name: motionName, Physical: true, Whole: p.component(flights, p.Motion)}
	var chains []dynamics.Chain
	for _, part := range parts {
		fold := *p.Motion
		fold.step = fold.step.Coarse(p.task)
		if err := p.refitMotion(ctx, part.Train, &fold); err != nil {
			return nil, err
		}
		out.Folds, chains = append(out.Folds, p.component(part.Train, &fold)), append(chains, fold.chain)
	}
	if !p.Motion.chain.Empty() {
		p.Motion.Equation = p.chainEquation(p.Motion.chain, chains)
	}
	b.Work("equation of motion", b.Motion)
	return []stack.Candidate{out}, nil
}

// component returns the component of an equation of motion.
func (p *Prior) component(of []window.Flight, m *Motion) model.Component {
	if !m.chain.Empty() {
		return rollout(priordynamics.OfChain(of, p.task, manipulator.Step(p.task), m.chain))
	}
	return rollout(priordynamics.OfMotion(of, p.task, m.step.Predict, m.Equation))
}

// chainEquation returns kind and parameters of a chain, with 95 % intervals from the spread of its fits without each of the folds (the
// jackknife); without folds they keep the width they had.
func (p *Prior) chainEquation(c dynamics.Chain, folds []dynamics.Chain) *equation.Equation {
	var inputs []string
	for _, in := range p.set.Inputs {
		inputs = append(inputs, in.Name)
	}
	out := &equation.Equation{Kind: dynamics.ChainKind, Parameters: c.Parameters(inputs)}
	n := float64(len(folds))
	for i := range out.Parameters {
		q := &out.Parameters[i]
		var half float64
		if before := p.Motion.Equation; len(folds) == 0 && before != nil {
			half = (before.Parameters[i].High - before.Parameters[i].Low) / 2
		}
		if len(folds) > 1 {
			var values []float64
			for _, f := range folds {
				values = append(values, f.Parameters(inputs)[i].Value)
			}
			half = distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975) * math.Sqrt((n-1)*(n-1)/n*stat.Variance(values, nil))
		}
		q.Low, q.High = q.Value-half, q.Value+half
	}
	return out
}

// chooseMotion sets Motion to the proposed equation of the least error, or to that of a chain of links.
func (p *Prior) chooseMotion(ctx context.Context, flights []window.Flight) error {
	proposed := motion.Propose(p.task.States, p.set.Inputs, &p.body)
	set := motion.SettingsOf(flights, p.task, p.set.MotionWindows, proposed)
	fitted, objective, err := motion.Choose(ctx, flights, p.task, proposed, set)
	if fitted != nil {
		p.Motion = &Motion{Equation: fitted, step: set}
	} else {
		objective = math.Inf(1)
	}
	if MayChain(p.task) {
		p.chain, _ = manipulator.Identify(ctx, flights, p.task, objective)
		if m := (&Motion{chain: p.chain, step: set}); !p.chain.Empty() && (fitted == nil || p.logError(flights, m) < p.logError(flights, p.Motion)-decisive) {
			p.Motion = m
		}
	}
	if errors.Is(err, motion.ErrTooFew) {
		return nil
	}
	return err
}

// chainOf returns the chain of links that the states of flights are of; empty = none was found.
func (p *Prior) chainOf(ctx context.Context, flights []window.Flight) dynamics.Chain {
	if p.set.Motion || !MayChain(p.task) {
		return p.chain // of chooseMotion
	}
	chain, _ := manipulator.Identify(ctx, flights, p.task, math.Inf(1))
	return chain
}

// logError returns the mean logarithm of the error of the roll-outs of an equation over that of holding.
func (p *Prior) logError(flights []window.Flight, m *Motion) float64 {
	c := p.component(flights, m)
	return priordynamics.LogError(&c.Members[0], flights, p.task)
}

// decisive is by how much logError of a chain is below that of another equation: joints that valves move fit a chain a little
// better, and are predicted worse with it.
const decisive = 0.2

// refitMotion fits the equation of m to other flights, from the parameters that it has.
func (p *Prior) refitMotion(ctx context.Context, flights []window.Flight, m *Motion) error {
	if !m.chain.Empty() {
		if c := manipulator.Refit(ctx, m.chain, flights, p.task); !c.Empty() {
			m.chain = c
		}
		return nil
	}
	var start []float64
	for _, q := range m.Equation.Parameters {
		start = append(start, q.Value)
	}
	e := *m.Equation
	e.Parameters = slices.Clone(e.Parameters)
	fitted, _, err := motion.Fit(ctx, flights, p.task, e, m.step, start)
	if errors.Is(err, motion.ErrTooFew) {
		return nil
	}
	if err == nil {
		m.Equation = fitted
	}
	return err
}

// MayChain reports whether a chain of links is tried under the nets: the states are the
// angles and rates of several.
func MayChain(task window.Task) bool {
	return len(task.States) > singleLink && manipulator.Links(task.States) > 0
}

func rollout(m *dynamics.Model) model.Component {
	return model.Component{Kind: model.Equation, Members: []dynamics.Model{*m}}
}
