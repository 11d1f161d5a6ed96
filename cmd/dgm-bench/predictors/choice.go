package predictors

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// choice is what flags choose of the recordings and the predictors of a study.
type choice struct {
	Folders
	sets, predictors []string
	seed             int // of the model's training
	messages         io.Writer
}

// flags adds the flags; usual are the predictors without one, kinds lists all for the help.
func (o *choice) flags(cmd *cobra.Command, usual []string, kinds string) {
	f := cmd.Flags()
	f.StringSliceVar(&o.sets, "sets", names(recordings()), "recordings, separated by commas")
	f.StringSliceVar(&o.predictors, "predictors", usual, kinds+", separated by commas")
	o.AddFlags(cmd)
	o.messages = cmd.ErrOrStderr()
}

// units returns the chosen recordings that are there, each with those of the kinds of predictors that are chosen.
func (o *choice) units(kinds []string, run func(ctx context.Context, u *study.Unit, r *recording) error) ([]study.Work, error) {
	all := recordings()
	sets, err := study.Chosen("--sets", o.sets, names(all))
	if err != nil {
		return nil, err
	}
	predictors, err := study.Chosen("--predictors", o.predictors, kinds)
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
				if err := run(ctx, u, &r); err != nil {
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
