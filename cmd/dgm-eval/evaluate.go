package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/logs"
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/dgm-robotics/dgm/trainer"
	"github.com/dgm-robotics/dgm/trainer/datacheck"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/report"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// evaluation is the scores of a model on logs, and their verdict.
type evaluation struct {
	report.Verdict
	*evaluate.Table
	WithoutPlan *evaluate.Table `json:"without_plan,omitempty"` // the same with the last input held; nil without inputs, and where the table is that

	Filter filterScore          `json:"filter"`
	Stack  []report.StackWeight `json:"stack"` // at the scored horizons

	flights []window.Flight
	found   []datacheck.Problem // by the data check
	options evaluate.Options
	adapt   bool
}

// evaluateOn scores a model on the windows of all logs together.
func evaluateOn(ctx context.Context, o *options, m *model.Model, modelPath string, paths []string, messages io.Writer) (*evaluation, error) {
	e := &evaluation{options: o.Options, adapt: o.adapt}
	samples, excluded, number := 0.0, 0.0, 0
	var trained []string
	for i, path := range paths {
		log, err := load(m, m.Measured(), path, modelPath, messages)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			e.options.Kinematics = log.Kinematics
		}
		trained = append(trained, trainedOn(m, log)...)
		eraseImplausible(m, log, messages)
		flights, share, found := cut(m, log, o, messages)
		e.found = append(e.found, found...)
		if len(flights) == 0 {
			return nil, fmt.Errorf("%s: no two consecutive samples; nothing can be scored", path)
		}
		if err := e.add(m, modelPath, log, flights, o, number, messages); err != nil {
			return nil, err
		}
		for _, seg := range log.Segments {
			n := float64(len(seg.T))
			samples, excluded = samples+n, excluded+n*share
		}
		number += len(log.Segments)
	}
	name := strings.Join(paths, ", ")
	if o.truth != "" && o.truth != sameLog {
		name += " against " + o.truth
	}
	e.Filter.end()
	tables, err := e.score(ctx, m)
	if err != nil {
		return nil, fmt.Errorf("%s on %s: %w", modelPath, strings.Join(paths, ", "), err)
	}
	for _, t := range tables {
		t.Model, t.Log, t.Excluded, t.Trained, t.Segments = modelPath, name, excluded/max(samples, 1), trained, number
	}
	if len(trained) > 0 {
		fmt.Fprintf(messages, "warning: %s was trained on %s of these logs (%s): evaluate it on a flight that it was not trained on\n",
			modelPath, cli.Count(len(trained), "segment"), trained[0])
	}
	times := make([]float64, len(e.Horizons))
	for i := range times {
		times[i] = e.Horizons[i].T
	}
	e.Stack = report.StackOf(m, times)
	e.Verdict = report.Judge(e.Table, e.WithoutPlan, factsOf(m, e.found))
	return e, nil
}

// factsOf returns what a model file shows of its training.
func factsOf(m *model.Model, found []datacheck.Problem) report.Facts {
	facts := report.Facts{Partial: m.Provenance.Partial, NoInputs: m.P == 0, Found: found}
	if cfg, err := trainer.Default().Parse(strings.NewReader(m.Provenance.Config), "the model's settings"); err == nil { // older ones had other settings
		facts.Quick = cfg.Quick()
	}
	return facts
}

// add adds the flights of a log, as the robot estimates their states, with the truth where that is asked for. So many segments
// were added before.
func (e *evaluation) add(m *model.Model, modelPath string, log *flightlog.Log, flights []window.Flight, o *options, before int, messages io.Writer) error {
	flights, err := e.Filter.apply(m, modelPath, flights)
	if err != nil {
		return err
	}
	if o.truth != "" && o.truth != sameLog {
		if err := e.addTruth(m, modelPath, log, flights, o, messages); err != nil {
			return err
		}
		if err := e.Filter.compare(m, flights); err != nil {
			return fmt.Errorf("%s: %w", modelPath, err)
		}
	}
	for j := range flights {
		flights[j].Segment += before // each its own
	}
	e.flights = append(e.flights, flights...)
	return nil
}

// score sets the tables of the flights and returns them: that of the options, and with a plan
// the one without.
func (e *evaluation) score(ctx context.Context, m *model.Model) (tables []*evaluate.Table, err error) {
	if e.Table, err = evaluate.Run(ctx, m, e.flights, e.options); err != nil {
		return nil, err
	}
	if e.Derivatives, err = evaluate.MeasureSmoothness(ctx, m, e.flights, e.options); err != nil {
		return nil, err
	}
	tables = append(tables, e.Table)
	if e.options.Readout == estimator.Plan && m.P > 0 {
		hold := e.options
		hold.Readout = estimator.Hold
		if e.WithoutPlan, err = evaluate.Run(ctx, m, e.flights, hold); err != nil {
			return nil, err
		}
		tables = append(tables, e.WithoutPlan)
	}
	if e.adapt {
		if e.Adapted, err = evaluate.Adapt(ctx, m, e.flights, e.options); err != nil {
			return nil, err
		}
	}
	scores := heldOut(m)
	for _, t := range tables {
		t.CalibrationFlights, t.Angles = scores.CalibrationFlights, scores.Angles
	}
	return tables, nil
}

// trainedOn returns the names of the segments of a log that the model was trained on.
func trainedOn(m *model.Model, log *flightlog.Log) (names []string) {
	for i := range log.Segments {
		if seg := &log.Segments[i]; slices.Contains(m.Provenance.Segments, window.Fingerprint(seg)) {
			names = append(names, fmt.Sprintf("%s, segment %d %q", filepath.Base(log.Path), i+1, seg.Name))
		}
	}
	return names
}

