package estimator

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/actuator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/ood"
)

// PriorDynamicsSpec describes the stack of components: the part of the prior mean that is not a Gaussian
// process.
type PriorDynamicsSpec struct {
	Stack     []model.Component
	History   history.Spec        // what the stack reads before the start
	Actuators []actuator.Response // (optional) P, how the inputs of equations follow their commands
	Knots     []float64           // Q, τ of the knots of the weights, ascending
	Horizon   float64             // H, s

	Lift *channel.Lift // (optional) of the states whose distance OOD measures
	OOD  *ood.Detector // (optional) with Lift: without a direct map components fade with the distance of the start; nil = none fades
}

// PriorDynamics evaluates a stack of components, as a displacement from the start state x0
// in state units: see model.Component. Trainer and predictor share it.
type PriorDynamics struct {
	spec       PriorDynamicsSpec
	row        int // numbers of a row of history
	components []component
	actuators  *Actuators // of all equations; nil = inputs act at once
	condition  model.Condition
	tables     [][model.Conditions][]float64 // of each component: K×Q weights; nil = it has none anywhere
	weights    [][]float64                   // of each component in the condition
	fade       fade

	x0, dx           []float64 // K: start state, direction of JVP
	du, mean         []float64 // P: direction of InputJVP at the start, and its mean
	direction        channel.Command
	ranges           direct.RangeFactor // at the time of the last setKnots
	first, dfirst    []float64          // K, of component 0
	other, dother    []float64          // K, of another
	knots, dknots    []float64          // Q, weights of the knots and their derivatives by τ
	spread, variance []float64          // K
	disagreement     []float64          // K, state units squared

	apart, apartSquares []float64 // K, sums over components of their distance from the first, and its square
	firstWeight         []float64 // K, of component 0
	none                []float64 // K zeros
}

// NewPriorDynamics allocates the prior dynamics of a spec for K state channels and so many
// inputs.
func NewPriorDynamics(states []channel.Channel, inputs int, spec PriorDynamicsSpec) *PriorDynamics {
	K, Q := len(states), len(spec.Knots)
	b := &PriorDynamics{spec: spec, du: make([]float64, inputs), mean: make([]float64, inputs), row: K + inputs, weights: make([][]float64, len(spec.Stack)), knots: make([]float64, Q), dknots: make([]float64, Q)}
	for _, v := range []*[]float64{&b.x0, &b.dx, &b.first, &b.dfirst, &b.other, &b.dother, &b.spread, &b.variance, &b.disagreement, &b.firstWeight, &b.apart, &b.apartSquares, &b.none} {
		*v = make([]float64, K)
	}
	b.actuators = NewActuators(spec.Actuators, spec.History, K, spec.Horizon)
	for i := range spec.Stack {
		c := &spec.Stack[i]
		b.components = append(b.components, newComponent(c, states, spec.Horizon))
		if e, ok := b.components[i].(*equation); ok {
			e.actuators = b.actuators
		}
		b.tables = append(b.tables, tables(c))
	}
	b.fade = newFade(&b.spec, b.components, K, inputs)
	return b
}

// tables returns the weights of a component in every condition; nil where all are 0.
func tables(c *model.Component) (out [model.Conditions][]float64) {
	for condition := range out {
		w, _ := model.ForCondition(c.Weights, model.Condition(condition))
		if slices.ContainsFunc(w, func(v float64) bool { return v != 0 }) {
			out[condition] = w
		}
	}
	return out
}

// PriorDynamicsOf returns the prior dynamics of a model.
func PriorDynamicsOf(m *model.Model) *PriorDynamics {
	return NewPriorDynamics(m.Channels[:m.K], m.P, PriorDynamicsSpec{
		Stack: m.Stack, History: m.History, Actuators: m.Actuators, Knots: m.NoiseKnots, Horizon: m.Horizon, Lift: &m.Inputs.Lift, OOD: &m.OOD,
	})
}

// Start sets the start state x0 (K), the input over the horizon (nil without inputs), which
// must stay valid until the next Start, its readout, and the history (rows of K+P as in
// Query.History).
func (b *PriorDynamics) Start(x0 []float64, u channel.Command, r model.Readout, history []float64) {
	copy(b.x0, x0)
	b.condition = r.Condition(len(history) < b.spec.History.Rows()*b.row)
	b.actuators.Start(u, history)
	for i, c := range b.components {
		b.weights[i] = b.tables[i][b.condition]
		if i == 0 || b.weights[i] != nil || b.spec.Stack[i].Kind == model.Direct { // which has the leverage
			c.start(x0, u, r, history)
		}
	}
	b.fade.leverage = b.fade.whole()
	b.fade.start(x0)
}

