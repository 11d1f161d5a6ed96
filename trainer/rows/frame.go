// Package rows decides how data are scaled and turns windows of flights into the
// rows of a batch: the windows form of the model.
//
// Targets are displacements from the window's measured start. What the nets learn
// is what the base, the prior mean that no net makes, leaves of them, and the
// rms of that over all windows, its mean not subtracted, is the unit:
//
//	y = (x(t) − x0)/Scale      base = (roll-out of the prior, or v0 t)/Scale
//
// Standardised time has mean H/2 and standard deviation H/√12, so it is
// τ' = √12 (τ − ½).
package rows

import (
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/trainer/objective"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Settings are the choices of the frame.
type Settings struct {
	Horizon    float64                     // H, s
	Knots      int                         // J, input knots
	Basis      int                         // terms of the linear basis, see feature.Basis
	NoiseKnots []float64                   // τ of the noise knots
	Base       estimator.PriorDynamicsSpec // what the nets start from; its knots and horizon are set here

	// ConstantNoise gives every channel one noise over the horizon: all knots have the
	// same share in it at every time, so that knots that start alike stay alike.
	ConstantNoise bool
}

// Frame is what all rows of one model share.
type Frame struct {
	States     []channel.Channel
	K, P       int
	Inputs     feature.Inputs
	Basis      feature.Basis
	Scale      []float64 // K, rms of what the base leaves of a displacement, state units
	Moves      []float64 // K×Q, rms of the base's displacement at the noise knots, state units
	NoiseKnots []float64
	Constant   bool // one noise over the horizon
	Base       estimator.PriorDynamicsSpec
	base       *estimator.PriorDynamics
	scratch    []float64 // P
	x0, lifted []float64 // of the window that was started
	u          feature.Signal
	d, dd      []float64 // K
}

// NewFrame measures the scalers on the windows of the flights. It returns an
// error that names the channel if one never moves.
func NewFrame(channels []channel.Channel, flights []window.Flight, windows []window.Window, set Settings) (*Frame, error) {
	states, inputs := channel.Select(channels, channel.State), channel.Select(channels, channel.Input)
	f := &Frame{States: states, K: len(states), P: len(inputs), Basis: feature.Basis{Terms: set.Basis}, NoiseKnots: set.NoiseKnots, Constant: set.ConstantNoise}
	f.Inputs = feature.Inputs{
		Horizon: set.Horizon, TimeMean: set.Horizon / 2, TimeStd: set.Horizon / math.Sqrt(12),
		Lift: channel.NewLift(states), Causal: true,
	}
	if f.P > 0 {
		f.Inputs.Knots = set.Knots
	}
	var starts []float64
	for _, w := range windows {
		starts = append(starts, flights[w.Flight].State(w.Start)...)
	}
	f.Inputs.Lift.Standardise(starts, f.K)
	f.Inputs.InputMean, f.Inputs.InputStd = window.InputScale(flights, f.P)
	f.scratch, f.lifted = make([]float64, f.P), make([]float64, f.Inputs.Lift.Dim())
	f.d, f.dd = make([]float64, f.K), make([]float64, f.K)
	f.setBase(set.Base)
	if err := f.measureScale(flights, windows, set.Horizon); err != nil {
		return nil, err
	}
	return f, nil
}

// WithBase returns a frame with the same scalers and units and another base: nets
// that were trained in f stay valid in it.
func (f *Frame) WithBase(spec estimator.PriorDynamicsSpec) *Frame {
	g := *f
	g.setBase(spec)
	g.scratch, g.lifted = make([]float64, f.P), make([]float64, f.Inputs.Lift.Dim())
	g.d, g.dd = make([]float64, f.K), make([]float64, f.K)
	return &g
}

// WithBasis returns a frame with another linear basis.
func (f *Frame) WithBasis(terms int) *Frame {
	g := f.WithBase(f.Base)
	g.Basis = feature.Basis{Terms: terms}
	return g
}

func (f *Frame) setBase(spec estimator.PriorDynamicsSpec) {
	spec.Knots, spec.Horizon = f.NoiseKnots, f.Inputs.Horizon
	f.Base = spec
	f.base = estimator.NewPriorDynamics(f.States, spec)
}

// Start sets the window whose rows Fill writes next: its measured start state (K)
// and the input over it (nil without inputs).
func (f *Frame) Start(x0 []float64, u feature.Signal) {
	f.x0, f.u = x0, u
	f.Inputs.Lift.Apply(f.lifted, x0)
	f.base.Start(x0, u)
}

// measureScale sets Scale, over the windows' samples, and Moves.
func (f *Frame) measureScale(flights []window.Flight, windows []window.Window, H float64) error {
	Q := len(f.NoiseKnots)
	f.Scale, f.Moves = make([]float64, f.K), make([]float64, f.K*Q)
	count, moved := make([]float64, f.K), make([]float64, f.K)
	d := make([]float64, f.K)
	for _, w := range windows {
		fl := &flights[w.Flight]
		f.Start(fl.State(w.Start), f.recorded(fl, w.Start))
		for q, tau := range f.NoiseKnots {
			f.base.At(f.d, f.dd, tau*H)
			for k, d := range f.d {
				f.Moves[k*Q+q] += d * d
			}
		}
		from, to := fl.Samples(w.Start, H)
		step := max(1, (to-from)/10)
		for i := to - 1; i >= from; i -= step {
			fl.SampleDisplacement(d, w.Start, i)
			f.base.At(f.d, f.dd, fl.T[i]-fl.T[w.Start])
			for k, v := range d {
				if !math.IsNaN(v) {
					f.Scale[k] += (v - f.d[k]) * (v - f.d[k])
					moved[k] += v * v
					count[k]++
				}
			}
		}
	}
	for i, sum := range f.Moves {
		f.Moves[i] = math.Sqrt(sum / float64(max(1, len(windows))))
	}
	for k := range f.Scale {
		f.Scale[k] = math.Sqrt(f.Scale[k] / math.Max(count[k], 1))
		still := !(moved[k] > 0)
		// A base that explains everything leaves rounding, which is no unit.
		f.Scale[k] = math.Max(f.Scale[k], 1e-9*math.Sqrt(moved[k]/math.Max(count[k], 1)))
		if still {
			return fmt.Errorf("channel %q never moves within a horizon of %g s: give it the role aux, or train on a log in which it moves", f.States[k].Name, H)
		}
	}
	return nil
}

// Fill writes row i of a batch: sample s of the flight, in the window from sample
// start that Start has set. Support point and observation are the same row.
func (f *Frame) Fill(b *objective.Batch, i int, fl *window.Flight, start, s int) {
	in, I, K := &f.Inputs, f.Inputs.Dim(), f.K
	t := math.Min(fl.T[s]-fl.T[start], in.Horizon)
	r := b.Obs
	in.Row(r.S[i*I:(i+1)*I], r.DS[i*I:(i+1)*I], t, f.lifted, f.u, f.scratch)
	r.Fill(i, in, true, f.Basis, t)
	fl.SampleDisplacement(b.Y[i*K:(i+1)*K], start, s)
	f.base.At(f.d, f.dd, t)
	for k := range K {
		b.Y[i*K+k] /= f.Scale[k]
		b.Origin[i*K+k] = f.x0[k]
		b.Base[i*K+k] = f.d[k] / f.Scale[k]
		b.SDBase[i*K+k] = f.dd[k] * in.TimeStd / f.Scale[k]
	}
	if f.P > 0 {
		in.InputAt(b.U[i*f.P:(i+1)*f.P], t, f.u)
	}
	Q := len(f.NoiseKnots)
	noise := b.Noise[i*Q : (i+1)*Q]
	if f.Constant {
		for q := range noise {
			noise[q] = 1 / float64(Q)
		}
		return
	}
	estimator.KnotWeights(noise, f.NoiseKnots, t/in.Horizon)
}

// recorded returns the recorded input of a window, nil without inputs.
func (f *Frame) recorded(fl *window.Flight, start int) feature.Signal {
	if f.P == 0 {
		return nil
	}
	return &window.Input{Flight: fl, Start: start}
}
