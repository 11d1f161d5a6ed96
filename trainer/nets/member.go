package nets

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/objective"
	"github.com/dgm-robotics/dgm/trainer/optimise"
	"github.com/dgm-robotics/dgm/trainer/rows"
	"gonum.org/v1/gonum/floats"
)

// Point is one point of the training curve.
type Point struct {
	Step               int
	Total, Data, Match float64 // a row
	Rate               float64
}

// Net is a trained member, before its posterior is conditioned.
type Net struct {
	Params    *objective.Params
	OmegaSeed uint64
	Settings  Settings
	Curve     []Point
	Stopped   bool // the context ended the training early
}

// most failures in a row that a training survives: at each the step is taken
// back and the rate halved.
const maxFailures = 12

// TrainMember trains one net. seed decides everything random. progress, unless nil, is
// called after every step. When ctx ends, it returns what is trained so far with Stopped
// set. The error is a numerical failure.
func TrainMember(ctx context.Context, d Data, set Settings, seed uint64, progress func(step int)) (*Net, error) {
	rng := rand.New(rand.NewPCG(seed, 0x64676d))
	net := &Net{OmegaSeed: seed, Settings: set}
	net.Params = newParams(d.Frame, set, rng)
	p := net.Params

	sampler := &rows.Sampler{Frame: d.Frame, Flights: d.Flights, Windows: d.Windows, Readout: model.Plan, Points: set.Points}
	n := set.Batch * set.Points
	b := objective.NewBatch(&p.Map, &d.Frame.Inputs, len(d.Frame.NoiseKnots), n, 0)
	spec := objective.Spec{Lift: d.Frame.Inputs.Lift, Scale: d.Frame.Scale, DecayS: set.DecayS, Exact: set.Exact}
	if in, equation := &d.Frame.Inputs, model.EquationOf(d.Frame.Prior.Stack); equation != nil {
		spec.PriorDynamics = &objective.PriorDynamics{Model: equation, InputMean: in.InputMean, InputStd: in.InputStd, TimeStd: in.TimeStd}
	}
	o := objective.New(spec, p, n, 0)
	grad := p.Like()
	match := optimise.Ramp{From: 0.2, To: 0.5, Power: 0.8, Steps: set.Steps}
	var parts objective.Parts
	loop := optimise.Loop{
		Steps: set.Steps, Rate: optimise.Cosine{From: set.Rate, To: set.Last, WarmUp: set.WarmUp, Steps: set.Steps}.At,
		MaxFailures: maxFailures, Groups: []optimise.Group{{Params: p.Flat, Grad: grad.Flat, Optimiser: optimise.NewAdam(len(p.Flat))}},
		Evaluate: func(step int) optimise.Outcome {
			sampler.Draw(b, set.Batch, rng)
			b.C = set.Temperature * math.Min(float64(d.Samples), float64(d.rows())) / float64(b.Obs.N)
			b.Match = set.Lambda * match.At(step) * b.C
			o.SetDecay(set.DecayS, set.DecayD*match.At(step))
			var ok bool
			parts, ok = o.Evaluate(grad, p, b)
			if set.ZeroMean {
				clearMean(&grad.Map)
			}
			if !ok || math.IsNaN(optimise.Clip(grad.Flat, set.ClipNorm)) {
				return optimise.Failed
			}
			return optimise.Descend
		},
		Moved: func(step int, r float64) {
			rows := b.C * float64(b.Obs.N)
			net.Curve = append(net.Curve, Point{
				Step: step, Total: parts.Total / rows, Data: parts.Data / rows, Rate: r,
				Match: (parts.WMean + parts.WStd) / float64(b.Obs.N),
			})
			if progress != nil {
				progress(step + 1)
			}
		},
	}
	var diverged *optimise.DivergedError
	if _, err := loop.Run(ctx); errors.As(err, &diverged) {
		return nil, fmt.Errorf("training %w: the data may hold values far outside their channel's range; run the data check", err)
	} else if err != nil {
		net.Stopped = true
	}
	return net, nil
}

// newParams draws the starting point.
func newParams(f *rows.Frame, set Settings, rng *rand.Rand) *objective.Params {
	acts := make([]mlp.Activation, len(set.Core))
	for i := range acts {
		acts[i] = set.Activation
	}
	F := set.F
	if set.Exact {
		F = 0
	}
	m := feature.NewMap(f.Inputs.Dim(), f.K, set.D, F, set.Core, acts, f.Basis, true)
	m.Core.Glorot(rng)
	m.Head.Glorot(rng)
	if set.ZeroMean {
		clearMean(&m)
	}
	m.DrawOmega(rng)
	widths := append([]int{f.Inputs.Lift.Dim() + f.P}, set.Dynamics...)
	widths = append(widths, 2*f.K)
	dacts := make([]mlp.Activation, len(widths)-1)
	for i := range dacts[:len(dacts)-1] {
		dacts[i] = set.Activation
	}
	dyn := mlp.New(widths, dacts)
	dyn.Glorot(rng)
	p := objective.Bind(m, dyn, len(f.NoiseKnots))
	Q := len(f.NoiseKnots)
	for i := range p.LogSigma {
		p.LogSigma[i] = set.NoiseStart[i%Q]
		if f.Constant {
			p.LogSigma[i] = floats.Sum(set.NoiseStart[:Q]) / float64(Q)
		}
	}
	return p
}

// clearMean sets the head's columns of the prior mean to zero.
func clearMean(m *feature.Map) {
	h := &m.Head.Layers[0]
	for r := range h.In {
		clear(h.W[r*h.Out : r*h.Out+m.K])
	}
	clear(h.B[:m.K])
}
