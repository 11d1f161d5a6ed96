package report

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
)

// SelectionOf returns what cross-validation selected and calibrated for a model: rules
// for all channels, and the weight of each part of the prediction by channel and horizon.
func SelectionOf(m *model.Model) Selection {
	out := Selection{Rules: []Item{
		{Name: "kinematic relations", Value: kinematics(m)},
		{Name: "prior dynamics", Value: components(m)},
		{Name: "members", Value: members(m)},
		{Name: "intervals", Value: intervals(m)},
		{Name: "whole trajectories", Value: tubes(m)},
		{Name: "out of distribution", Value: thresholds(m)},
	}}
	at := func(tables [][]float64, r model.Readout, k int, t, none float64) float64 {
		if int(r) >= len(tables) || len(tables[r]) == 0 {
			return none
		}
		return evaluate.Interpolate(m, tables[r], k, t)
	}
	scale := func(r model.Readout, k int, t float64) float64 {
		if int(r) >= len(m.Calibration) {
			return 1
		}
		c := &m.Calibration[r]
		knots := c.ScaleKnots(m)
		w := make([]float64, len(knots))
		model.KnotWeights(w, knots, t/m.Horizon)
		return math.Exp(floats.Dot(w, c.LogScale[k*len(w):(k+1)*len(w)]))
	}
	for _, t := range evaluate.Grid(m.Horizon) {
		h := SelectionHorizon{T: t}
		for k, c := range m.Channels[:m.K] {
			d := SelectionChannel{
				Name: c.Name, Unit: c.Unit, SensorStd: math.Sqrt(m.Sensor[k]),
				StackWeights: stackWeights(m, k, t), NetworkWeight: at(m.NetworkWeight, model.Plan, k, t, 1),
				ScaleFactor: scale(model.Plan, k, t),
			}
			if len(m.Calibration) > int(model.Hold) && m.P > 0 {
				d.ScaleFactorHold = scale(model.Hold, k, t)
			}
			h.Channels = append(h.Channels, d)
		}
		out.Horizons = append(out.Horizons, h)
	}
	return out
}

func kinematics(m *model.Model) string {
	equation := model.EquationOf(m.Stack)
	if equation == nil || equation.Body.Empty() {
		return "none declared: the prior dynamics learn the steps of all states"
	}
	b := &equation.Body
	var relations []string
	if len(b.Position) > 0 {
		relations = append(relations, "position from velocity")
	}
	if len(b.Attitude) > 0 {
		relations = append(relations, "attitude from body rates")
	}
	return strings.Join(relations, ", ") + ": the prior dynamics learn the remainder"
}

// stackWeights returns the weight of each component of the stack for channel k at time t. A map of residuals has that of the equation
// of motion together with it, the equation that of it alone.
func stackWeights(m *model.Model, k int, t float64) []float64 {
	out := make([]float64, len(m.Stack))
	if len(out) == 0 {
		return out
	}
	out[0] = 1
	equation, _, _ := m.Physical()
	equation = max(0, equation)
	for i := 1; i < len(out); i++ {
		w, ok := model.ForCondition(m.Stack[i].Weights, model.Plan.Condition(false))
		if !ok {
			continue
		}
		own, from := evaluate.Interpolate(m, w, k, t), 0
		if m.Stack[i].Residual {
			from = equation
		}
		out[i] += own
		out[from] -= own
	}
	return out
}

// StackOf returns the weights of a model's stack at some times, s, the inputs as planned: for each channel all components.
func StackOf(m *model.Model, times []float64) []StackWeight {
	out := []StackWeight{}
	for k, c := range m.Channels[:m.K] {
		from := len(out)
		for i := range m.Stack {
			out = append(out, StackWeight{Channel: c.Name, Component: m.Stack[i].String()})
		}
		for _, t := range times {
			for i, w := range stackWeights(m, k, t) {
				out[from+i].Weight = append(out[from+i].Weight, w)
			}
		}
	}
	return out
}

