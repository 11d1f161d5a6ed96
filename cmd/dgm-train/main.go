// Command dgm-train trains a model on flight logs.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/recipe"
	"github.com/dgm-robotics/dgm/trainer"
)

// Garbage is collected when it is collected per cent of what is used: with the usual 100 long logs take a third more memory, and
// no less time. The ballast counts as used, though it is never written to and takes no memory, so that short logs, which use less than
// that, are not collected a thousand times. GOGC sets another percentage, without ballast.
const (
	collected = 15
	ballast   = 256 << 20
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collected)
		defer runtime.KeepAlive(make([]byte, ballast))
	}
	cli.Main(command())
}

func command() *cobra.Command {
	var o options
	cfg := trainer.Default()
	c := &cobra.Command{
		Use:   "dgm-train --log flight.msgpack [--log …]",
		Short: "Learn a model of a robot's motion from its flight logs",
		Long: `dgm-train checks the logs, trains a model that predicts the distribution of the state over a horizon,
and evaluates it on held-out data. It writes, next to the first log or at --out:

  NAME.dgm          the model, for dgm-estimator and dgm-eval
  NAME.report.html  the evaluation with its uncertainty, and plots
  NAME.report.json  the same as data

Ctrl-C stops the training early: the model so far is completed, written and marked as partial.
A second Ctrl-C ends the program at once.

--check prints the findings of the data check and trains nothing. The exit code is 1 if training
would refuse the logs with these settings: too short for the horizon, too little data, no motion.

--sign signs the model, for a dgm-estimator that loads signed models only (public_key in its settings).
Make the keys with openssl:

  openssl genpkey -algorithm ed25519 -out private.pem
  openssl pkey -in private.pem -pubout -out public.pem

With --model it signs an existing model and trains nothing, so the key can be kept on another machine.
A signature is for one vehicle or one fleet, and has a sequence number. An estimator refuses a model
for another vehicle or fleet, and a number below one that it has accepted. --rollback writes the signed
command to return to a model, for dgm.model.<vehicle>.`,
		Example: `  dgm-train --log flight.msgpack
  dgm-train --log monday.msgpack --log tuesday.msgpack --horizon 500ms --out copter.dgm
  dgm-train --sign private.pem --model copter.dgm
  dgm-train --sign private.pem --rollback 0123456789abcdef --vehicle quad1 --out rollback.msgpack`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			given := cli.Given(cmd)
			var err error
			if cfg, err = recipe.Settings(o.preset, o.config); err != nil {
				return err
			}
			for _, name := range settings { // flags override the configuration file
				if value, ok := given[name]; ok {
					if err := cmd.Flags().Set(name, value); err != nil {
						return err
					}
				}
			}
			if err := cfg.Check(); err != nil {
				return cli.Usage("%v", err)
			}
			if o.printConfig {
				_, err := fmt.Fprint(cmd.OutOrStdout(), commented(cfg))
				return err
			}
			if err := o.checkRecipient(); err != nil {
				return err
			}
			if o.model != "" {
				return o.signOnly(cmd.OutOrStdout())
			}
			if o.rollback != "" {
				return o.writeRollback(cmd.OutOrStdout())
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
	f.StringVar(&o.preset, "preset", "default", "settings to start from: default, or quick (a third of the time or less; larger uncertainty)")
	f.BoolVar(&o.printConfig, "print-config", false, "print all settings with comments, after --preset, --config and the other flags, and exit")
	f.StringVar(&o.sign, "sign", "", "sign the model with this private `key` (PEM, ed25519)")
	f.StringVar(&o.model, "model", "", "with --sign: an existing model file to sign, instead of training one")
	f.StringVar(&o.vehicle, "vehicle", "", "with --sign: the vehicle that the signature is for (default: the model's)")
	f.StringVar(&o.fleet, "fleet", "", "with --sign: the fleet that the signature is for, instead of a vehicle")
	f.Uint64Var(&o.sequence, "sequence", 0, "with --sign: sequence number of the signature (default: the seconds since 1970)")
	f.DurationVar(&o.valid, "valid", 0, "with --sign: how long the signature is accepted, such as 720h (default: a model without limit, a command to go back 24h)")
	f.StringVar(&o.rollback, "rollback", "", "with --sign and --out: write the signed command to go back to the `model` of this ID")
	f.BoolVar(&o.check, "check", false, "check the data and exit; exit code 1 if they cannot be trained on")
	f.BoolVar(&o.json, "json", false, "one JSON document on standard output and nothing else")
	f.DurationVar((*time.Duration)(&cfg.Horizon), "horizon", time.Duration(cfg.Horizon), "how far ahead to predict")
	f.DurationVar((*time.Duration)(&cfg.Budget), "budget", time.Duration(cfg.Budget), "time limit; a longer training is cut short, and the model marked as partial")
	f.IntVar(&cfg.Points, "points", cfg.Points, "points of the horizon in a prediction")
	f.StringVar(&cfg.Kernel, "kernel", cfg.Kernel, "rff (random features) or exact")
	f.IntVar(&cfg.Features, "features", cfg.Features, "random features of each channel")
	f.Uint64Var(&cfg.Seed, "seed", cfg.Seed, "seed of everything random")
	f.StringVar(&cfg.Filter, "filter", cfg.Filter, "estimate positions and rates by a Kalman filter: auto, on or off")
	f.Float64Var(&cfg.Holdout, "holdout", cfg.Holdout, "share of the data that is held out, in whole segments or blocks of time")
	f.IntVar(&cfg.Members, "members", cfg.Members, "fits in the ensemble")
	return c
}

// settings are the flags of training settings.
var settings = []string{"horizon", "budget", "points", "kernel", "features", "seed", "holdout", "members", "filter"}

// options are the flags that are not training settings.
type options struct {
	logs        []string
	out         string
	config      string
	preset      string
	sign, model string

	vehicle, fleet string // that is signed for
	sequence       uint64
	valid          time.Duration
	rollback       string
	printConfig    bool
	check, json    bool
}