// Leverage returns the leverage of the last Start by the first direct map of the stack; 0 without one.
func (b *PriorDynamics) Leverage() float64 { return b.fade.leverage }

// StartLeverage is Leverage with the input at the start held; it determines how far components fade.
func (b *PriorDynamics) StartLeverage() float64 {
	if b.fade.direct == nil {
		return 0
	}
	return b.fade.direct.StartLeverage()
}

// RangeFactor returns the range factor of the first direct map at t seconds after the last Start; components
// that fade are multiplied by it. It is 1 without a direct map.
func (b *PriorDynamics) RangeFactor(t float64) float64 {
	if b.fade.direct == nil {
		return 1
	}
	return b.fade.direct.RangeFactor(t, false).Value
}

// Condition returns the condition of the last Start.
func (b *PriorDynamics) Condition() model.Condition { return b.condition }

// At writes the displacement from x0 of the last Start at t seconds after it to dst
// (K, state units) and, unless nil, its derivative by time to ddst (K, state units per
// second).
func (b *PriorDynamics) At(dst, ddst []float64, t float64) {
	clear(b.spread)
	clear(b.disagreement)
	clear(b.apart)
	clear(b.apartSquares)
	n := 1.0
	if len(b.components) == 0 {
		clear(dst)
		clear(ddst)
		return
	}
	b.components[0].at(b.first, derivative(b.dfirst, ddst), t)
	copy(dst, b.first)
	copy(ddst, b.dfirst)
	b.setKnots(t, ddst != nil)
	for k := range b.firstWeight {
		b.firstWeight[k] = 1
	}
	for i := 1; i < len(b.components); i++ {
		if b.weights[i] == nil {
			continue
		}
		b.components[i].at(b.other, derivative(b.dother, ddst), t)
		first, dfirst := b.less(i)
		for k := range dst {
			w, dw := b.weight(i, k)
			d := b.other[k] - first[k]
			dst[k] += w * d
			if ddst != nil {
				ddst[k] += w*(b.dother[k]-dfirst[k]) + dw*d
			}
		}
		b.components[i].memberVariance(b.variance)
		if b.spec.Stack[i].Residual { // it is no prediction by itself, of which others can be apart
			for k := range dst {
				w, _ := b.weight(i, k)
				b.disagree(i, k, w)
			}
			continue
		}
		n++
		for k := range dst {
			w, _ := b.weight(i, k)
			d := b.other[k] - b.first[k]
			b.firstWeight[k] -= w
			b.apart[k] += d
			b.apartSquares[k] += d * d
			b.spread[k] += w * w * b.variance[k]
			b.disagree(i, k, w)
		}
	}
	b.components[0].memberVariance(b.variance)
	for k, w := range b.firstWeight {
		b.disagree(0, k, w)
		b.spread[k] = math.Sqrt(b.spread[k] + w*w*b.variance[k] + apart(dst[k]-b.first[k], b.apart[k]/n, b.apartSquares[k]/n))
	}
}

// disagree adds what component i, with a weight, contributes to the disagreement of channel k.
func (b *PriorDynamics) disagree(i, k int, weight float64) {
	if b.spec.Stack[i].Kind == model.Direct {
		b.disagreement[k] += weight * weight * b.variance[k]
	}
}

// less returns what the displacement of component i, and its derivative by time, are taken less of (K each): that of component 0, but for a map
// of residuals.
func (b *PriorDynamics) less(i int) (first, dfirst []float64) {
	if b.spec.Stack[i].Residual {
		return b.none, b.none
	}
	return b.first, b.dfirst
}

// apart returns the mean square over components of their distance from their weighted sum;
// sum, mean and squares are that sum, the mean and the mean square of the components, all
// less the first component.
func apart(sum, mean, squares float64) float64 {
	return math.Max(0, squares-2*sum*mean+sum*sum)
}

// Spread returns the spread of components and members at the time of the last At (K, state units): the root of
// the mean square distance of the components from their weighted sum, plus the variance between members of a
// component. Components without a weight in the condition are not included. It is valid until the next At.
func (b *PriorDynamics) Spread() []float64 { return b.spread }

