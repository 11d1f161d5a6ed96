package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

func command() *cobra.Command {
	var (
		flags  = defaults()
		config string
		times  []time.Duration
		manual bool
	)
	cmd := &cobra.Command{
		Use:   "dgm-estimator --model flight.dgm --vehicle pend1 --nats nats://127.0.0.1:4222",
		Short: "Answer every state of a vehicle with the distribution of its future states",
		Long: `dgm-estimator answers every message on dgm.state.<vehicle> with one on dgm.predict.<vehicle>: mean and
standard deviation of every channel at every point of the model's horizon; or, with --rate, it predicts
at a fixed rate, from the newest state. It reports on dgm.status.<vehicle> once a second, and answers
queries on dgm.query.<vehicle>. The messages are described in estimator/wire/PROTOCOL.md.

It waits for the server, and reconnects after a lost link; it sends nothing late. On SIGHUP it reads
its model file again and uses the new model from the next prediction on. SIGTERM and SIGINT end it after
all received states are answered.

--print-config prints all settings, including those without a flag. With public_key it accepts only signed
models, from the file and from a watched bucket: dgm-train --sign signs the model that it trains, or with
--model an existing file. One message rolls back to the previous model, see PROTOCOL.md; the command
reset makes the estimator forget what adaptation has learned.`,
		Example: `  dgm-estimator --model flight.dgm --vehicle pend1
  dgm-estimator --print-config > estimator.toml
  dgm-estimator --config estimator.toml --rate 500 --points 20
  dgm-estimator --model flight.dgm --record out.msgpack
  dgm-estimator replay --log out.msgpack
  dgm-estimator status --nats nats://127.0.0.1:4222
  dgm-estimator reset --vehicle pend1`,
		Args: cobra.NoArgs,
	}
	// Flags are named like the keys of the file.
	f := cmd.Flags()
	f.StringVar(&flags.Model, "model", "", "model file, written by dgm-train")
	f.StringVar(&flags.Vehicle, "vehicle", "", "vehicle, as in dgm.state.<vehicle> (default: the model's)")
	f.IntVar(&flags.Points, "points", flags.Points, "number of points to predict at, equally spaced up to the horizon; 0 = the model's")
	f.DurationSliceVar(&times, "times", nil, "predict at these times after the state, e.g. 0.1s,0.5s (instead of --points)")
	f.Float64Var(&flags.Rate, "rate", flags.Rate, "predict at this fixed rate in Hz, from the newest state; 0 = answer each state")
	f.StringVar(&flags.Predictor, "predictor", flags.Predictor, "the predictor: fast (the processor's vectors) or plain (double precision throughout)")
	f.StringVar(&flags.Adapt, "adapt", flags.Adapt, "learn in flight how the robot differs from the training data: off, watch (report it) or on (correct predictions by it)")
	f.StringVar(&flags.Record, "record", "", "record states and models to this file, for replay")
	f.StringVar(&flags.Clock, "clock", flags.Clock, "the clock of the states' stamps: shared (agrees with this computer's) or robot (the robot's own)")
	flags.NATS.Add(f)
	f.StringVar(&config, "config", "", "settings file; flags take precedence")
	f.BoolVar(&manual, "print-config", false, "print all settings with their defaults and comments, and exit")

	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if manual {
			_, err := fmt.Fprint(cmd.OutOrStdout(), template)
			return err
		}
		if err := flags.combine(cmd, config, times); err != nil {
			return err
		}
		return run(cmd.Context(), &flags, cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	cmd.AddCommand(replayCommand(), statusCommand(), resetCommand(), manCommand())
	return cmd
}

// ofVehicle are the flags of settings that each vehicle has.
var ofVehicle = []string{"model", "vehicle", "points", "times", "rate", "predictor", "clock", "adapt", "record"}

// combine puts the settings of a file, "" = none, in the place of the flags that are not given.
func (s *settings) combine(cmd *cobra.Command, config string, times []time.Duration) error {
	given := cli.Given(cmd)
	*s = defaults()
	s.Model = "" // nobody's choice yet
	if config != "" {
		if err := s.readChecked(config); err != nil {
			return err
		}
	}
	for _, name := range ofVehicle {
		if _, ok := given[name]; ok && len(s.each) > 0 {
			return cli.Usage("--%s is for one vehicle, but %s describes %d: set it there", name, config, len(s.each))
		}
	}
	if given["points"] != "" || times != nil {
		s.Points, s.Times = 0, nil
	}
	for _, t := range times {
		s.Times = append(s.Times, duration(t))
	}
	delete(given, "times")
	for name, value := range given {
		if err := cmd.Flags().Set(name, value); err != nil {
			return err
		}
	}
	if s.Model == "" && len(s.each) == 0 {
		return cli.Usage("no model given: --model flight.dgm")
	}
	if err := s.check(); err != nil {
		return cli.Usage("%v", err)
	}
	return nil
}

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man [subcommand]",
		Short:  "Write the manual page",
		Hidden: true,
		Args:   cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			about := cmd.Root()
			if len(args) == 1 {
				sub, _, err := about.Find(args)
				if err != nil || sub == about {
					return cli.Usage("there is no subcommand %q", args[0])
				}
				about = sub
			}
			return cli.Manual(cmd.OutOrStdout(), about, files)
		},
	}
}

// files are listed in the manual.
const files = `/etc/dgm/estimator.toml: settings of the service, all of them with comments
/var/lib/dgm-estimator/flight.dgm: the model
/var/lib/dgm-estimator/trust: state of the trust monitor, kept over a restart`
