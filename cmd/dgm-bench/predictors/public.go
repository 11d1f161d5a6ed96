package predictors

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// publicOptions are the values of the flags of the study "public".
type publicOptions struct {
	Folders
	python
	sets, predictors []string
	seed             int // of the model's training
	messages         io.Writer
}

// PublicStudy returns the measurement "public".
func PublicStudy() *study.Study {
	o := publicOptions{seed: 1, messages: os.Stderr}
	return &study.Study{
		Name: "public", Tables: publicTables, Summary: []string{"geo", "coverage95_by_horizon"},
		Needs: []string{"geo", "crps", "coverage95_by_channel"},
		Short: "Compare the model with predictors of Python libraries on public recordings",
		Long: `public trains the model with the default recipe on public recordings of robots, fits predictors of Python libraries to
the same flights, and scores all on the same windows: a ridge regression of scikit-learn with the cross-conformal
intervals of MAPIE, a Gaussian process of scikit-learn on 500 windows, extended dynamic mode decomposition of pykoop, a neural
state-space model of jax-sysid, and the probabilistic ensemble of mbrl-lib (PETS). The script --script fits them with the
interpreter --python; its head lists its packages. If a package is missing, its predictor has no row, a message names the package, and the
command fails at the end. Scores by channel and horizon are the error over that of holding the last value, the coverage of 50 and 95 %
intervals, their width and the CRPS. A recording that is not in --data is left out, with a message.`,
		Example: `  dgm-bench public --data ../shared/data --json
  dgm-bench public --sets single,double --predictors ridge,koopman`,
		Numbers: []study.Flag{{Name: "seed", Usage: "of the model's training", Value: &o.seed, Most: 1 << 30}},
		Flags: func(cmd *cobra.Command) {
			f := cmd.Flags()
			f.StringSliceVar(&o.sets, "sets", names(recordings()), "recordings, separated by commas")
			f.StringSliceVar(&o.predictors, "predictors", predictorNames(), strings.Join(predictorNames(), ", ")+", separated by commas")
			o.AddFlags(cmd)
			o.messages = cmd.ErrOrStderr()
			f.StringVar(&o.program, "python", "python3", "interpreter of the script")
			f.StringVar(&o.script, "script", filepath.Join("python", "studies", "libraries.py"), "the script that fits predictors of libraries")
		},
		Units: func() ([]study.Work, error) {
			if _, err := os.Stat(o.script); err != nil && !slices.Equal(o.predictors, []string{ours}) {
				return nil, cli.Usage("--script %s: %v; run at the top of the repository, or choose --predictors %s", o.script, err, ours)
			}
			return o.units()
		},
	}
}

// units returns the chosen recordings that are there, each with the chosen predictors.
func (o *publicOptions) units() ([]study.Work, error) {
	all := recordings()
	sets, err := study.Chosen("--sets", o.sets, names(all))
	if err != nil {
		return nil, err
	}
	predictors, err := study.Chosen("--predictors", o.predictors, predictorNames())
	if err != nil {
		return nil, err
	}
	var units []study.Work
	for _, r := range all {
		if !slices.Contains(sets, r.name) {
			continue
		}
		if path := o.missing(&r); path != "" {
			fmt.Fprintf(o.messages, "%s is left out: %s is not here; --data names the folder of the recordings\n", r.name, path)
			continue
		}
		for _, kind := range predictors {
			k := study.Key{Set: r.name, Variant: kind}
			if kind == ours {
				k.Seed = o.seed
			}
			units = append(units, study.Work{Key: k, Run: func(ctx context.Context, u *study.Unit) error {
				if err := o.run(ctx, u, &r); err != nil {
					return fmt.Errorf("%s: %w", r.name, err)
				}
				return nil
			}})
		}
	}
	if len(units) == 0 {
		return nil, cli.Usage("--data %s: none of the recordings is here", o.Data)
	}
	return units, nil
}

// run fits the predictor of a unit and scores it.
func (o *publicOptions) run(ctx context.Context, u *study.Unit, r *recording) error {
	d, err := o.load(ctx, r, uint64(o.seed))
	if err != nil {
		return err
	}
	if u.Variant == ours {
		u.Report("the model is trained")
		p, err := learned(ctx, d)
		if err != nil {
			return err
		}
		return measure(u.Row, d, &p)
	}
	u.Report(u.Variant + " is fitted")
	p, err := o.fit(ctx, d, u.Variant)
	if err != nil {
		return err
	}
	return measure(u.Row, d, &p)
}

// publicTables shows all predictors of all recordings, a line each.
func publicTables(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
	sorted := slices.Clone(rows)
	order := names(recordings())
	slices.SortStableFunc(sorted, func(a, b *study.Row) int {
		return cmp.Or(slices.Index(order, a.Set)-slices.Index(order, b.Set), slices.Index(predictorNames(), a.Variant)-slices.Index(predictorNames(), b.Variant))
	})
	errors := study.Table{Name: "errors", Title: "Error and CRPS over the RMSE of hold", Groups: study.GroupBy(sorted, func(r *study.Row) string { return r.Set }), Columns: []study.Column{study.TextOf("recording", "recording")}}
	for _, name := range predictorNames() {
		both := study.Column{Head: name, Cell: func(g study.Group) string {
			return study.Fixed(g[0].Number("geo"), 3) + ", " + study.Fixed(g[0].Number("crps"), 3)
		}}
		errors.Columns = append(errors.Columns, both.Of(func(g study.Group) study.Group {
			return g.Where(func(r *study.Row) bool { return r.Variant == name })
		}))
	}
	tables := []study.Table{errors, {
		Name: "public", Title: "The model and predictors of libraries on public recordings", Groups: study.GroupBy(sorted, study.Single),
		Columns: []study.Column{
			study.TextOf("recording", "recording"), study.TextOf("predictor", "predictor"), study.MeanOf("error", "geo", 3),
			list("in 95 %, by horizon", "coverage95_by_horizon"), list("by channel", "coverage95_by_channel"), list("in 50 %", "coverage50_by_horizon"), worst,
			study.MeanOf("width", "width", 3), study.MeanOf("CRPS", "crps", 3), study.MeanOf("fit, s", "fit_seconds", 0),
		},
	}}
	if free := slices.DeleteFunc(sorted, func(r *study.Row) bool { return !r.Has("free_run_rmse") }); len(free) > 0 {
		tables = append(tables, study.Table{
			Name: "free-run", Title: "Free runs over the whole test record", Groups: study.GroupBy(free, study.Single),
			Columns: []study.Column{
				study.TextOf("recording", "recording"), study.TextOf("predictor", "predictor"), study.MeanOf("samples that are known", "free_run_initial", 0),
				{Head: "RMSE of all later ones", Cell: func(g study.Group) string {
					var cells []string
					for k, v := range g[0].Numbers("free_run_rmse") {
						cells = append(cells, fmt.Sprintf("%s %.3g", g[0].Texts("channels")[k], v))
					}
					return strings.Join(cells, ", ")
				}},
			},
		})
	}
	return tables, nil
}

// predictorNames are those of all predictors, in the order of the table.
func predictorNames() []string { return append([]string{ours}, libraries...) }

// list shows a list of shares.
func list(head, name string) study.Column {
	return study.Column{Head: head, Cell: func(g study.Group) string {
		var cells []string
		for _, v := range g[0].Numbers(name) {
			cells = append(cells, study.Fixed(v, 2))
		}
		return strings.Join(cells, " ")
	}}
}
