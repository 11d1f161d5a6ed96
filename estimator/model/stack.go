package model

import (
	"fmt"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/motion"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// Component is one prior dynamics of a stack: a displacement d_j(t) of all states from x0.
// The stack adds them up channel by channel,
//
//	base_k(t) = d_0k(t) + Σ_{j≥1} w_jk(τ) f_j (d_jk(t) − d_0k(t))
//
// with weights w linear in √τ between the noise knots. The first component counts where
// the others do not: it is the one that extrapolates best. The others fade by f with the
// leverage of the start: linear in its logarithm between Near and Far. In a stack without a
// direct map f is linear in the distance from the training states. A component of residuals is added as it is: w_jk(τ) f_j d_jk(t).
type Component struct {
	Kind      Kind
	Members   []priordynamics.Model // of Equation: at least one; their displacements are averaged
	Direct    direct.Model          // of Direct
	Residual  bool                  // of Direct: the map is of what an equation of the stack leaves; not of the first component
	Weights   [][]float64           // per condition: K×Q weights w at the noise knots, ≥ 0, the sum over components ≤ 1 (without one of residuals); the first component has none
	Near, Far float64               // leverage of the start (see direct.Map.StartLeverage; in a stack without direct map its distance, see ood.Detector) up to which f is 1 and from which it is 0; Far 0 = f is 1 everywhere, else f is also multiplied by the direct map's RangeFactor
}

// String returns what the component is, in one line.
func (c *Component) String() string {
	switch c.Kind {
	case Velocity:
		return "constant velocity"
	case Direct:
		rows := 0
		for _, l := range c.Direct.Levels {
			rows = max(rows, l.Rows)
		}
		what := "direct linear map"
		if c.Residual {
			what = "direct linear map of the residuals of the equation"
		}
		return fmt.Sprintf("%s, %d rows of history", what, rows)
	}
	e := &c.Members[0]
	if !e.Motion.Empty() {
		return "equation of motion, " + e.Motion.String()
	}
	if c.physical() {
		return "equation of motion, " + priordynamics.ChainKind
	}
	text := fmt.Sprintf("difference equation of degree %d, step %.3g ms", e.Degree, 1000*e.Step)
	if slices.Contains(e.Lift.Kind, channel.Friction) {
		text += ", with dry friction"
	}
	switch n := len(c.Members); {
	case len(e.Net.Layers) > 0 && n > 1:
		text += fmt.Sprintf(", with %d nets", n)
	case len(e.Net.Layers) > 0:
		text += ", with a net"
	}
	return text
}

// MotionOf returns the equation of motion in a stack; nil without one.
func MotionOf(stack []Component) *motion.Equation {
	for i := range stack {
		for j := range stack[i].Members {
			if e := &stack[i].Members[j].Motion; !e.Empty() {
				return e
			}
		}
	}
	return nil
}

// physical reports whether the component is an equation of motion, of a chain of links or another, without a net.
func (c *Component) physical() bool {
	return c.Kind == Equation && (!c.Members[0].Motion.Empty() || !c.Members[0].Chain.Empty() && len(c.Members[0].Net.Layers) == 0)
}

// Physical returns the place of the equation of motion in the stack, −1 without one, its kind and its parameters: those of a
// chain of links have no intervals in a model.
func (m *Model) Physical() (at int, kind string, parameters []motion.Parameter) {
	at = slices.IndexFunc(m.Stack, func(c Component) bool { return c.physical() })
	if at < 0 {
		return at, "", nil
	}
	e := &m.Stack[at].Members[0]
	if !e.Motion.Empty() {
		return at, e.Motion.Kind, e.Motion.Parameters
	}
	var inputs []string
	for _, c := range m.Channels[m.K:] {
		inputs = append(inputs, c.Name)
	}
	return at, priordynamics.ChainKind, e.Chain.Parameters(inputs)
}

// Kind is the kind of a component.
type Kind uint8

// The kinds. Their numbers are in model files and never change.
const (
	Equation Kind = 0 // difference equations, rolled out
	Velocity Kind = 1 // constant velocity: v0·t where a channel's derivative is measured, else 0
	Direct   Kind = 2 // direct linear map of the start, its history and the input
)

// Condition is what the numbers of a list per condition are fitted for: a readout, with
// the history that the model reads or without it. A list may be shorter than Conditions,
// see ForCondition.
type Condition uint8

// Conditions is the number of conditions.
const Conditions = 2 * Readouts

// Condition returns that of the readout; noHistory: the query has not the history that the
// model reads.
func (r Readout) Condition(noHistory bool) Condition {
	if noHistory {
		return Condition(r) + Readouts
	}
	return Condition(r)
}

// Readout returns that of the condition.
func (c Condition) Readout() Readout { return Readout(c) % Readouts }

// ForCondition returns the entry of a list per condition; without one that of the same
// readout with history; ok is false if that is missing, too.
func ForCondition[T any](list []T, c Condition) (entry T, ok bool) {
	if int(c) >= len(list) && c >= Readouts {
		c -= Readouts
	}
	if int(c) >= len(list) {
		return entry, false
	}
	return list[c], true
}

// EquationOf returns the first difference equation of a stack, whose vector field is what
// the dynamics net adds to; nil if there is none.
func EquationOf(stack []Component) *priordynamics.Model {
	for i := range stack {
		if stack[i].Kind == Equation && len(stack[i].Members) > 0 {
			return &stack[i].Members[0]
		}
	}
	return nil
}
