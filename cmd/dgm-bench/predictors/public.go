package predictors

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// libraries is the variant of the predictors of Python libraries.
const libraries = "libraries"

// publicOptions are the values of the flags of the study "public".
type publicOptions struct {
	choice
	python
}

// PublicStudy returns the measurement "public".
func PublicStudy() *study.Study {
	o := publicOptions{choice: choice{seed: 1, messages: os.Stderr}}
	return &study.Study{
		Name: "public", Tables: publicTables, Summary: []string{"geo", "coverage95_by_horizon"},
		Needs: []string{"geo", "crps", "coverage95_by_channel"},
		Short: "The model and predictors of well-kept Python libraries on public recordings",
		Long: `public trains the model with the default recipe on public recordings of robots, fits predictors of Python libraries to
the same flights, and scores all on the same windows: a ridge regression of scikit-learn with the
cross-conformal intervals of MAPIE, and a Gaussian process of scikit-learn on 500 windows. The script --script fits them with the interpreter --python; its head
names its packages. Each channel and horizon is scored for its error over that of holding the last value, the share in 50 and 95 %
intervals, the width and the CRPS. A recording that is not in --data is left out, with a message.`,
		Example: `  dgm-bench public --data ../shared/data --json
  dgm-bench public --sets single,double --predictors libraries`,
		Numbers: []study.Flag{{Name: "seed", Usage: "of the model's training", Value: &o.seed, Most: 1 << 30}},
		Flags: func(cmd *cobra.Command) {
			o.flags(cmd, []string{ours, libraries}, "model, libraries")
			cmd.Flags().StringVar(&o.program, "python", "python3", "interpreter of the script")
			cmd.Flags().StringVar(&o.script, "script", filepath.Join("python", "studies", "libraries.py"), "the script that fits predictors of libraries")
		},
		Units: func() ([]study.Work, error) {
			if _, err := os.Stat(o.script); err != nil && slices.Contains(o.predictors, libraries) {
				return nil, cli.Usage("--script %s: %v; run at the top of the repository, or choose --predictors %s", o.script, err, ours)
			}
			return o.units([]string{ours, libraries}, o.run)
		},
	}
}

// run fits the predictors of a unit and scores them.
func (o *publicOptions) run(ctx context.Context, u *study.Unit, r *recording) error {
	if u.Variant == ours {
		return run(ctx, u, o.Folders, r, model.Plan)
	}
	d, err := o.load(ctx, r, uint64(o.seed))
	if err != nil {
		return err
	}
	u.Report("predictors of libraries are fitted")
	all, err := o.fit(ctx, d)
	if err != nil {
		return err
	}
	return measureAll(u, d, all)
}

// publicTables shows all predictors of all recordings, a line each.
func publicTables(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
	sorted := slices.Clone(rows)
	order := names(recordings())
	slices.SortStableFunc(sorted, func(a, b *study.Row) int {
		return cmp.Or(slices.Index(order, a.Set)-slices.Index(order, b.Set), cmp.Compare(a.Text("predictor"), b.Text("predictor")))
	})
	return []study.Table{{
		Name: "public", Title: "The model and predictors of libraries on public recordings", Groups: study.GroupBy(sorted, study.Single),
		Columns: []study.Column{
			study.TextOf("recording", "recording"), study.TextOf("predictor", "predictor"), study.MeanOf("error", "geo", 3),
			list("in 95 %, by horizon", "coverage95_by_horizon"), list("by channel", "coverage95_by_channel"), list("in 50 %", "coverage50_by_horizon"), worst,
			study.MeanOf("width", "width", 3), study.MeanOf("CRPS", "crps", 3), study.MeanOf("fit, s", "fit_seconds", 0),
		},
	}}, nil
}
