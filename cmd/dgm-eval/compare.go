package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
)

// compare evaluates every model on every log, at horizons that all models have.
func compare(ctx context.Context, o *options, models []*model.Model, out, messages io.Writer) error {
	if o.Horizons == nil {
		shortest := models[0].Horizon
		for _, m := range models {
			shortest = min(shortest, m.Horizon)
		}
		o.Horizons = evaluate.Grid(shortest)
	}
	var all []*evaluation
	for _, log := range o.logs {
		for i, m := range models {
			e, err := evaluateOn(ctx, o, m, o.models[i], []string{log}, messages)
			if err != nil {
				return err
			}
			all = append(all, e)
		}
	}
	if o.json {
		return writeJSON(out, map[string][]*evaluation{"evaluations": all})
	}
	return writeComparison(out, all)
}

// writeComparison writes one line for each evaluation, then the reasons of the verdicts.
func writeComparison(out io.Writer, all []*evaluation) error {
	w := bufio.NewWriter(out) // keeps the first error
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "model\tlog\tverdict\twindows\trmse\tbest baseline\tcovered\tloglik\tood")
	for _, e := range all {
		name, ratio := e.Geo.Best()
		low, high := e.CoverageRange()
		flagged := e.FlaggedOOD()
		fmt.Fprintf(tab, "%s\t%s\t%s\t%d\t%.3f\t%.3f %s\t%s\t%.2f\t%s\n",
			filepath.Base(e.Model), filepath.Base(e.Log), e.Level.Label(), e.Windows, e.Geo.Model, e.Geo.Model/ratio, name,
			evaluate.Percent(low, high), e.LogLik(), evaluate.Percent(flagged, flagged))
	}
	_ = tab.Flush() // to a writer that keeps its error
	first := all[0].Horizons
	fmt.Fprintf(w, "\nrmse and best baseline over that of holding the last value, geometric mean over channels and %d horizons up to %s;\n", len(first), evaluate.Seconds(first[len(first)-1].T))
	fmt.Fprint(w, "covered: by 95 % intervals, by horizon; loglik: mean over channels and horizons, per scalar measurement\n\n")
	for _, e := range all {
		fmt.Fprintf(w, "%s on %s: %s\n", filepath.Base(e.Model), filepath.Base(e.Log), e.Line())
	}
	return w.Flush()
}
