package stack

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/cores"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// predict lets every candidate predict what its folds hold out.
func (t *Task) predict(folds []window.Fold, candidates []Candidate) *predictions {
	p := &predictions{K: len(t.States), times: t.times(slices.Concat(folds[0].Train, folds[0].Held)), J: len(candidates)}
	p.T = len(p.times)
	for _, at := range p.times {
		p.taus = append(p.taus, at/t.Horizon)
	}
	for j := range candidates {
		p.fades = append(p.fades, candidates[j].Whole.Far > 0 && !candidates[j].residuals()) // whose own fade is in its predictions
	}
	for r := range model.Readout(t.Readouts) {
		p.conditions = append(p.conditions, r.Condition(false))
	}
	for r := range model.Readout(t.Readouts) {
		if t.History.Rows() > 0 {
			p.conditions = append(p.conditions, r.Condition(true))
		}
	}
	parts := make([][]heldWindow, len(folds))
	cores.Each(len(folds), func(f int) {
		parts[f] = t.predictFold(p, f, folds[f].Held, candidates)
	})
	p.windows = slices.Concat(parts...)
	return p
}

func (t *Task) predictFold(p *predictions, fold int, held []window.Flight, candidates []Candidate) []heldWindow {
	H := t.Horizon
	var priors []*estimator.PriorDynamics
	for _, c := range candidates {
		priors = append(priors, estimator.NewPriorDynamics(t.States, t.Inputs, estimator.PriorDynamicsSpec{
			Stack: []model.Component{c.Folds[fold]}, History: t.History, Actuators: t.Actuators, Knots: t.Knots, Horizon: H,
		}))
	}
	few := t.fewest(candidates)
	var out []heldWindow
	for w := range replay.Each(held, window.Thin(window.Cut(held, H, H/10), mostWindows), p.times) {
		h := heldWindow{fold: fold, measured: slices.Clone(w.Measured)}
		past := w.History(t.History)
		whole := len(past) == t.History.Rows()*(p.K+t.Inputs)
		for c, condition := range p.conditions {
			switch less := condition != condition.Readout().Condition(false); {
			case !less && !whole:
				h.by, h.ranges = append(h.by, nil), append(h.ranges, nil)
			case less:
				t.predictWindow(p, &h, w, condition.Readout(), past[:min(len(past), few*(p.K+t.Inputs))], candidates, priors, h.by[c-t.Readouts])
			default:
				t.predictWindow(p, &h, w, condition.Readout(), past, candidates, priors, nil)
			}
		}
		out = append(out, h)
	}
	return out
}

// predictWindow appends what the candidates predict of a window with a readout and a history to it. known is what they predict with the whole
// history; nil = it is not known. The first has the leverage.
func (t *Task) predictWindow(p *predictions, h *heldWindow, w *replay.Window, readout model.Readout, past []float64, candidates []Candidate, priors []*estimator.PriorDynamics, known [][]float64) {
	first := !slices.ContainsFunc(h.by, func(by [][]float64) bool { return by != nil })
	u := w.Signal(readout)
	var by [][]float64
	ranges := slices.Repeat([]float64{1}, p.T)
	for j, prior := range priors {
		if known != nil && !t.remembers(&candidates[j]) {
			by = append(by, known[j])
			continue
		}
		d := make([]float64, p.T*p.K)
		prior.Start(w.X0, u, readout, past)
		for i, at := range p.times {
			prior.At(d[i*p.K:(i+1)*p.K], nil, at)
			ranges[i] = math.Min(ranges[i], prior.RangeFactor(at))
		}
		limit(d, h.measured)
		if first {
			h.leverage = math.Max(h.leverage, prior.StartLeverage())
		}
		by = append(by, d)
	}
	addResiduals(candidates, by, h.leverage, ranges)
	h.by, h.ranges = append(h.by, by), append(h.ranges, ranges)
}

// remembers reports whether a candidate depends on what precedes a start: equations do by inputs that act late.
func (t *Task) remembers(c *Candidate) bool {
	return c.Whole.Kind == model.Direct || c.Whole.Kind == model.Equation && len(t.Actuators) > 0
}

// addResiduals makes of the displacements (T×K) of each map of residuals, at a leverage and range factors, those with what they add to.
func addResiduals(candidates []Candidate, by [][]float64, leverage float64, ranges []float64) {
	for j, d := range by {
		if !candidates[j].residuals() {
			continue
		}
		K := len(d) / len(ranges)
		for at, v := range by[named(candidates, candidates[j].Residuals)] {
			d[at] = v + faded(leverage)*ranges[at/K]*d[at]
		}
	}
}

// fewest returns the least rows of history that a candidate reads where there are not all: most
// starts with less history than all have that. 0 = it reads all or none.
func (t *Task) fewest(candidates []Candidate) int {
	few := t.History.Rows()
	for i := range candidates {
		for _, l := range candidates[i].Whole.Direct.Levels {
			if l.Rows > 0 {
				few = min(few, l.Rows)
			}
		}
	}
	if few == t.History.Rows() {
		return 0
	}
	return few
}

// bound is the displacement beyond which a prediction counts as this far, in multiples of
// the largest that was measured.
const bound = 1e3

// limit bounds displacements, of which those that diverged are not finite.
func limit(d, measured []float64) {
	most := 0.0
	for _, y := range measured {
		if !math.IsNaN(y) {
			most = math.Max(most, math.Abs(y))
		}
	}
	for i, v := range d {
		if !(math.Abs(v) <= bound*most) {
			d[i] = math.Copysign(bound*most, v)
		}
	}
}
