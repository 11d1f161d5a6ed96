// Package rows decides how data are scaled and turns windows of flights into the
// rows of a batch: the windows form of the model.
//
// Targets are displacements from the window's measured start. The nets learn what the
// prior dynamics leaves of them, and the rms of that over all windows, its mean not
// subtracted, is the unit:
//
//	y = (x(t) − x0)/Scale      prior = (roll-out of the prior dynamics, or v0 t)/Scale
//
// Standardised time has mean H/2 and standard deviation H/√12, so it is
// τ' = √12 (τ − ½).
package rows

import (
	"fmt"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/leastsquares"
	"github.com/dgm-robotics/dgm/trainer/objective"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Settings are the choices of the frame.
type Settings struct {
	Horizon    float64                     // H, s
	Knots      int                         // J, input knots
	Basis      int                         // terms of the linear basis, see feature.Basis
	NoiseKnots []float64                   // τ of the noise knots
	Prior      estimator.PriorDynamicsSpec // prior dynamics; its knots and horizon are set here

	// ConstantNoise gives every channel one noise over the horizon: all knots have the
	// same share in it at every time, so that knots that start alike stay alike.
	ConstantNoise bool
}

// Frame is what all rows of one model share.
type Frame struct {
	Channels        []channel.Channel // states, then inputs
	States          []channel.Channel
	K, P            int
	Inputs          feature.Inputs
	Basis           feature.Basis
	Scale           []float64 // K, rms of what the prior dynamics leaves of a displacement, state units
	RMSDisplacement []float64 // K×Q, rms displacement of the prior dynamics at the noise knots, state units
	HoldRMSE        []float64 // K×Q, rms measured displacement at the noise knots, state units
	NoiseKnots      []float64
	Constant        bool // one noise over the horizon
	Prior           estimator.PriorDynamicsSpec
	scratch
}

// scratch is the memory of the window that was started.
type scratch struct {
	prior  *estimator.PriorDynamics
	past   *replay.Window // of which the history is read
	mean   []float64      // P
	x0     []float64      // K
	lifted []float64      // L
	u      channel.Command
	d      []float64 // K

	known map[place]*drawn // displacements so far, see Frame.displacements
}

// place is a window under a readout.
type place struct {
	flight  *window.Flight
	start   int
	readout model.Readout
}

// NewFrame measures the scalers on the windows of the flights; channels are states, then
// inputs. It returns an error that names the channel if one never moves.
func NewFrame(channels []channel.Channel, flights []window.Flight, windows []window.Window, set Settings) (*Frame, error) {
	states := channel.Select(channels, channel.State)
	K, P := len(states), len(channels)-len(states)
	f := &Frame{Channels: channels, States: states, K: K, P: P, Basis: feature.Basis{Terms: set.Basis}, NoiseKnots: set.NoiseKnots, Constant: set.ConstantNoise}
	f.Inputs = feature.Inputs{
		Horizon: set.Horizon, TimeMean: set.Horizon / 2, TimeStd: set.Horizon / math.Sqrt(12),
		Lift: channel.NewLift(states), Causal: true,
	}
	if P > 0 {
		f.Inputs.Knots = set.Knots
	}
	var starts []float64
	for _, w := range windows {
		starts = append(starts, flights[w.Flight].State(w.Start)...)
	}
	f.Inputs.Lift.Standardise(starts, K)
	f.Inputs.InputMean, f.Inputs.InputStd = window.InputScale(flights, P)
	f.setPrior(set.Prior)
	if err := f.measureScale(flights, windows, set.Horizon); err != nil {
		return nil, err
	}
	return f, nil
}

// WithPrior returns a frame with the same scalers and units and another prior dynamics:
// nets that were trained in f stay valid in it.
func (f *Frame) WithPrior(spec estimator.PriorDynamicsSpec) *Frame {
	g := *f
	g.setPrior(spec)
	return &g
}

// WithBasis returns a frame with a linear basis of so many terms.
func (f *Frame) WithBasis(terms int) *Frame {
	g := f.WithPrior(f.Prior)
	g.Basis = feature.Basis{Terms: terms}
	return g
}

func (f *Frame) setPrior(spec estimator.PriorDynamicsSpec) {
	spec.Knots, spec.Horizon = f.NoiseKnots, f.Inputs.Horizon
	f.Prior = spec
	f.scratch = scratch{
		prior: estimator.NewPriorDynamics(f.States, f.P, spec), past: replay.New(f.K, nil), mean: make([]float64, f.P),
		lifted: make([]float64, f.Inputs.Lift.Dim()), d: make([]float64, f.K), known: map[place]*drawn{},
	}
}

// Model returns a model of the frame without members, calibration, baseline and points.
func (f *Frame) Model() *model.Model {
	m := &model.Model{
		Channels: f.Channels, K: f.K, P: f.P, Horizon: f.Inputs.Horizon,
		Displacement: true, Inputs: f.Inputs, Scale: f.Scale, NoiseKnots: f.NoiseKnots,
		Sensor: make([]float64, f.K), Stack: f.Prior.Stack, History: f.Prior.History, Actuators: f.Prior.Actuators,
	}
	return m
}

// read sets the window whose rows fill writes next: sample start of a flight, with the input over it as the readout has it.
func (f *Frame) read(fl *window.Flight, start int, readout model.Readout) {
	f.past.Read(fl, start)
	f.x0, f.u = f.past.X0, f.past.Signal(readout)
	f.Inputs.Lift.Apply(f.lifted, f.x0)
}

// start starts the prior dynamics in the window that is read.
func (f *Frame) start(readout model.Readout) {
	f.prior.Start(f.x0, f.u, readout, f.past.History(f.Prior.History))
}

// displacements sets those that the prior dynamics predict at the samples of a window, and, if asked for, their derivatives by time. Those without
// derivatives are kept: posteriors are conditioned on the same samples whatever their likelihood temperature.
func (f *Frame) displacements(to *drawn, fl *window.Flight, start int, readout model.Readout, derivatives bool) {
	at := place{fl, start, readout}
	if known := f.known[at]; !derivatives && known != nil && slices.Equal(known.samples, to.samples) {
		to.d = known.d
		return
	}
	f.read(fl, start, readout)
	f.start(readout)
	to.d = make([]float64, len(to.samples)*f.K)
	if derivatives {
		to.dd = make([]float64, len(to.d))
	}
	for i, s := range to.samples {
		d, t := to.d[i*f.K:(i+1)*f.K], f.timeOf(fl, start, s)
		if derivatives {
			f.prior.At(d, to.dd[i*f.K:(i+1)*f.K], t)
		} else {
			f.prior.At(d, nil, t)
		}
	}
	if !derivatives {
		f.known[at] = to
	}
}

// timeOf returns the time of a sample after the start of a window, at most the horizon.
func (f *Frame) timeOf(fl *window.Flight, start, sample int) float64 {
	return math.Min(fl.T[sample]-fl.T[start], f.Inputs.Horizon)
}

// mostWindows bounds those of which scalers and the noise are means.
const mostWindows = 1000

// SensorNoise returns the variance R (K, state units squared) of each state's sensor: as
// declared, else half of that of a displacement at its start, where both of its ends were
// measured. Noise that does not grow may come from sensors or disturbances: then only what is
// declared counts.
func (f *Frame) SensorNoise(flights []window.Flight, windows []window.Window, grows bool) []float64 {
	out := make([]float64, f.K)
	if grows {
		for k, v := range f.startNoise(flights, windows) {
			out[k] = v / 2
		}
	}
	for k := range out {
		if n := f.States[k].Noise; n > 0 {
			out[k] = n * n
		}
	}
	return out
}

// startNoise returns the variance (K, state units squared) that what the prior dynamics
// leave of a displacement has as its length goes to 0: that of the sensors at its two
// ends. It is the constant of a parabola in time through the squared residuals of
// the first samples of the windows. The prior dynamics do without history, which knows a
// part of the start's noise.
func (f *Frame) startNoise(flights []window.Flight, windows []window.Window) []float64 {
	const samples = 6
	squares := make([]*leastsquares.Gram, f.K)
	for k := range squares {
		squares[k] = leastsquares.New(2, 1, nil)
	}
	d := make([]float64, f.K)
	for _, w := range window.Thin(windows, mostWindows) {
		fl := &flights[w.Flight]
		f.past.Read(fl, w.Start)
		f.prior.Start(f.past.X0, f.past.Signal(model.Plan), model.Plan, nil)
		for s := w.Start + 1; s < min(w.Start+1+samples, fl.N()); s++ {
			t := fl.T[s] - fl.T[w.Start]
			f.prior.At(f.d, nil, t)
			fl.SampleDisplacement(d, w.Start, s)
			for k, y := range d {
				if r := y - f.d[k]; !math.IsNaN(r) {
					squares[k].Add([]float64{t, t * t, r * r})
				}
			}
		}
	}
	out := make([]float64, f.K)
	for k, g := range squares {
		if _, constant, ok := g.Solve(2, leastsquares.Apart); ok {
			out[k] = math.Max(0, constant[0])
		}
	}
	return out
}

// measureScale sets Scale, over the windows' samples, RMSDisplacement and HoldRMSE.
func (f *Frame) measureScale(flights []window.Flight, windows []window.Window, H float64) error {
	Q := len(f.NoiseKnots)
	f.Scale, f.RMSDisplacement, f.HoldRMSE = make([]float64, f.K), make([]float64, f.K*Q), make([]float64, f.K*Q)
	measured := make([]float64, f.K*Q)
	count, moved := make([]float64, f.K), make([]float64, f.K)
	d := make([]float64, f.K)
	windows = window.Thin(windows, mostWindows)
	for _, w := range windows {
		fl := &flights[w.Flight]
		f.read(fl, w.Start, model.Plan)
		f.start(model.Plan)
		f.addKnots(fl, w.Start, d, measured)
		from, to := fl.Samples(w.Start, H)
		step := max(1, (to-from)/10)
		for i := to - 1; i >= from; i -= step {
			fl.SampleDisplacement(d, w.Start, i)
			f.prior.At(f.d, nil, fl.T[i]-fl.T[w.Start])
			for k, v := range d {
				if !math.IsNaN(v) {
					f.Scale[k] += (v - f.d[k]) * (v - f.d[k])
					moved[k] += v * v
					count[k]++
				}
			}
		}
	}
	for i, sum := range f.RMSDisplacement {
		f.RMSDisplacement[i] = math.Sqrt(sum / float64(max(1, len(windows))))
		f.HoldRMSE[i] = math.Sqrt(f.HoldRMSE[i] / math.Max(measured[i], 1))
	}
	for k := range f.Scale {
		f.Scale[k] = math.Sqrt(f.Scale[k] / math.Max(count[k], 1))
		still := !(moved[k] > 0)
		// Prior dynamics that explain everything leave rounding, which is no unit.
		f.Scale[k] = math.Max(f.Scale[k], 1e-9*math.Sqrt(moved[k]/math.Max(count[k], 1)))
		if still {
			return fmt.Errorf("channel %q never moves within a horizon of %g s: leave it out (in a map: give it the role aux), or train on a log in which it moves", f.States[k].Name, H)
		}
	}
	return nil
}

// addKnots adds the squares of the displacements of the window that was started, predicted
// and measured, at the noise knots, and the number of those that are measured (K×Q). d (K)
// is scratch.
func (f *Frame) addKnots(fl *window.Flight, start int, d, measured []float64) {
	Q, H := len(f.NoiseKnots), f.Inputs.Horizon
	for q, tau := range f.NoiseKnots {
		f.prior.At(f.d, nil, tau*H)
		fl.Displacement(d, start, tau*H)
		for k, v := range d {
			f.RMSDisplacement[k*Q+q] += f.d[k] * f.d[k]
			if !math.IsNaN(v) {
				f.HoldRMSE[k*Q+q] += v * v
				measured[k*Q+q]++
			}
		}
	}
}

// fill writes row i of a batch: sample s of the flight, in the window from sample
// start that is read, with what the prior dynamics predict there (K) and the derivative by time (K or nil). Support point
// and observation are the same row.
func (f *Frame) fill(b *objective.Batch, i int, fl *window.Flight, start, s int, d, dd []float64) {
	in, I, K := &f.Inputs, f.Inputs.Dim(), f.K
	t := f.timeOf(fl, start, s)
	r := b.Obs
	in.Row(r.S[i*I:(i+1)*I], r.DS[i*I:(i+1)*I], t, f.lifted, f.u, f.mean)
	r.Fill(i, in, true, f.Basis, t)
	fl.SampleDisplacement(b.Y[i*K:(i+1)*K], start, s)
	for k := range K {
		b.Y[i*K+k] /= f.Scale[k]
		b.Origin[i*K+k] = f.x0[k]
		b.Base[i*K+k] = d[k] / f.Scale[k]
	}
	for k, slope := range dd {
		b.SDBase[i*K+k] = slope * in.TimeStd / f.Scale[k]
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
	model.KnotWeights(noise, f.NoiseKnots, t/in.Horizon)
}
