package evaluate

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Smoothness is how much derivatives of the means change from one sample of the flights to the
// next: the norm of the change over that of the derivatives, median over pairs of samples. A
// planner linearises at every step: where Jacobians change by much more than differences
// over a finite distance do, they are rough, and its steps are not reliable.
type Smoothness struct {
	State            float64 `json:"state"` // of ∂mean/∂x0
	StateDifferences float64 `json:"state_differences"`
	Input            float64 `json:"input"` // of ∂mean by the whole plan, for each input
	InputDifferences float64 `json:"input_differences"`
	Pairs            int     `json:"pairs"`
}

const (
	smoothSteps   = 10  // of the horizon at which means are differentiated
	smoothPairs   = 40  // of samples, at most
	smoothSamples = 0.2 // distance of a difference, in scales of a number
)

// MeasureSmoothness returns the smoothness of a model along flights; nil where its predictions
// do not start at the state, or the flights have no window with one after it.
func MeasureSmoothness(ctx context.Context, m *model.Model, flights []window.Flight, opt Options) (*Smoothness, error) {
	windows := window.Cut(flights, m.Horizon, 0)
	var first []int // of the pairs of windows
	for i := range max(len(windows)-1, 0) {
		if a, b := windows[i], windows[i+1]; a.Flight == b.Flight && b.Start == a.Start+1 {
			first = append(first, i)
		}
	}
	if !m.Displacement || len(first) == 0 {
		return nil, nil
	}
	opt.Horizons, opt.StartNoise = m.EqualTimes(smoothSteps), 0
	opt, err := opt.withDefaults(m.Horizon)
	if err != nil {
		return nil, err
	}
	d, err := newDifferentiator(m, flights, opt)
	if err != nil {
		return nil, err
	}
	pairs := min(smoothPairs, len(first))
	var changes [derivatives][]float64
	for i := range pairs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w := windows[first[i*len(first)/pairs]]
		before, ok := d.at(&flights[w.Flight], w.Start)
		after, also := d.at(&flights[w.Flight], w.Start+1)
		if !ok || !also {
			return nil, at(&flights[w.Flight], w.Start, errNotFinite)
		}
		for j := range changes {
			changes[j] = append(changes[j], change(before[j], after[j]))
		}
	}
	out := &Smoothness{Pairs: pairs}
	for j, to := range []*float64{&out.State, &out.StateDifferences, &out.Input, &out.InputDifferences} {
		slices.Sort(changes[j])
		*to = stat.Quantile(0.5, stat.Empirical, changes[j], nil)
	}
	return out, nil
}

// derivatives are those of Smoothness, in its order.
const derivatives = 4

// differentiator takes the derivatives of a model's means, in scales of its channels.
type differentiator struct {
	*comparer
	fast        *estimator.Fast
	jacobians   *estimator.Prediction
	plus, minus *estimator.Prediction
}

func newDifferentiator(m *model.Model, flights []window.Flight, opt Options) (*differentiator, error) {
	c, err := newComparer(m, flights, opt)
	if err != nil {
		return nil, err
	}
	d := &differentiator{comparer: c}
	if d.fast, err = estimator.NewFast(m, opt.Horizons); err != nil {
		return nil, err
	}
	d.jacobians = d.fast.NewPrediction().WithJacobian().WithInputJacobian(max(len(c.query.Plan), m.P))
	d.plus, d.minus = d.fast.NewPrediction(), d.fast.NewPrediction()
	return d, nil
}

// at returns the derivatives at a sample of f.
func (d *differentiator) at(f *window.Flight, sample int) (out [derivatives][]float64, ok bool) {
	d.start(f, sample)
	m, q := d.m, d.query
	if !d.fast.Predict(d.jacobians, &q) {
		return out, false
	}
	for j := range d.jacobians.Mean {
		unit := m.Scale[j%m.K]
		for c, scale := range m.Scale {
			out[0] = append(out[0], d.jacobians.Jacobian[j*m.K+c]*scale/unit)
		}
		n := len(d.jacobians.InputJacobian) / len(d.jacobians.Mean)
		for p := range m.P {
			sum := 0.0
			for r := p; r < n; r += m.P {
				sum += d.jacobians.InputJacobian[j*n+r]
			}
			out[2] = append(out[2], sum*m.Inputs.InputStd[p]/unit)
		}
	}
	input := q.Plan
	if len(input) == 0 {
		q.U = slices.Clone(q.U)
		input = q.U
	}
	q.X0 = slices.Clone(q.X0)
	ok = true
	for c, scale := range m.Scale {
		out[1] = d.difference(out[1], &q, q.X0[c:c+1], 1, smoothSamples*scale, &ok)
	}
	for p := range m.P {
		out[3] = d.difference(out[3], &q, input[p:], m.P, smoothSamples*m.Inputs.InputStd[p], &ok)
	}
	return out, ok
}

// difference appends the central difference of the means by every stride-th of the numbers v
// of a query together, over h.
func (d *differentiator) difference(dst []float64, q *estimator.Query, v []float64, stride int, h float64, ok *bool) []float64 {
	shift := func(by float64) {
		for i := 0; i < len(v); i += stride {
			v[i] += by
		}
	}
	shift(h)
	*ok = d.fast.Means(d.plus, q) && *ok
	shift(-2 * h)
	*ok = d.fast.Means(d.minus, q) && *ok
	shift(h)
	for j, mean := range d.plus.Mean {
		dst = append(dst, (mean-d.minus.Mean[j])/d.m.Scale[j%d.m.K])
	}
	return dst
}

// change returns the norm of the change from a to b over that of a.
func change(a, b []float64) float64 {
	difference, size := 0.0, 0.0
	for i, v := range a {
		difference += (b[i] - v) * (b[i] - v)
		size += v * v
	}
	if size == 0 {
		return 0
	}
	return math.Sqrt(difference / size)
}
