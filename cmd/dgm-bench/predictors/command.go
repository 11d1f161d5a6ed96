// Package predictors compares the model with simple predictors on public recordings of robots:
// hold, constant velocity, a linear model, direct ridge regressions with and without
// history, and ensembles of nets, fitted to the same flights and scored on the same windows.
package predictors

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// options are the values of the flags.
type options struct {
	choice
	hold bool
}

func (o *options) readout() model.Readout {
	if o.hold {
		return model.Hold
	}
	return model.Plan
}

// Study returns the measurement "rivals".
func Study() *study.Study {
	o := options{choice: choice{seed: 1, messages: os.Stderr}}
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
		Flags:   func(cmd *cobra.Command) { o.flags(cmd, []string{simple}, "simple, nets, model") },
		Units: func() ([]study.Work, error) {
			return o.units([]string{simple, trainedNets, ours}, func(ctx context.Context, u *study.Unit, r *recording) error {
				return run(ctx, u, o.Folders, r, o.readout())
			})
		},
	}
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
