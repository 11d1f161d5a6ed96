package trainer

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/adapt"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/baseline"
	"github.com/dgm-robotics/dgm/trainer/budget"
	"github.com/dgm-robotics/dgm/trainer/calibration"
	"github.com/dgm-robotics/dgm/trainer/estimation"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/excitation"
	"github.com/dgm-robotics/dgm/trainer/latency"
	"github.com/dgm-robotics/dgm/trainer/nets"
	"github.com/dgm-robotics/dgm/trainer/ood"
	"github.com/dgm-robotics/dgm/trainer/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/report"
	"github.com/dgm-robotics/dgm/trainer/summary"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Result is a trained model with the results of the stages of its training.
type Result = summary.Result

// assembly is what a model is made of, but for the data it is conditioned on.
type assembly struct {
	data       *Data
	cfg        Config
	task       window.Task
	late       *latency.Result
	ensemble   nets.Ensemble
	errors     *calibration.Errors // on what the folds hold out; nil without folds
	calibrated []calibration.Model // per condition; none without folds
	posterior  nets.Conditioning
	readouts   int
	linearStd  []float64 // K×Q, errors of the linear baseline on data that it has not seen
}

// model returns a model conditioned on data, without its provenance.
func (a *assembly) model(d nets.Data, b *budget.Adaptation) (*model.Model, error) {
	m := d.Frame.Model()
	m.Vehicle, m.Points, m.Filter = a.data.Vehicle, a.cfg.Points, a.data.Filter
	m.Latency = slices.Clone(a.late.Inputs)
	var err error
	m.Members, m.Refits, err = a.ensemble.Condition(d, nets.Posteriors{
		Conditioning: a.posterior, Readouts: a.readouts, Variances: a.cfg.Variances, Refits: a.cfg.Refits,
		Block: max(1, int(math.Round(2*a.task.Horizon/a.cfg.stride(a.task.Horizon)))),
	}, b)
	if err != nil {
		return nil, err
	}
	a.adaptation(m, d)
	m.Dynamics.Net = a.ensemble.Members[0].Params.Dynamics
	if a.cfg.Separate {
		m.Sensor = d.Frame.SensorNoise(d.Flights, d.Windows, a.cfg.Noise == "growing")
	}
	if m.Filter != nil {
		estimation.SetSensors(m.Sensor, m.Filter)
	}
	linear, err := baseline.Linear(d.Flights, a.task)
	if err != nil {
		return nil, err
	}
	m.Baseline, m.LinearStd = *linear, a.linearStd
	if m.Ridge, err = baseline.Ridge(context.Background(), d.Flights, a.task, evaluate.GridOf(a.task.Horizon, d.Flights)); err != nil {
		return nil, err
	}
	m.OOD = ood.Describe(&d.Frame.Inputs.Lift, d.Flights, d.Windows, a.task.Horizon, a.task.Inputs, a.cfg.Knots)
	if len(a.calibrated) == 0 { // else folds show it
		m.OOD.Distance = ood.Starts(&d.Frame.Inputs.Lift, d.Flights, d.Windows).Threshold(a.task.Horizon)
	}
	calibration.Apply(m, d.Frame, a.calibrated)
	if len(a.calibrated) == 0 || !a.calibrated[0].Whole {
		calibration.LimitLeverage(m, d)
	}
	return m, nil
}

// adaptation sets what adaptation in flight needs, unless the data do not determine a
// difference equation: then the model cannot adapt.
func (a *assembly) adaptation(m *model.Model, d nets.Data) {
	if !m.Displacement {
		return
	}
	flights := window.Acting(d.Flights, m.Actuators)
	e := model.EquationOf(m.Stack)
	if e == nil {
		var err error
		if e, err = priordynamics.Plain(flights, a.task, a.data.Body); err != nil || e.Check(m.K, m.P) != nil {
			return
		}
		m.Adaptation.Equation = *e
	}
	m.Adaptation.Rate = priordynamics.Rates(e, m.K, flights, d.Windows)
}

// calibrateByFolds calibrates all models made from now on by the errors on what folds hold
// out, where there are folds.
func (a *assembly) calibrateByFolds(res *Result, folded calibration.Folds, conditions []model.Condition, b *budget.Adaptation) (err error) {
	if len(folded.Folds) == 0 {
		return nil
	}
	a.errors, err = calibration.Predict(folded, a.ensemble.Members[0], a.posterior, conditions, func(c model.Condition) {
		b.Work("calibration, inputs "+c.Readout().String(), b.Calibrate)
	})
	if err != nil {
		return err
	}
	a.calibrate(res)
	return nil
}

// calibrate calibrates all models made from now on by the errors.
func (a *assembly) calibrate(res *Result) {
	a.calibrated = a.errors.Fit(a.cfg.Folds.switches())
	res.FlightEffect = a.calibrated[0].FlightEffect
	res.CalibrationFlights = a.errors.WholeFlights()
}

