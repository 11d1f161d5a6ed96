package calibration

import (
	"fmt"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	detector "github.com/dgm-robotics/dgm/estimator/ood"
	"github.com/dgm-robotics/dgm/trainer/nets"
	"github.com/dgm-robotics/dgm/trainer/ood"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Fold is one part of the cross-validation.
type Fold struct {
	Data     nets.Data         // what posteriors are conditioned on, with prior dynamics fitted to it alone
	Held     []window.Flight   // what they are tested on
	Detector detector.Detector // of the states of Data
}

// NewFold describes the states of the data in the units of a lifting.
func NewFold(data nets.Data, held []window.Flight) Fold {
	d, _ := ood.Starts(&data.Frame.Inputs.Lift, data.Flights, data.Windows).Detector() // without one, distances are 0
	return Fold{Data: data, Held: held, Detector: d}
}

func (f Fold) String() string {
	return fmt.Sprintf("%v; %.6g s held out", f.Data, window.Duration(f.Held))
}

// Folds are the parts of the cross-validation, with the strata by which windows are
// weighed when models are compared.
type Folds struct {
	Folds  []Fold
	Strata *ood.Strata
}

// WithBasis returns folds whose frames have a linear basis of so many terms.
func (f Folds) WithBasis(terms int) Folds {
	f.Folds = slices.Clone(f.Folds)
	for i := range f.Folds {
		d := &f.Folds[i].Data
		d.Frame = d.Frame.WithBasis(terms)
	}
	return f
}

// heldErrors are the errors of a model on windows that its posterior was not conditioned
// on.
type heldErrors struct {
	times   []float64 // T, s
	windows []heldWindow
}

// heldWindow is one of the windows.
type heldWindow struct {
	distance float64     // of the start from the training states
	weight   float64     // see ood.Strata
	motion   []float64   // T, running RMS displacement over that of the frame
	factor   []float64   // T, of the intervals by distance and motion
	errors   []heldError // T×K
}

// heldError is the error of one prediction of one channel.
type heldError struct {
	residual float64 // measured − prior dynamics, state units
	network  float64 // mean − prior dynamics, what the nets add
	z        float64 // (measured − mean)/ObsStd, with the network weight
	std      float64 // ObsStd; 0 = not measured
}

// each calls f with the measured errors of channel k at time i.
func (e *heldErrors) each(K, i, k int, f func(w *heldWindow, e *heldError)) {
	for j := range e.windows {
		w := &e.windows[j]
		if at := &w.errors[i*K+k]; at.std > 0 {
			f(w, at)
		}
	}
}

// zCap bounds the squared error that one point counts with: a Gaussian's tail would let
// a single bad sample choose the model.
const zCap = 60

// logLikelihood returns that of an error of z standard deviations std, outliers capped.
func logLikelihood(z, std float64) float64 {
	return -0.5*math.Min(z*z, zCap) - math.Log(std) - 0.5*math.Log(2*math.Pi)
}

// scoredTimes are the horizons, as shares of H, that selection and calibration
// look at.
var scoredTimes = []float64{0.05, 0.1, 0.2, 0.4, 0.7, 1}

// errors conditions the net on every fold's data and returns its errors on what the fold
// holds out.
func (f Folds) errors(net *nets.Net, readout model.Readout, set nets.Conditioning) ([]*heldErrors, error) {
	var all []*heldErrors
	for i := range f.Folds {
		e, err := f.errorsOf(i, net, readout, set)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// errorsOf returns the errors of fold i.
func (f Folds) errorsOf(i int, net *nets.Net, readout model.Readout, set nets.Conditioning) (*heldErrors, error) {
	fold := &f.Folds[i]
	post, err := nets.Condition(net, fold.Data, readout, set, nil)
	if err != nil {
		return nil, err
	}
	m := fold.Data.Frame.Model()
	Apply(m, fold.Data.Frame, nil)
	m.Points, m.OOD = len(scoredTimes), fold.Detector
	m.Members = []model.Member{{Map: net.Params.Map, Posterior: []model.Posterior{post}}}
	m.Dynamics.Net = net.Params.Dynamics
	return replayed(m, fold.Held, readout, f.Strata)
}

// replayed predicts windows of the flights and compares.
func replayed(m *model.Model, flights []window.Flight, readout model.Readout, strata *ood.Strata) (*heldErrors, error) {
	e := &heldErrors{}
	for _, s := range scoredTimes {
		e.times = append(e.times, s*m.Horizon)
	}
	p, err := estimator.New(m, e.times)
	if err != nil {
		return nil, err
	}
	prior := estimator.PriorDynamicsOf(m)
	K, T := m.K, len(e.times)
	at, slope := make([]float64, K), make([]float64, K)
	dst, scored := p.NewPrediction(), false
	var q estimator.Query
	for w := range replay.Each(flights, window.Cut(flights, m.Horizon, m.Horizon/20), e.times) {
		w.Query(&q, m, readout, 10*m.Inputs.Knots)
		prior.Start(q.X0, signal(m, &q), readout, q.History)
		if !p.Predict(dst, &q) {
			return nil, fmt.Errorf("a candidate predicts numbers that are not finite, from segment %q at %.3f s", w.Flight.Name, w.Flight.T[w.Start])
		}
		held := heldWindow{
			distance: dst.Distance, weight: strata.Weight(q.X0), motion: slices.Repeat([]float64{1}, T), factor: slices.Repeat([]float64{1}, T),
			errors: make([]heldError, T*K),
		}
		copy(held.motion, dst.RMSRatio)
		for i, t := range e.times {
			prior.At(at, slope, t)
			for k := range K {
				j := i*K + k
				if y, std := w.Measured[j], dst.ObsStd[j]; !math.IsNaN(y) && std > 0 {
					held.errors[j] = heldError{residual: y - at[k], network: dst.Mean[j] - q.X0[k] - at[k], z: (q.X0[k] + y - dst.Mean[j]) / std, std: std}
					scored = true
				}
			}
		}
		e.windows = append(e.windows, held)
	}
	if !scored {
		return nil, fmt.Errorf("no window of the held-out data can be scored")
	}
	return e, nil
}

// signal returns the input of a query; nil without inputs.
func signal(m *model.Model, q *estimator.Query) channel.Signal {
	switch {
	case m.P == 0:
		return nil
	case q.Plan != nil:
		return &feature.Plan{Values: q.Plan, P: m.P, Step: m.Horizon / float64(len(q.Plan)/m.P)}
	}
	return &feature.Plan{Values: q.U, P: m.P, Step: m.Horizon}
}
