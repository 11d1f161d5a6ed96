package candidates

import (
	"context"
	"errors"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/actuator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/budget"
	"github.com/dgm-robotics/dgm/trainer/ridge"
	"github.com/dgm-robotics/dgm/trainer/rollouts"
	"github.com/dgm-robotics/dgm/trainer/stack"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// fitDirect fits the direct map, with as much history as pays on the folds, or without
// folds as much as was chosen before; none where it is left out, the flights are too short
// for it, or the time is up. With a base there is a second map, of the residuals of that of all flights: it has what the
// equation does not know, history above all, and need not be linear where the equation is not.
func (p *Prior) fitDirect(ctx context.Context, flights []window.Flight, parts []window.Fold, base *stack.Candidate, b *budget.Adaptation) ([]stack.Candidate, error) {
	if !p.set.Direct {
		return nil, nil
	}
	b.Say("prior dynamics: direct map")
	choose := len(parts) > 0
	if !choose {
		parts = window.Folds(flights, p.task.Horizon, p.set.Folds)
	}
	cfg := p.direct
	if base != nil {
		spec := rollouts.Spec{Component: base.Whole, Actuators: p.set.Actuators, History: cfg.History, Times: cfg.Times}
		cfg.Base = func() ridge.Base { return rollouts.New(p.task, spec) }
	}
	f, err := ridge.Fit(ctx, flights, parts, p.task, cfg)
	b.Work("prior dynamics: direct map", b.Direct)
	if errors.Is(err, ridge.ErrTooFew) || ctx.Err() != nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if choose {
		p.keepBest(f)
	}
	f.SetAgreement()
	if !choose {
		f.Folds, f.Residuals.Folds = nil, nil
	}
	f.SetLeverage()
	out := []stack.Candidate{ofMaps(directName, &f.Maps)}
	if len(f.Residuals.Model.Levels) > 0 {
		out = append(out, ofMaps(residualsName, &f.Residuals).OfResiduals(base))
	}
	return out, nil
}

// keepBest keeps as much history as pays, in the fits to come as well.
func (p *Prior) keepBest(f *ridge.Fitted) {
	rows := f.KeepBest()
	if len(p.set.Actuators) > 0 {
		rows = max(rows, stack.Rows(p.direct.History, actuator.Reach(p.set.Actuators)))
	}
	p.direct.History.Edges = p.direct.History.Edges[:rows]
	p.direct.Rows = nil
	for _, l := range f.Model.Levels {
		if l.Rows > 0 && !slices.Contains(p.direct.Rows, l.Rows) {
			p.direct.Rows = append(p.direct.Rows, l.Rows)
		}
	}
}

func ofMaps(name string, m *ridge.Maps) stack.Candidate {
	out := stack.Candidate{Name: name, Whole: model.Component{Kind: model.Direct, Direct: m.Model}}
	for i := range m.Folds {
		out.Folds = append(out.Folds, model.Component{Kind: model.Direct, Direct: m.Folds[i]})
	}
	return out
}
