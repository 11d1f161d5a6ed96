package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/durable"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/estimation"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/plot"
)

// tracePoints bounds the points of a drawn flight.
const tracePoints = 1000

func run(ctx context.Context, o *options, out, messages io.Writer) error {
	picture, err := o.create("--plot", o.plot)
	if err != nil {
		return err
	}
	if picture != nil {
		defer picture.Abort()
	}
	table, err := o.create("--estimates", o.estimates)
	if err != nil {
		return err
	}
	if table != nil {
		defer table.Abort()
	}
	var models []*model.Model
	for _, path := range o.models {
		m, err := model.ReadFile(path)
		if err != nil {
			return err
		}
		models = append(models, m)
	}
	if o.compare {
		return compare(ctx, o, models, out, messages)
	}
	if o.faults {
		return attribute(ctx, o, models[0], out, messages)
	}
	e, err := evaluateOn(ctx, o, models[0], o.models[0], o.logs, messages)
	if err != nil {
		return err
	}
	if picture != nil {
		if err := draw(picture, models[0], e); err != nil {
			return err
		}
	}
	if table != nil {
		if err := e.writeEstimates(table, models[0]); err != nil {
			return err
		}
	}
	if o.json {
		return cli.WriteJSON(out, e)
	}
	w := bufio.NewWriter(out) // keeps the first error
	fmt.Fprintf(w, "%s\n\n", e.Verdict.Text())
	_ = e.WriteText(w) // the error is Flush's
	if text := e.Filter.String(); text != "" {
		fmt.Fprintln(w, text)
	}
	if e.Networks != nil {
		fmt.Fprintln(w, e.Networks)
	}
	if e.Adapted != nil {
		fmt.Fprintln(w)
		_ = e.Adapted.WriteText(w)
	}
	return w.Flush()
}

// create makes a file that is written at the end, before any work: a name that cannot be written fails early. nil of no name.
func (o *options) create(flag, name string) (*durable.File, error) {
	if name == "" {
		return nil, nil
	}
	if err := cli.Outputs(flag, slices.Concat(o.models, o.logs, []string{o.truth}), []string{name}); err != nil {
		return nil, err
	}
	return durable.Create(name)
}

// writeEstimates writes what the filter makes of the logs.
func (e *evaluation) writeEstimates(file *durable.File, m *model.Model) error {
	if m.Filter == nil {
		return fmt.Errorf("--estimates: the model has no filter, so there are no estimates")
	}
	if err := estimation.WriteCSV(file, e.flights, m.Filter, m.Channels[:m.K]); err != nil {
		return fmt.Errorf("%s: %w", file.Path(), err)
	}
	return file.Commit()
}

// draw writes the charts: the longest horizon scored, along the longest flight.
func draw(picture *durable.File, m *model.Model, e *evaluation) error {
	table := e.Table
	trace, err := evaluate.Follow(m, e.flights, e.options, table.Horizons[len(table.Horizons)-1].T, tracePoints)
	if err != nil {
		return err
	}
	var estimated [][]plot.Chart
	if f := trace.Flight; m.Filter != nil {
		first := f.T[0] + trace.T[0] - table.Horizons[len(table.Horizons)-1].T - f.InSegment(0)
		charts, err := estimation.Charts(f, m.Filter, m.Channels[:m.K], first, m.Horizon)
		if err != nil {
			return err
		}
		estimated = append(estimated, charts)
	}
	if err := evaluate.WriteSVG(picture, table, trace, estimated...); err != nil {
		return fmt.Errorf("%s: %w", picture.Path(), err)
	}
	return picture.Commit()
}
