package estimator

import (
	"github.com/tphakala/simd/f32"

	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// inputWork is the memory for the derivatives of the means by the numbers of a plan, of which
// Width are evaluated at once: at every point a row of K numbers for each.
type inputWork struct {
	knots             []float32 // [K][block][J·P, padded][Width of points]: ∂mean/∂knots, sum over members
	one               []float32 // [J·P, padded][Width]
	sum, first, other []float32 // [K, padded][Width]
	plan              *feature.Plan
}

func newInputWork(p *Predictor, c *compiled, n int) inputWork {
	K, knots := p.m.K, simd.Padded(c.knots)
	size := simd.Padded(K) * simd.Width
	return inputWork{
		knots: make([]float32, K*knots*n), one: make([]float32, knots*simd.Width),
		sum: make([]float32, size), first: make([]float32, size), other: make([]float32, size),
		plan: &p.plan,
	}
}

// addKnotGradient adds to knots the gradient of the mean of channel k by the knots in one
// block of points, from the adjoint of the first layer.
func (f *Fast) addKnotGradient(e *fastMember, post *fastReadout, k, block int, adjoint []float32) {
	w, c := &f.w.input, f.c
	parts := append(f.w.parts[:0], simd.Part{L: e.backKnots.W, X: adjoint, K: e.backKnots.In})
	if e.terms > 0 {
		parts = append(parts, simd.Part{L: post.jacobians[k].knots, X: f.g.powers[block*c.powers*simd.Width:], K: e.terms})
	}
	c.unit.Product(w.one, simd.Panels(c.knots), parts)
	to := w.knots[(k*len(f.g.blocks)+block)*len(w.one):][:len(w.one)]
	f32.Add(to, to, w.one)
}

// inputJacobian writes ∂mean/∂plan to dst.
func (f *Fast) inputJacobian(dst *Prediction) {
	w, g, K, P := &f.w.input, f.g, f.plain.m.K, f.plain.m.P
	numbers := len(f.plain.plan.Values)
	f.w.prior.linearise()
	for first := 0; first < numbers; first += simd.Width {
		f.w.prior.inputRun(w, first, numbers)
		n := min(simd.Width, numbers-first)
		for lane, i := range g.order[:len(g.points)] {
			if first >= P && f.isLater(first/P, g.points[lane]) {
				for k := range K {
					clear(dst.InputJacobian[(i*K+k)*numbers+first:][:n])
				}
				continue
			}
			f.w.prior.inputAt(w, lane, first, P, numbers)
			f.addKnots(dst.condition(), lane, first, numbers)
			for k := range K {
				to := dst.InputJacobian[(i*K+k)*numbers+first:][:n]
				for c, v := range w.sum[k*simd.Width : k*simd.Width+n] {
					to[c] = float64(v)
				}
			}
		}
	}
	clear(w.knots)
}

// isLater reports whether a row of the plan is held after t only, and no mean at t reads it.
func (f *Fast) isLater(row int, t float64) bool {
	return f.plain.m.Inputs.Causal && float64(row)*f.plain.plan.Step >= t
}

// addKnots adds to sum what the posterior's mean contributes, at one point.
func (f *Fast) addKnots(condition model.Condition, lane, first, numbers int) {
	w, g, in := &f.w.input, f.g, &f.plain.m.Inputs
	K, P, n, t := f.plain.m.K, f.plain.m.P, len(g.times), g.times[lane]
	weights := g.parts[condition].networkWeight[lane:]
	block, size := lane/simd.Width, len(w.one)
	for knot := range in.Knots {
		from, to, length := in.Block(knot, t)
		if to <= from {
			return
		}
		for row := max(first/P, min(int(from/f.plain.plan.Step), numbers/P-1)); row*P < min(first+simd.Width, numbers) && float64(row)*f.plain.plan.Step < to; row++ {
			share := w.plan.Share(row, from, to) * (to - from) / length * f.c.perMember
			if share == 0 {
				continue
			}
			for p := range P {
				column := row*P + p - first
				if column < 0 || column >= simd.Width {
					continue
				}
				gradient, factor := w.knots[block*size+(knot*P+p)*simd.Width+lane%simd.Width:], share/in.InputStd[p]
				for k := range K {
					w.sum[k*simd.Width+column] += simd.Single(factor * weights[k*n] * float64(gradient[k*len(g.blocks)*size]))
				}
			}
		}
	}
}

// linearise prepares inputRun, after evaluate.
func (f *batchedPrior) linearise() {
	for i, c := range f.components {
		if i == 0 || f.weight(i) != nil {
			c.linearise()
		}
	}
}

// inputRun takes the derivatives by Width numbers of the plan from first on.
func (f *batchedPrior) inputRun(w *inputWork, first, numbers int) {
	for i, c := range f.components {
		if i == 0 || f.weight(i) != nil {
			c.inputRun(w, first, numbers)
		}
	}
}

// inputAt sets sum to the derivatives of the displacement at a point by the numbers of the
// last inputRun.
func (f *batchedPrior) inputAt(w *inputWork, lane, first, P, numbers int) {
	clear(w.sum)
	if len(f.components) == 0 {
		return
	}
	K := len(f.prior.x0)
	f.components[0].inputAt(w.sum, lane)
	copy(w.first, w.sum)
	for i := 1; i < len(f.components); i++ {
		weight := f.weight(i)
		if weight == nil {
			continue
		}
		ranges := direct.RangeFactor{Value: 1}
		if f.outside && f.buffers[i] != nil {
			ranges = f.ranges[lane]
		}
		if f.prior.spec.Stack[i].Residual {
			clear(w.other)
		} else {
			f32.Scale(w.other, w.first, -1)
		}
		f.components[i].inputAt(w.other, lane)
		for k, v := range weight[lane*K : (lane+1)*K] {
			row := w.sum[k*simd.Width : (k+1)*simd.Width]
			f32.AddScaled(row, simd.Single(f.faded[i][lane*K+k]), w.other[k*simd.Width:(k+1)*simd.Width])
			for p := first; p < min(P, first+simd.Width); p++ { // the first row, which the factor depends on
				row[p-first] += simd.Single(ranges.Value * f.prior.fade.byInput[i][p] * v * f.difference[i][lane*K+k])
			}
		}
		if ranges.Partly() {
			f.rangeAt(w, i, lane, first, P, numbers)
		}
	}
}

// rangeAt adds to sum what component i contributes through its range factor at a point.
func (f *batchedPrior) rangeAt(w *inputWork, i, lane, first, P, numbers int) {
	r, weight, K := &f.ranges[lane], f.weight(i), len(f.prior.x0)
	for row := first / P; row*P < min(first+simd.Width, numbers); row++ {
		slope := 0.0
		for _, by := range r.By {
			switch {
			case by.From < by.To:
				slope += by.Value * w.plan.Share(row, by.From, by.To)
			case row == 0:
				slope += by.Value
			}
		}
		column := row*P + r.Input - first
		if slope == 0 || column < 0 || column >= simd.Width {
			continue
		}
		slope *= f.prior.fade.factor[i]
		for k, v := range weight[lane*K : (lane+1)*K] {
			w.sum[k*simd.Width+column] += simd.Single(slope * v * f.difference[i][lane*K+k])
		}
	}
}

func (b *batchedEquation) linearise() {
	for _, r := range b.members {
		r.Linearise()
	}
}

func (b *batchedEquation) inputRun(w *inputWork, first, numbers int) {
	if b.due == nil {
		b.due = func(row, _ int, from, to float64) float64 { return w.plan.Share(row, from, to) }
		if b.actuators != nil {
			b.due = func(row, p int, from, to float64) float64 { return b.actuators.Share(w.plan, row, p, from, to) }
		}
	}
	for _, r := range b.members {
		r.InputRun(b.due, first, numbers)
	}
}

func (b *batchedEquation) inputAt(dst []float32, lane int) {
	for _, r := range b.members {
		r.InputAt(dst, lane, simd.Single(b.share))
	}
}

func (b *batchedVelocity) linearise() {}

func (b *batchedVelocity) inputRun(*inputWork, int, int) {}

func (b *batchedVelocity) inputAt([]float32, int) {}
