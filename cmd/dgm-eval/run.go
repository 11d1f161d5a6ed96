package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/durable"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/dgm-robotics/dgm/trainer/datacheck"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// tracePoints bounds the points of a drawn flight.
const tracePoints = 1000

func run(ctx context.Context, o *options, out, messages io.Writer) error {
	var picture *durable.File
	if o.plot != "" {
		// Before any work: a name that cannot be written fails early.
		err := cli.Outputs("--plot", []string{o.model, o.log, o.truth}, []string{o.plot})
		if err != nil {
			return err
		}
		if picture, err = durable.Create(o.plot); err != nil {
			return err
		}
		defer picture.Abort()
	}
	m, err := model.ReadFile(o.model)
	if err != nil {
		return err
	}
	log, err := load(m, o.log, o.model, messages)
	if err != nil {
		return err
	}
	flights, excluded := cut(m, log, o, messages)
	if len(flights) == 0 {
		return fmt.Errorf("%s: no two consecutive samples; nothing can be scored", o.log)
	}
	name := o.log
	if o.truth != "" && o.truth != sameLog {
		if err := addTruth(m, log, flights, o, messages); err != nil {
			return err
		}
		name += " against " + o.truth
	}
	o.Kinematics = log.Kinematics
	table, err := evaluate.Run(ctx, m, flights, o.Options)
	if err != nil {
		return fmt.Errorf("%s on %s: %w", o.model, o.log, err)
	}
	table.Model, table.Log, table.Excluded = o.model, name, excluded
	if picture != nil {
		if err := draw(picture, m, flights, o.Options, table); err != nil {
			return err
		}
	}
	if !o.json {
		if err := table.WriteText(out); err != nil {
			return err
		}
		_, err := fmt.Fprintln(out, table.Summary())
		return err
	}
	text, err := json.MarshalIndent(table, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n", text)
	return err
}

// load reads a log. A log whose channels are not the model's is an error.
func load(m *model.Model, path, modelPath string, messages io.Writer) (*flightlog.Log, error) {
	log, err := flightlog.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for _, d := range log.Damages {
		fmt.Fprintf(messages, "warning: %v; the intact records are used\n", d)
	}
	got := slices.Concat(channel.Select(log.Channels, channel.State), channel.Select(log.Channels, channel.Input))
	if err := channel.SameLayout(m.Channels, got); err != nil {
		return nil, fmt.Errorf("%s: header: %w as %s has it; evaluate on a log with the channels the model was trained on", path, err, modelPath)
	}
	if log.Vehicle != m.Vehicle {
		fmt.Fprintf(messages, "note: the log is of vehicle %q, the model of %q\n", log.Vehicle, m.Vehicle)
	}
	// The model's description of the channels (periods above all) holds.
	log.Channels = m.Channels
	eraseImplausible(m, log, messages)
	return log, nil
}

// mostListed bounds the findings of the data check that are listed.
const mostListed = 20

// cut makes flights of a log without the values that the data check excludes, as training
// does, and lists the findings; with --raw, and of an exact log, it excludes samples of
// wrong stamps only. excluded is the share of values that are not scored.
func cut(m *model.Model, log *flightlog.Log, o *options, messages io.Writer) (flights []window.Flight, excluded float64) {
	found := datacheck.Check(log, datacheck.Options{})
	if o.raw || o.truth == sameLog { // exact values are too smooth for a sensor
		return window.AllChecked(log, found.Timing(), m.Channels, window.Options{MaxGap: o.maxGap})
	}
	listed := 0
	for _, p := range found.Problems {
		if p.Severity != datacheck.Exclude {
			continue
		}
		if listed++; listed <= mostListed {
			fmt.Fprintf(messages, "data check: %s: segment %q, %.3f-%.3f s: %s\n", p.Kind, p.Segment, p.From, p.To, p.Text)
		}
	}
	if listed > mostListed {
		fmt.Fprintf(messages, "data check: and %d more; dgm-train --check --log %s lists all\n", listed-mostListed, log.Path)
	}
	return window.AllChecked(log, found.Masks, m.Channels, window.Options{MaxGap: o.maxGap})
}

// addTruth adds to the flights of a log the exact states to compare with.
func addTruth(m *model.Model, log *flightlog.Log, flights []window.Flight, o *options, messages io.Writer) error {
	exact, err := load(m, o.truth, o.model, messages)
	if err != nil {
		return err
	}
	if a, b := len(log.Segments), len(exact.Segments); a != b {
		return fmt.Errorf("%s has %s, %s has %d: both logs must be recorded together", o.log, cli.Count(a, "segment"), o.truth, b)
	}
	if err := window.AddExact(flights, exact); err != nil {
		return fmt.Errorf("%s against %s: %w", o.log, o.truth, err)
	}
	return nil
}

// draw writes the charts: the longest horizon scored, along the longest flight.
func draw(picture *durable.File, m *model.Model, flights []window.Flight, opt evaluate.Options, table *evaluate.Table) error {
	trace, err := evaluate.Follow(m, flights, opt, table.Horizons[len(table.Horizons)-1].T, tracePoints)
	if err != nil {
		return err
	}
	if err := evaluate.WriteSVG(picture, table, trace); err != nil {
		return fmt.Errorf("%s: %w", picture.Path(), err)
	}
	return picture.Commit()
}

// eraseImplausible replaces by NaN the values of a log that the estimator refuses on the
// robot as too large to predict from. For each channel it prints their number and the
// place of the first one.
func eraseImplausible(m *model.Model, log *flightlog.Log, messages io.Writer) {
	for k, c := range m.Channels {
		count, first := 0, ""
		for s := range log.Segments {
			seg := &log.Segments[s]
			values, width, column, scale := seg.X, m.K, k, 0.0
			if k < m.K {
				scale = m.Scale[k]
			} else {
				values, width, column = seg.U, m.P, k-m.K
				scale = m.Inputs.InputStd[column]
			}
			for i := column; i < len(values); i += width {
				v := values[i]
				if math.IsNaN(v) || math.IsInf(v, 0) || !wire.Coarse(v, scale) {
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
