package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/trainer"
)

func command() *cobra.Command {
	var o options
	cfg := trainer.Default()
	settings := settingFlags(&cfg)
	c := &cobra.Command{
		Use:   "dgm-train --log flight.msgpack [--log …]",
		Short: "Learn a model of a robot's motion from its flight logs",
		Long: `dgm-train checks the logs, learns a model that predicts the distribution of the state over a horizon,
and evaluates it on held-out data. It writes, beside the first log or at --out:

  NAME.dgm          the model, for dgm-estimator and dgm-eval
  NAME.report.html  the evaluation with its uncertainty, and plots
  NAME.report.json  the same as data

Ctrl-C stops the training early; the model trained so far is completed, written and marked as partial.
A second Ctrl-C ends the program at once.

--check prints the findings of the data check and trains nothing. Its exit code is 1 if training
would refuse the logs with these settings: too short for the horizon, too little data, nothing moves.

--sign signs the model, for a dgm-estimator that loads signed models only (public_key in its settings).
The keys are those of openssl:

  openssl genpkey -algorithm ed25519 -out private.pem
  openssl pkey -in private.pem -pubout -out public.pem

With --model it signs an existing model and trains nothing: the key can be kept on another machine.`,
		Example: `  dgm-train --log flight.msgpack
  dgm-train --log monday.msgpack --log tuesday.msgpack --horizon 500ms --out copter.dgm
  dgm-train --sign private.pem --model copter.dgm`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			given := map[*pflag.Flag]string{} // flags override the configuration file
			settings.VisitAll(func(f *pflag.Flag) {
				if f.Changed {
					given[f] = f.Value.String()
				}
			})
			var err error
			if cfg, err = o.settings(); err != nil {
				return err
			}
			for f, value := range given {
				if err := f.Value.Set(value); err != nil {
					return err
				}
			}
			if err := cfg.Check(); err != nil {
				return cli.Usage("%v", err)
			}
			if o.printConfig {
				_, err := fmt.Fprint(cmd.OutOrStdout(), commented(cfg))
				return err
			}
			if o.model != "" {
				return o.signOnly(cmd.OutOrStdout())
			}
			if len(o.logs) == 0 {
				return cli.Usage("no log given: dgm-train --log flight.msgpack")
			}
			return run(cmd.Context(), o, cfg, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.StringArrayVar(&o.logs, "log", nil, "flight log to learn from; may be given several times")
	f.StringVar(&o.out, "out", "", "model file to write (default: the first log's name with .dgm)")
	f.StringVar(&o.config, "config", "", "settings file; see --print-config")
	f.StringVar(&o.preset, "preset", "default", "settings to start from: default, or quick (seconds; larger uncertainty)")
	f.BoolVar(&o.printConfig, "print-config", false, "print all settings with comments, after --preset, --config and the other flags, and exit")
	f.StringVar(&o.sign, "sign", "", "sign the model with this private `key` (PEM, ed25519)")
	f.StringVar(&o.model, "model", "", "with --sign: an existing model file to sign, instead of training one")
	f.BoolVar(&o.check, "check", false, "check the data and exit; exit code 1 if they cannot be trained on")
	f.BoolVar(&o.json, "json", false, "one JSON document on standard output and nothing else")
	f.AddFlagSet(settings)
	return c
}

// settingFlags returns the flags of training settings, which write to c.
func settingFlags(c *trainer.Config) *pflag.FlagSet {
	f := pflag.NewFlagSet("settings", pflag.ContinueOnError)
	f.DurationVar((*time.Duration)(&c.Horizon), "horizon", time.Duration(c.Horizon), "how far ahead to predict")
	f.DurationVar((*time.Duration)(&c.Budget), "budget", time.Duration(c.Budget), "time after which training stops and completes the model it has")
	f.IntVar(&c.Points, "points", c.Points, "points of the horizon in a prediction")
	f.StringVar(&c.Kernel, "kernel", c.Kernel, "rff (random features) or exact")
	f.IntVar(&c.Features, "features", c.Features, "random features of each channel")
	f.Uint64Var(&c.Seed, "seed", c.Seed, "seed of everything random")
	f.Float64Var(&c.Holdout, "holdout", c.Holdout, "share of the data that is held out, in whole segments or blocks of time")
	f.IntVar(&c.Members, "members", c.Members, "fits in the ensemble")
	return f
}