// Disagreement returns the weighted sum of direct.Map.Disagreement at the time of the last At (K, state units squared). It is valid until
// the next At.
func (b *PriorDynamics) Disagreement() []float64 { return b.disagreement }

// setKnots prepares weight for time t, with rate its derivative too.
func (b *PriorDynamics) setKnots(t float64, rate bool) {
	b.ranges = direct.RangeFactor{Value: 1}
	if b.fade.ranged() {
		b.ranges = b.fade.direct.RangeFactor(t, rate)
	}
	model.KnotWeights(b.knots, b.spec.Knots, t/b.spec.Horizon)
	knotDerivatives(b.dknots, b.spec.Knots, t/b.spec.Horizon)
}

// weight returns that of component i for channel k, faded, and its derivative by time.
func (b *PriorDynamics) weight(i, k int) (w, dw float64) {
	Q := len(b.knots)
	at := b.weights[i][k*Q : (k+1)*Q]
	f, rate := b.fade.factor[i], 0.0
	if fades(&b.spec.Stack[i]) {
		f, rate = f*b.ranges.Value, f*b.ranges.Rate
	}
	w = dot(b.knots, at)
	return f * w, f*dot(b.dknots, at)/b.spec.Horizon + rate*w
}

// JVP computes the tangent of the last Start along component c of its start state x0:
// the Jacobian of the displacement times the unit vector of c. JVPAt evaluates it.
func (b *PriorDynamics) JVP(c int) {
	clear(b.dx)
	b.dx[c] = 1
	for i, c := range b.components {
		if i == 0 || b.weights[i] != nil {
			c.jvp(b.dx)
		}
	}
}

// JVPAt writes ∂displacement(t)/∂x0[c], for the c of the last JVP and t seconds after
// the start, to dst (K, state units per unit of x0[c]).
func (b *PriorDynamics) JVPAt(dst []float64, t float64) {
	b.stackTangent(dst, t, component.jvpAt, func(i int) float64 { return b.ranges.Value * dot(b.fade.gradient[i], b.dx) })
}

// exactJVPAt is JVPAt, exact at all times: see priordynamics.Rollout.ExactJVPAt.
func (b *PriorDynamics) exactJVPAt(dst []float64, t float64) {
	b.stackTangent(dst, t, exactJVPAt, func(i int) float64 { return b.ranges.Value * dot(b.fade.gradient[i], b.dx) })
}

// InputJVP computes the tangent of the last Start along a direction of the input.
// InputJVPAt evaluates it.
func (b *PriorDynamics) InputJVP(du channel.Command) {
	du.At(b.du, 0)
	b.direction = du
	b.actuators.Direction(du)
	for i, c := range b.components {
		if i == 0 || b.weights[i] != nil {
			c.inputJVP(du)
		}
	}
}

// InputJVPAt writes the derivative of the displacement at t along the direction of the last
// InputJVP to dst (K).
func (b *PriorDynamics) InputJVPAt(dst []float64, t float64) {
	b.stackTangent(dst, t, component.inputJVPAt, func(i int) float64 {
		slope := b.ranges.Value * dot(b.fade.byInput[i], b.du)
		if fades(&b.spec.Stack[i]) {
			slope += b.fade.factor[i] * b.ranges.Along(b.direction, b.mean)
		}
		return slope
	})
}

// stackTangent writes the weighted sum of the components' tangents at t to dst (K), and what
// their fades contribute, of which fade is the tangent.
func (b *PriorDynamics) stackTangent(dst []float64, t float64, at func(c component, dst []float64, t float64), fade func(i int) float64) {
	if len(b.components) == 0 {
		clear(dst)
		return
	}
	at(b.components[0], b.dfirst, t)
	copy(dst, b.dfirst)
	b.setKnots(t, false)
	for i := 1; i < len(b.components); i++ {
		if b.weights[i] == nil {
			continue
		}
		at(b.components[i], b.dother, t)
		first, dfirst := b.less(i)
		for k := range dst {
			w, _ := b.weight(i, k)
			dst[k] += w * (b.dother[k] - dfirst[k])
		}
		slope := fade(i)
		if slope == 0 {
			continue
		}
		b.components[0].at(b.first, nil, t)
		b.components[i].at(b.other, nil, t)
		Q := len(b.knots)
		for k := range dst {
			dst[k] += slope * dot(b.knots, b.weights[i][k*Q:(k+1)*Q]) * (b.other[k] - first[k])
		}
	}
}
