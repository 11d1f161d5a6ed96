package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/logs"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
)

// comparison is models on logs beside each other.
type comparison struct {
	Horizon     float64       `json:"horizon"`  // s, up to which all are scored and judged
	Channels    []string      `json:"channels"` // states that are scored: those of all models
	Unscored    []string      `json:"unscored"` // states of some of the models only
	LeftOut     []leftOut     `json:"left_out"`
	Evaluations []*evaluation `json:"evaluations"`

	longer []string // models whose own horizon is longer
	files  []string // models and logs
}

// name returns the name of a file, with its folder where another one has the same name.
func (c *comparison) name(path string) string {
	base := filepath.Base(path)
	if slices.ContainsFunc(c.files, func(other string) bool { return other != path && filepath.Base(other) == base }) {
		return path
	}
	return base
}

// leftOut is a model that cannot be evaluated on a log.
type leftOut struct {
	Model  string `json:"model"`
	Log    string `json:"log"`
	Reason string `json:"reason"`
}

// compare evaluates every model on every log that has its channels, at horizons and of states
// that all these models have.
func compare(ctx context.Context, o *options, models []*model.Model, out, messages io.Writer) error {
	c := &comparison{LeftOut: []leftOut{}, Unscored: []string{}, files: slices.Concat(o.models, o.logs)}
	type pair struct{ log, model int }
	var pairs []pair
	var fit []*model.Model
	for j, log := range o.logs {
		have, err := logs.Header(log)
		if err != nil {
			return err
		}
		for i, m := range models {
			if _, err := places(m.Measured(), have.Channels); err != nil {
				c.LeftOut = append(c.LeftOut, leftOut{o.models[i], log, err.Error()})
				continue
			}
			pairs = append(pairs, pair{j, i})
			if !slices.Contains(fit, m) {
				fit = append(fit, m)
			}
		}
	}
	if len(fit) == 0 {
		first := c.LeftOut[0]
		return fmt.Errorf("%s: does not have the channels of %s: %s; no log has the channels of a model: evaluate on logs of the models' robot", first.Log, first.Model, first.Reason)
	}
	var others []string
	if c.Channels, others = commonStates(fit); len(c.Channels) == 0 {
		return fmt.Errorf("the models have no state in common (%s): compare models of one robot", quoted(others))
	}
	c.Unscored = append(c.Unscored, others...)
	if len(others) > 0 {
		o.Channels = c.Channels
	}
	c.setHorizon(o, models, fit)
	for _, p := range pairs {
		e, err := evaluateOn(ctx, o, models[p.model], o.models[p.model], []string{o.logs[p.log]}, messages)
		if err != nil {
			return err
		}
		c.Evaluations = append(c.Evaluations, e)
	}
	if o.json {
		return cli.WriteJSON(out, c)
	}
	return c.write(out)
}

// setHorizon sets the horizons that all models have that are evaluated.
func (c *comparison) setHorizon(o *options, models, fit []*model.Model) {
	c.Horizon = slices.MinFunc(fit, func(a, b *model.Model) int { return cmp.Compare(a.Horizon, b.Horizon) }).Horizon
	if o.Horizons == nil {
		o.Horizons = evaluate.Grid(c.Horizon)
	}
	c.Horizon = slices.Max(o.Horizons)
	for i, m := range models {
		if slices.Contains(fit, m) && m.Horizon > c.Horizon {
			c.longer = append(c.longer, c.name(o.models[i]))
		}
	}
}

// write writes one line for each evaluation, what is compared, and the reasons of the verdicts.
func (c *comparison) write(out io.Writer) error {
	w := bufio.NewWriter(out) // keeps the first error
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	up := "up to " + evaluate.Seconds(c.Horizon)
	fmt.Fprintf(tab, "model\tlog\tverdict %s\twindows\trmse\tbest baseline\tcovered\tloglik\tood\n", up)
	for _, e := range c.Evaluations {
		name, ratio := e.Geo.Best()
		low, high := e.CoverageRange()
		flagged := e.FlaggedOOD()
		fmt.Fprintf(tab, "%s\t%s\t%s\t%d\t%.3f\t%.3f %s\t%s\t%.2f\t%s\n",
			c.name(e.Model), c.name(e.Log), e.Level.Label(), e.Windows, e.Geo.Model, e.Geo.Model/ratio, name,
			evaluate.Percent(low, high), e.LogLik(), evaluate.Percent(flagged, flagged))
	}
	_ = tab.Flush() // to a writer that keeps its error
	fmt.Fprintf(w, "\nrmse and best baseline over that of holding the last value, geometric mean over channels and %d horizons %s;\n", len(c.Evaluations[0].Horizons), up)
	fmt.Fprint(w, "covered: by 95 % intervals, by horizon; loglik: mean over channels and horizons, per scalar measurement\n")
	if len(c.longer) > 0 {
		fmt.Fprintf(w, "Scores and verdicts are for horizons %s. Longer horizons of %s are left out: evaluated alone, its verdict may differ.\n", up, strings.Join(c.longer, ", "))
	}
	if len(c.Unscored) > 0 {
		fmt.Fprintf(w, "Scores and verdicts are for the states that all models have: %s. Left out: %s.\n", strings.Join(c.Channels, ", "), strings.Join(c.Unscored, ", "))
	}
	for _, l := range c.LeftOut {
		fmt.Fprintf(w, "Left out: %s on %s: %s.\n", c.name(l.Model), c.name(l.Log), l.Reason)
	}
	for _, e := range c.Evaluations {
		if e.TooShort != nil {
			fmt.Fprintf(w, "%s on %s: %s\n", c.name(e.Model), c.name(e.Log), e.TooShort)
		}
	}
	fmt.Fprintln(w)
	for _, e := range c.Evaluations {
		fmt.Fprintf(w, "%s on %s: %s\n", c.name(e.Model), c.name(e.Log), e.Line())
	}
	return w.Flush()
}
