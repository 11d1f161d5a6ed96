package calibration

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	detector "github.com/dgm-robotics/dgm/estimator/ood"
	"github.com/dgm-robotics/dgm/trainer/estimation"
	"github.com/dgm-robotics/dgm/trainer/nets"
	"github.com/dgm-robotics/dgm/trainer/ood"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Fold is one part of the cross-validation.
type Fold struct {
	Data     nets.Data         // what posteriors are conditioned on, with prior dynamics fitted to it alone
	Held     []window.Flight   // what they are tested on
	Detector detector.Detector // of the states and inputs of Data
}

// NewFold describes the states and inputs of the data.
func NewFold(data nets.Data, held []window.Flight) Fold {
	f := data.Frame
	return Fold{Data: data, Held: held, Detector: ood.Describe(&f.Inputs.Lift, data.Flights, data.Windows, f.Inputs.Horizon, f.P, f.Inputs.Knots)}
}

// Folds are the parts of the cross-validation, with the strata by which windows are
// weighed when models are compared.
type Folds struct {
	Folds   []Fold
	Whole   bool // they hold out whole flights
	Strata  *ood.Strata
	Filter  *model.Filter // what estimates the states; nil = they are as measured
	Windows int           // that are predicted and fitted to, of all folds, at most
	Times   []float64     // at which errors are compared, s: see ScoredTimes
	Steps   []float64     // at which whole trajectories are, s: see TrajectorySteps
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
	apart   float64      // how many windows start within one horizon
	model   *model.Model // not calibrated; nil = they are not predictions of one
	flights []window.Flight
}

// heldWindow is one of the windows.
type heldWindow struct {
	flight int         // its segment
	far    [3]float64  // distance of the start, leverage and input score
	weight float64     // see ood.Strata
	errors []heldError // T×K
}

// heldError is the error of one prediction of one channel.
type heldError struct {
	residual float64                   // measured − prior dynamics, state units
	network  float64                   // mean − prior dynamics, what the nets add
	z        float64                   // (measured − mean)/Std, with the network weight
	std      float64                   // Std, not calibrated, times what covariates add beyond their bounds; 0 = not measured
	plain    float64                   // Std, not calibrated
	x        [model.Covariates]float64 // up to their bounds
	all      [model.Covariates]float64
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

// ScoredTimes returns the times ahead that selection and calibration look at, s: those of samples next to shares of the horizon H.
func ScoredTimes(H float64, flights []window.Flight) (out []float64) {
	for _, tau := range []float64{0.05, 0.1, 0.15, 0.2, 0.3, 0.45, 0.7, 1} {
		out = append(out, tau*H)
	}
	return window.AtSamples(out, H, flights)
}

// posteriors conditions the net on every fold's data.
func (f Folds) posteriors(net *nets.Net, readout model.Readout, set nets.Conditioning) ([]model.Posterior, error) {
	var all []model.Posterior
	for i := range f.Folds {
		post, err := nets.Condition(net, f.Folds[i].Data, readout, set, nil)
		if err != nil {
			return nil, err
		}
		all = append(all, post)
	}
	return all, nil
}

// errors returns the errors of the net with each fold's posterior on what the fold holds out.
func (f Folds) errors(net *nets.Net, posteriors []model.Posterior, condition model.Condition) ([]*heldErrors, error) {
	var all []*heldErrors
	for i, post := range posteriors {
		fold := &f.Folds[i]
		m := fold.Data.Frame.Model()
		Apply(m, fold.Data.Frame, nil)
		m.Points, m.OOD = len(f.Times), fold.Detector
		m.Members = []model.Member{{Map: net.Params.Map, Posterior: []model.Posterior{post}}}
		m.Dynamics.Net = net.Params.Dynamics
		f.aim(m)
		e, err := f.replayed(m, fold.Held, condition)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// aim sets what the standard deviations of a model are of: the state where the filter estimates it, else a measurement.
func (f *Folds) aim(m *model.Model) {
	m.Filter, m.Sensor = f.Filter, make([]float64, m.K)
	if f.Filter != nil {
		estimation.SetSensors(m.Sensor, f.Filter)
	}
}

// errUnscored is the error of data too short for a window.
var errUnscored = errors.New("no window of the held-out data can be scored")

// replayed predicts windows of the flights that have the history of the condition, and
// compares: its share of the most of all folds, as far apart.
func (f *Folds) replayed(m *model.Model, flights []window.Flight, condition model.Condition) (*heldErrors, error) {
	windows := window.Cut(flights, m.Horizon, m.Horizon/windowsPerHorizon)
	cut := len(windows)
	windows = window.Thin(windows, max(1, f.Windows/max(1, len(f.Folds))))
	e := &heldErrors{model: m, flights: flights, times: f.Times, apart: windowsPerHorizon * float64(len(windows)) / math.Max(1, float64(cut))}
	p, err := estimator.NewFast(m, e.times)
	if err != nil {
		return nil, err
	}
	K, T := m.K, len(e.times)
	dst, scored, readout := p.NewPrediction(), false, condition.Readout()
	dst.Covariates, dst.Prior = make([]float64, T*K*int(model.Covariates)), make([]float64, T*K)
	var q estimator.Query
	rows := window.PlanRows(flights, m.Horizon)
	for w := range replay.Each(flights, windows, e.times) {
		w.Query(&q, m, readout, rows)
		if condition == readout.Condition(true) {
			q.History = nil
		}
		if !p.Predict(dst, &q) {
			return nil, fmt.Errorf("a candidate predicts numbers that are not finite, from segment %q at %.3f s", w.Flight.Name, w.Flight.T[w.Start])
		}
		if dst.NoHistory && condition == readout.Condition(false) {
			continue
		}
		held := heldWindow{
			flight: w.Flight.Segment, far: [3]float64{dst.Distance, dst.Leverage, dst.InputScore}, weight: f.Strata.Weight(q.X0), errors: make([]heldError, T*K),
		}
		for j, std := range dst.Std {
			y, x0 := w.Measured[j], q.X0[j%K]
			if math.IsNaN(y) || !(std > 0) {
				continue
			}
			held.errors[j] = heldError{residual: y - dst.Prior[j], network: dst.Mean[j] - x0 - dst.Prior[j], z: (x0 + y - dst.Mean[j]) / std, std: std, plain: std}
			copy(held.errors[j].all[:], dst.Covariates[j*int(model.Covariates):])
			scored = true
		}
		e.windows = append(e.windows, held)
	}
	if !scored {
		return nil, errUnscored
	}
	return e, nil
}
