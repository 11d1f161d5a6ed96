package candidates

import (
	"context"
	"errors"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/model"
	equation "github.com/dgm-robotics/dgm/estimator/motion"
	dynamics "github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/budget"
	"github.com/dgm-robotics/dgm/trainer/motion"
	"github.com/dgm-robotics/dgm/trainer/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/stack"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Motion is the equation of motion of a training.
type Motion struct {
	Equation *equation.Equation // with the parameters of the last fit

	step motion.Settings
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
	component := func(of []window.Flight, e *equation.Equation) model.Component {
		return model.Component{Kind: model.Equation, Members: []dynamics.Model{*priordynamics.OfMotion(of, p.task, p.Motion.step.Predict, e)}}
	}
	out := stack.Candidate{Name: motionName, Physical: true, Whole: component(flights, p.Motion.Equation)}
	for _, part := range parts {
		fold := *p.Motion
		fold.step = fold.step.Coarse(p.task)
		if err := p.refitMotion(ctx, part.Train, &fold); err != nil {
			return nil, err
		}
		out.Folds = append(out.Folds, component(part.Train, fold.Equation))
	}
	b.Work("equation of motion", b.Motion)
	return []stack.Candidate{out}, nil
}

// chooseMotion sets Motion to the proposed equation of the least error.
func (p *Prior) chooseMotion(ctx context.Context, flights []window.Flight) error {
	set := motion.SettingsOf(flights, p.task, p.set.MotionWindows)
	fitted, _, err := motion.Choose(ctx, flights, p.task, motion.Propose(p.task.States, p.set.Inputs, &p.body), set)
	if fitted != nil {
		p.Motion = &Motion{Equation: fitted, step: set}
	}
	if errors.Is(err, motion.ErrTooFew) {
		return nil
	}
	return err
}

// refitMotion fits the equation of m to other flights, from the parameters that it has.
func (p *Prior) refitMotion(ctx context.Context, flights []window.Flight, m *Motion) error {
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
