package nets

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/matching"
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

// mostDrawn is how many windows a training draws from: those of a flight overlap.
const mostDrawn = 1500

// TrainMember trains one net. seed decides everything random. progress, unless nil, is
// called after every step. When ctx ends, it returns what is trained so far with Stopped
// set. The error is a numerical failure.
func TrainMember(ctx context.Context, d Data, set Settings, seed uint64, progress func(step int)) (*Net, error) {
	rng := rand.New(rand.NewPCG(seed, 0x64676d))
	net := &Net{OmegaSeed: seed, Settings: set}
	net.Params = newParams(d.Frame, set, rng)
	p := net.Params

	sampler := &rows.Sampler{Frame: d.Frame, Flights: d.Flights, Windows: d.Windows, Readout: model.Plan, Points: set.Points, Pool: mostDrawn}
	n := set.Batch * set.Points
	b := objective.NewBatch(&p.Map, &d.Frame.Inputs, len(d.Frame.NoiseKnots), n, 0)
	spec := objective.Spec{Lift: d.Frame.Inputs.Lift, Scale: d.Frame.Scale, Exact: set.Exact}
	if in, equation := &d.Frame.Inputs, model.EquationOf(d.Frame.Prior.Stack); equation != nil {
		spec.PriorDynamics = &objective.PriorDynamics{Model: equation, InputMean: in.InputMean, InputStd: in.InputStd, TimeStd: in.TimeStd}
	}
	fit := matching.NewFit(spec, p, b, n, 0)
	if set.ZeroMean {
		fit.Fixed = func(grad *objective.Params) { matching.ClearMean(&grad.Map) }
	}
	training := matching.Training{
		Schedule: set.Schedule, Fits: []*matching.Fit{fit},
		Draw: func() {
			sampler.Draw(b, set.Batch, rng)
			b.C = set.Temperature * math.Min(float64(d.Samples), float64(d.rows())) / float64(b.Obs.N)
		},
		Moved: func(step int, rate, _ float64) {
			rows, parts := b.C*float64(b.Obs.N), &fit.Parts
			net.Curve = append(net.Curve, Point{
				Step: step, Total: parts.Total / rows, Data: parts.Data / rows, Rate: rate,
				Match: (parts.WMean + parts.WStd) / float64(b.Obs.N),
			})
			if progress != nil {
				progress(step + 1)
			}
		},
	}
	var diverged *optimise.DivergedError
	if err := training.Run(ctx); errors.As(err, &diverged) {
		return nil, fmt.Errorf("training %w: the data may hold values far outside their channel's range; run the data check", err)
	} else if err != nil {
		net.Stopped = true
	}
	return net, nil
}

func newParams(f *rows.Frame, set Settings, rng *rand.Rand) *objective.Params {
	Q := len(f.NoiseKnots)
	shape := matching.Shape{
		Inputs: f.Inputs.Dim(), States: f.K, Core: set.Core, Act: set.Activation, CoreEnd: set.Activation, D: set.D, F: set.F, Exact: set.Exact,
		Basis: f.Basis, Gated: true, ZeroMean: set.ZeroMean,
		DynamicsInputs: f.Inputs.Lift.Dim() + f.P, Dynamics: set.Dynamics, DynAct: set.Activation, NoiseKnots: Q,
	}
	p := shape.Draw(rng)
	for i := range p.LogSigma {
		p.LogSigma[i] = set.NoiseStart[i%Q]
		if f.Constant {
			p.LogSigma[i] = floats.Sum(set.NoiseStart[:Q]) / float64(Q)
		}
	}
	return p
}
