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
	"github.com/dgm-robotics/dgm/trainer/window"
)

// tracePoints bounds the points of a drawn flight.
const tracePoints = 1000

func run(ctx context.Context, o *options, out, messages io.Writer) error {
	var picture *durable.File
	if o.plot != "" {
		// Before any work: a name that cannot be written fails early.
		err := cli.Outputs("--plot", slices.Concat(o.models, o.logs, []string{o.truth}), []string{o.plot})
		if err != nil {
			return err
		}
		if picture, err = durable.Create(o.plot); err != nil {
			return err
		}
		defer picture.Abort()
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
	e, err := evaluateOn(ctx, o, models[0], o.models[0], o.logs, messages)
	if err != nil {
		return err
	}
	if picture != nil {
		if err := draw(picture, models[0], e.flights, e.options, e.Table); err != nil {
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

// draw writes the charts: the longest horizon scored, along the longest flight.
func draw(picture *durable.File, m *model.Model, flights []window.Flight, opt evaluate.Options, table *evaluate.Table) error {
	trace, err := evaluate.Follow(m, flights, opt, table.Horizons[len(table.Horizons)-1].T, tracePoints)
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