// components lists the stack in its order.
func components(m *model.Model) string {
	if len(m.Stack) == 0 {
		return "none: the start state is held"
	}
	var list []string
	for i := range m.Stack {
		list = append(list, m.Stack[i].String())
	}
	if len(list) > 1 {
		return strings.Join(list, "; ") + "; weights in the table, in this order"
	}
	return list[0]
}

func members(m *model.Model) string {
	fits, refits := fmt.Sprintf("%d fits, their means averaged and their spread added to the variance", len(m.Members)), fmt.Sprintf("%d refits", len(m.Refits))
	if len(m.Members) == 1 {
		fits = "1 fit"
	}
	if len(m.Refits) == 1 {
		refits = "1 refit"
	}
	return fits + "; " + refits + " to resampled data"
}

// intervals lists what the standard deviations depend on, with the mean over channels of
// the coefficients, inputs as planned.
func intervals(m *model.Model) string {
	if len(m.Calibration) == 0 {
		return "not calibrated"
	}
	c := &m.Calibration[0]
	var terms []string
	for j, b := range c.Coefficient {
		if len(b) == 0 {
			continue
		}
		term := fmt.Sprintf("%.2g for the %s", floats.Sum(b)/float64(len(b)), model.Covariate(j))
		if _, further := c.Bounds(model.Covariate(j)); further > 0 {
			term += fmt.Sprintf(" (%.2g beyond what folds show)", further)
		}
		terms = append(terms, term)
	}
	text := "scaled by channel and horizon; the folds support no other dependence"
	if len(terms) > 0 {
		text = "scaled by channel and horizon, with coefficients of " + strings.Join(terms, ", ")
	}
	if c.Half50 < heavyTails*model.Gaussian50 {
		text += ". The errors have heavy tails"
	}
	return fmt.Sprintf("%s; the central 50 %% are within %.2f standard deviations (a Gaussian's: %.2f), 95 %% within 1.96", text, c.Half50, model.Gaussian50)
}

// tubes lists the factors with which whole trajectories stay inside, inputs as planned.
func tubes(m *model.Model) string {
	if len(m.Joint) == 0 || len(m.Joint[0].Tube) == 0 {
		return "not known"
	}
	j := &m.Joint[0]
	var parts []string
	for i, level := range model.TubeLevels {
		part := fmt.Sprintf("%.2g for %g %%", j.Tube[i], 100*level)
		if !model.TubeExact(level, j.Flights) {
			part += " (approximate)"
		}
		parts = append(parts, part)
	}
	of := fmt.Sprintf("%d held-out flights", j.Flights)
	if j.Flights == 0 {
		of = "blocks of the flights trained on"
	}
	return fmt.Sprintf("all states at all times are within the mean ± a factor times the standard deviation: %s, by the largest errors of trajectories of %s", strings.Join(parts, ", "), of)
}

// heavyTails is the share of a Gaussian's 50 % interval below which the report states that
// errors have heavy tails.
const heavyTails = 0.9

func thresholds(m *model.Model) string {
	r := &m.OOD
	var parts []string
	if r.Distance > 0 {
		parts = append(parts, fmt.Sprintf("farther than %.3g from the nearest of %d training states, whitened", r.Distance, len(r.Points)))
	}
	if r.Leverage > 0 {
		parts = append(parts, fmt.Sprintf("leverage of state, history and plan above %.3g", r.Leverage))
	}
	if len(r.Low) > 0 {
		parts = append(parts, fmt.Sprintf("an input %.2g of its range beyond it", 0.75*math.Max(r.Input, 1)-0.5))
	}
	if r.Variance > 0 {
		parts = append(parts, fmt.Sprintf("posterior over prior variance above %.3g", r.Variance))
	}
	if len(parts) == 0 {
		return "never flagged: the model has no thresholds"
	}
	return strings.Join(parts, "; ")
}