// heldOut returns the table of the model's held-out data; empty where the file does not hold
// it.
func heldOut(m *model.Model) (scores evaluate.Table) {
	if json.Unmarshal([]byte(m.Provenance.Scores), &scores) != nil {
		return evaluate.Table{}
	}
	return scores
}

// load reads the channels of a log that are wanted for a model. A log without one of them is an error.
func load(m *model.Model, want []channel.Channel, path, modelPath string, messages io.Writer) (*flightlog.Log, error) {
	log, err := logs.Read(path)
	if err != nil {
		return nil, err
	}
	for _, d := range log.Damages {
		fmt.Fprintf(messages, "warning: %v; the intact records are used\n", d)
	}
	others, err := keepChannels(want, log)
	if err != nil {
		return nil, fmt.Errorf("%s: does not have the channels of %s: %w; evaluate on a log with the channels that the model was trained on", path, modelPath, err)
	}
	if len(others) > 0 {
		fmt.Fprintf(messages, "note: %s: %s are not in %s and are left out\n", path, quoted(others), modelPath)
	}
	if log.Vehicle != m.Vehicle {
		fmt.Fprintf(messages, "note: the vehicle of the log is %q, that of the model %q\n", log.Vehicle, m.Vehicle)
	}
	return log, nil
}

// mostListed bounds the findings of the data check that are listed.
const mostListed = 20

// cut makes flights of a log without the values that the data check excludes, as training
// does, and lists the findings; with --raw, and of an exact log, it excludes samples of
// wrong stamps only. excluded is the share of values that are not scored; problems are the
// findings, none of exact values.
func cut(m *model.Model, log *flightlog.Log, o *options, messages io.Writer) (flights []window.Flight, excluded float64, problems []datacheck.Problem) {
	found := datacheck.Check(log, datacheck.Options{Horizon: m.Horizon})
	masks := found.Masks
	if o.truth != sameLog { // exact values are too smooth for a sensor
		problems = found.Problems
	}
	if o.raw || o.truth == sameLog {
		masks = found.Timing()
	} else {
		list(found.Problems, log.Path, messages)
	}
	flights, excluded = window.AllChecked(log, masks, log.Channels, window.Options{MaxGap: o.maxGap})
	return flights, excluded, problems
}

// list prints the problems for which values are excluded.
func list(problems []datacheck.Problem, path string, messages io.Writer) {
	listed := 0
	for _, p := range problems {
		if p.Severity != datacheck.Exclude {
			continue
		}
		if listed++; listed <= mostListed {
			fmt.Fprintf(messages, "data check: %s: segment %d (%q), %.3f-%.3f s: %s\n", p.Kind, p.Index+1, p.Segment, p.From, p.To, p.Text)
		}
	}
	if listed > mostListed {
		fmt.Fprintf(messages, "data check: and %d more; dgm-train --check --log %s lists all\n", listed-mostListed, path)
	}
}

// addTruth adds to the flights of a log the exact states to compare with.
func (e *evaluation) addTruth(m *model.Model, modelPath string, log *flightlog.Log, flights []window.Flight, o *options, messages io.Writer) error {
	exact, err := load(m, m.Channels, o.truth, modelPath, messages)
	if err != nil {
		return err
	}
	eraseImplausible(m, exact, messages)
	if m.Filter != nil && e.options.Channels == nil && !measures(exact, m) {
		e.options.Channels = channel.Names(channel.Select(m.Measured(), channel.State))
	}
	if a, b := len(log.Segments), len(exact.Segments); a != b {
		return fmt.Errorf("%s has %s, %s has %d: both logs must be recorded together", log.Path, cli.Count(a, "segment"), o.truth, b)
	}
	if err := window.AddExact(flights, exact); err != nil {
		return fmt.Errorf("%s against %s: %w", log.Path, o.truth, err)
	}
	return nil
}

// eraseImplausible replaces by NaN the values of a log that the estimator refuses on the
// robot as too large to predict from. For each channel it prints their number and the
// place of the first one.
func eraseImplausible(m *model.Model, log *flightlog.Log, messages io.Writer) {
	states := channel.Select(log.Channels, channel.State)
	for k, c := range log.Channels {
		count, first := 0, ""
		for s := range log.Segments {
			seg := &log.Segments[s]
			values, width, column := seg.X, len(states), k
			implausible := func(x float64) bool { return wire.Coarse(x, m.Scale[channel.Index(m.Channels, c.Name)]) }
			if k >= len(states) {
				values, width, column = seg.U, m.P, k-len(states)
				mean, std := m.Inputs.InputMean[column], m.Inputs.InputStd[column]
				implausible = func(u float64) bool { return wire.ImplausibleInput(u, mean, std) }
			}
			for i := column; i < len(values); i += width {
				v := values[i]
				if math.IsNaN(v) || math.IsInf(v, 0) || !implausible(v) {
					continue
				}
				if count++; count == 1 {
					first = fmt.Sprintf("segment %d (%q) at %.3f s: %s is %g", s+1, seg.Name, float64(seg.T[i/width]-seg.T[0])*1e-9, c.Name, v)
				}
				values[i] = math.NaN()
			}
		}
		if count > 0 {
			fmt.Fprintf(messages, "warning: %s: %s; such implausible values (%s of %s) count as not measured: correct the log or its import\n",
				log.Path, first, cli.Count(count, "value"), c.Name)
		}
	}
}
