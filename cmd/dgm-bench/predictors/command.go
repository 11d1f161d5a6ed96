// Package predictors compares the model with simple predictors on public recordings of robots:
// hold, constant velocity, a linear model, direct ridge regressions with and without
// history, and ensembles of nets, fitted to the same flights and scored on the same windows.
package predictors

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// options are the values of the flags.
type options struct {
	Folders
	sets, predictors []string
	hold             bool
	seed             int
	messages         io.Writer
}

func (o *options) readout() model.Readout {
	if o.hold {
		return model.Hold
	}
	return model.Plan
}

// Study returns the measurement "rivals".
func Study() *study.Study {
	o := options{seed: 1, messages: os.Stderr}
	all := recordings()
	return &study.Study{
		Name: "rivals", Tables: tables, Summary: []string{"geo", "coverage95_by_horizon"},
		Short: "Simple predictors and the model on recorded robots, on the same windows",
		Long: `rivals imports public recordings with the maps of the repository, fits simple predictors to one part and
scores them on the windows of another: hold, constant velocity, a linear model, and a direct ridge
regression for each channel and horizon on state, plan and 0 to 20 earlier samples. With --predictors nets
it trains two ensembles of five nets, too: nets that predict mean and variance of one step and are sampled (PETS),
and nets trained through their roll-outs. With --predictors model it trains the model with the default recipe. Both
take minutes for each recording.

The error is the RMSE over that of holding the last value, geometric mean over channels and horizons. The width
is the mean standard deviation, scaled so that 95 % intervals cover 95 % of the measurements, and width and CRPS are over the
RMSE of holding as well. A recording that is not in --data is left out, with a message.`,
		Example: `  dgm-bench rivals --sets acrobot,double
  dgm-bench rivals --predictors simple,model --sets crazyflie-readme --out cmd/dgm-bench/results`,
		Numbers: []study.Flag{{Name: "seed", Usage: "of the model's training", Value: &o.seed, Most: 1 << 30}, {Name: "hold", Usage: "the input of the start is held, instead of the recorded plan", Value: &o.hold, Changes: true}},
		Flags: func(cmd *cobra.Command) {
			f := cmd.Flags()
			f.StringSliceVar(&o.sets, "sets", names(all), "recordings, separated by commas")
			f.StringSliceVar(&o.predictors, "predictors", []string{simple}, "simple, nets, model, separated by commas")
			o.AddFlags(cmd)
			o.messages = cmd.ErrOrStderr()
		},
		Units: func() ([]study.Work, error) { return o.units(all) },
	}
}

// units returns the chosen recordings that are there, each with the chosen predictors.
func (o *options) units(all []recording) ([]study.Work, error) {
	sets, err := study.Chosen("--sets", o.sets, names(all))
	if err != nil {
		return nil, err
	}
	predictors, err := study.Chosen("--predictors", o.predictors, []string{simple, trainedNets, ours})
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
				if err := run(ctx, u, o.Folders, &r, o.readout()); err != nil {
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

// run fits the predictors of a unit and scores them.
func run(ctx context.Context, u *study.Unit, in Folders, r *recording, readout model.Readout) error {
	d, err := in.load(ctx, r, uint64(u.Seed))
	if err != nil {
		return err
	}
	if u.Variant == ours {
		u.Report("the model is trained")
		p, err := learned(ctx, d, readout)
		if err != nil {
			return err
		}
		return measure(u.Row, d, &p)
	}
	all, err := fitted(ctx, u, d, readout)
	if err != nil {
		return err
	}
	return measureAll(u, d, all)
}

// measureAll scores predictors. The first one's row is the unit's.
func measureAll(u *study.Unit, d *data, all []predictor) error {
	for i, p := range all {
		row := u.Row
		if i > 0 {
			row = u.Also(p.name)
		}
		if err := measure(row, d, &p); err != nil {
			return err
		}
	}
	return nil
}

// fitted fits the predictors of a unit, other than the model.
func fitted(ctx context.Context, u *study.Unit, d *data, readout model.Readout) ([]predictor, error) {
	if u.Variant == trainedNets {
		u.Report("nets are trained")
		return ensembles(ctx, d, readout)
	}
	all, err := baselines(d, readout)
	if err != nil {
		return nil, err
	}
	u.Report("ridge regressions are fitted")
	regressions, err := ridges(ctx, d, readout)
	return append(all, regressions...), err
}
