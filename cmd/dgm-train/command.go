package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/trainer"
)

// options are the flags that are no settings of the training.
type options struct {
	logs        []string
	out         string
	config      string
	preset      string
	sign, model string
	printConfig bool
	check, json bool
}

func command() *cobra.Command {
	var o options
	var horizon, budget time.Duration
	flags := trainer.Default()
	c := &cobra.Command{
		Use:   "dgm-train --log flight.msgpack [--log …]",
		Short: "Learn a model of a robot's motion from its flight logs",
		Long: `dgm-train checks the logs, learns a model that predicts the distribution of the state over a horizon,
and judges it on data that it has not seen. It writes, beside the first log or at --out:

  NAME.dgm          the model, for dgm-estimator and dgm-eval
  NAME.report.html  what it learned and how sure it is, with plots
  NAME.report.json  the same as data

Ctrl-C stops early and still writes what is trained so far, marked as such; once more, it ends at once.

--check prints what is wrong with the logs, and where, and trains nothing. Its exit code is 1 if training
would refuse them, with these settings: too short for the horizon, too little of it, nothing that moves.

--sign signs the model, for a dgm-estimator that takes none but signed ones (public_key in its settings).
The keys are those of openssl:

  openssl genpkey -algorithm ed25519 -out private.pem
  openssl pkey -in private.pem -pubout -out public.pem

With --model it signs a model that there is and trains nothing: the key need not be where models are made.`,
		Example: `  dgm-train --log flight.msgpack
  dgm-train --log monday.msgpack --log tuesday.msgpack --horizon 500ms --out copter.dgm
  dgm-train --sign private.pem --model copter.dgm`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := o.settings()
			if err != nil {
				return err
			}
			// Flags that were given win over the configuration file.
			set := func(name string, apply func()) {
				if cmd.Flags().Changed(name) {
					apply()
				}
			}
			set("horizon", func() { cfg.Horizon = trainer.Duration(horizon) })
			set("budget", func() { cfg.Budget = trainer.Duration(budget) })
			set("points", func() { cfg.Points = flags.Points })
			set("kernel", func() { cfg.Kernel = flags.Kernel })
			set("features", func() { cfg.Features = flags.Features })
			set("seed", func() { cfg.Seed = flags.Seed })
			set("holdout", func() { cfg.Holdout = flags.Holdout })
			set("members", func() { cfg.Members = flags.Members })
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
	f.StringVar(&o.preset, "preset", "default", "settings to start from: default, or quick (seconds, less sure)")
	f.BoolVar(&o.printConfig, "print-config", false, "print all settings, commented, as --preset, --config and the other flags make them, and end")
	f.StringVar(&o.sign, "sign", "", "sign the model with this private `key` (PEM, ed25519)")
	f.StringVar(&o.model, "model", "", "with --sign: the model file to sign, instead of training one")
	f.BoolVar(&o.check, "check", false, "check the data and end; exit code 1 if they cannot be trained on")
	f.BoolVar(&o.json, "json", false, "one JSON document on standard output and nothing else")
	f.DurationVar(&horizon, "horizon", time.Duration(flags.Horizon), "how far ahead to predict")
	f.DurationVar(&budget, "budget", time.Duration(flags.Budget), "time after which training stops and writes what it has")
	f.IntVar(&flags.Points, "points", flags.Points, "points of the horizon in a prediction")
	f.StringVar(&flags.Kernel, "kernel", flags.Kernel, "rff (random features) or exact")
	f.IntVar(&flags.Features, "features", flags.Features, "random features of each channel")
	f.Uint64Var(&flags.Seed, "seed", flags.Seed, "everything random follows from it")
	f.Float64Var(&flags.Holdout, "holdout", flags.Holdout, "share of the data that is held out, in whole segments or blocks of time")
	f.IntVar(&flags.Members, "members", flags.Members, "fits in the ensemble")
	return c
}

// settings returns the configuration before flags.
func (o *options) settings() (trainer.Config, error) {
	var base trainer.Config
	switch o.preset {
	case "default":
		base = trainer.Default()
	case "quick":
		base = trainer.Quick()
	default:
		return base, cli.Usage("--preset %q is neither default nor quick", o.preset)
	}
	if o.config == "" {
		return base, nil
	}
	b, err := cli.ReadSettings(o.config)
	if err != nil {
		return base, err
	}
	cfg, err := base.Parse(bytes.NewReader(b), o.config)
	if err != nil {
		return cfg, cli.Usage("%v", err)
	}
	return cfg, nil
}

// outputs are the names of the files to write.
func (o *options) outputs() (model, html, json string) {
	model = o.out
	if model == "" {
		model = stem(o.logs[0]) + ".dgm"
	}
	s := stem(model)
	return model, s + ".report.html", s + ".report.json"
}

func stem(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) }