// recalibrate calibrates with the errors on the held-out data, too: those of the model that
// has not seen them.
func (a *assembly) recalibrate(res *Result) error {
	if a.errors == nil {
		return nil
	}
	added, err := a.errors.Add(res.Judged, res.Split.Held, res.Split.Whole)
	if added {
		a.calibrate(res)
	}
	return err
}

// evaluate scores the model that has not seen the held-out data on them, and calibrates the
// exported one with its errors.
func (a *assembly) evaluate(ctx context.Context, res *Result, data nets.Data, stride float64, b *budget.Adaptation) (err error) {
	began := b.Elapsed()
	if res.Judged, err = a.model(data, b); err != nil {
		return err
	}
	b.SetPosterior(b.Elapsed()-began, len(a.ensemble.Members))
	if res.Judged, err = replay.SelfChecked(res.Judged, data.Flights, data.Windows); err != nil {
		return err
	}
	b.Work("held-out table", b.Table)
	scored := func(of []window.Flight) float64 {
		return math.Max(stride, window.Duration(of)/float64(a.cfg.Folds.Windows))
	}
	opt := evaluate.Options{Stride: scored(res.Split.Held), Kinematics: a.data.Kinematics, Seed: a.cfg.Seed}
	background, held := context.WithoutCancel(ctx), window.Compared(res.Split.Held)
	if res.Table, err = evaluate.Run(background, res.Judged, held, opt); err != nil {
		return err
	}
	adapted := opt
	begin := beginnings(held, a.task.Horizon)
	adapted.Stride = scored(begin)
	res.Table.Adapted, err = evaluate.Adapt(background, res.Judged, begin, adapted)
	if err != nil && !errors.Is(err, adapt.ErrNone) && !errors.Is(err, evaluate.ErrUnsettled) {
		return err
	}
	if a.task.Inputs > 0 {
		opt.Readout = model.Hold
		if res.HoldTable, err = evaluate.Run(background, res.Judged, held, opt); err != nil {
			return err
		}
	}
	for _, table := range res.Tables() {
		table.Angles = a.data.undeclaredAngles()
		table.WholeFlights, table.CalibrationFlights = &res.Split.Whole, &res.CalibrationFlights
		table.ModelID, table.EvaluatedID = "", res.Judged.ID // the exported model's is known when it is sealed
	}
	return a.recalibrate(res)
}

// Horizons that adaptation, which learns from every sample, is evaluated in: at most in all, and at least in each flight.
const mostAdapted, leastAdapted = 240, 40

// beginnings returns the first part of each of the first flights that last a horizon, in all about mostAdapted horizons; all flights where these
// cannot be scored.
func beginnings(flights []window.Flight, horizon float64) (out []window.Flight) {
	each, left := math.Max(mostAdapted/float64(len(flights)), leastAdapted)*horizon, mostAdapted*horizon
	for i := range flights {
		f := &flights[i]
		if f.Duration() < horizon {
			continue
		}
		if left < each*(1-1e-9) {
			break
		}
		n, _ := slices.BinarySearch(f.T, f.T[0]+each)
		out, left = append(out, f.Slice(0, n)), left-math.Min(each, f.Duration())
	}
	if len(window.Cut(out, horizon, horizon)) == 0 {
		return flights
	}
	return out
}

// export sets the model that is conditioned on all flights, with its provenance.
func (a *assembly) export(res *Result, d nets.Data, b *budget.Adaptation) error {
	m, err := a.model(d, b)
	if err != nil {
		return err
	}
	res.Windows = len(d.Windows)
	res.Verdict = report.Judge(res.Table, res.HoldTable, a.facts(res.Partial, d.Flights))
	m.Provenance = model.Provenance{
		Tool: "dgm-train", DataHash: a.data.Hash, Config: a.cfg.TOML(), Seed: a.cfg.Seed, Partial: res.Partial, Verdict: res.Verdict.Line(),
		Segments: a.data.Segments[:min(len(a.data.Segments), mostSegments)],
	}
	if res.Table != nil {
		table := *res.Table
		table.Networks, table.Adapted = nil, nil // the report has them
		scores, err := json.Marshal(table)
		if err != nil {
			return err
		}
		m.Provenance.Scores = string(scores)
	}
	if res.Model, err = replay.SelfChecked(m, d.Flights, d.Windows); err != nil {
		return err
	}
	for _, table := range res.Tables() {
		table.ModelID = res.Model.ID
	}
	return nil
}

// facts returns what is known of the training on flights beside its scores.
func (a *assembly) facts(partial string, flights []window.Flight) report.Facts {
	return report.Facts{
		Partial: partial, Quick: a.cfg.Quick(), NoInputs: a.task.Inputs == 0, Found: a.data.found(),
		Feedback: excitation.Feedback(flights, a.data.Channels[:len(a.task.States)], a.data.Channels[len(a.task.States):]), Repeated: excitation.Repeated(flights, a.task),
	}
}

// mostSegments bounds the fingerprints in a model file.
const mostSegments = 4096
