package main

import (
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// options are the flags.
type options struct {
	system string
	out    string
	seed   uint64
	keep   bool
	port   int
}

func command() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "dgm-demo",
		Short: "Record a simulated robot, learn its motion, predict it live",
		Long: `dgm-demo starts a NATS server and a simulated robot in this process, records a flight log, trains a
model with the quick preset, prints how it does on flights that it has not seen, starts the estimator,
and flies for half a minute: it publishes a state 100 times a second, listens to the predictions as a
planner would, and shows the predicted band, what then really happened, and how much of it lay inside.

It fails if a prediction is missing or not finite, if more than 2 % come after the next state, or if the
intervals of 95 % hold less than 88 or more than 99.5 % of what is then measured.`,
		Example: `  dgm-demo
  dgm-demo --system quadrotor
  dgm-demo --keep --port 4222`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			sc, ok := sceneOf(o.system)
			switch {
			case !ok:
				return cli.Usage("--system %q is neither pendulum nor quadrotor", o.system)
			case o.port < 0 || o.port > 65535:
				return cli.Usage("--port %d is no port", o.port)
			case o.port != 0 && !o.keep:
				return cli.Usage("--port is for --keep: without it nothing listens on a port")
			}
			return run(cmd.Context(), o, sc, cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.system, "system", "pendulum", "pendulum (2 states, 1 input) or quadrotor (12 states, 4 inputs)")
	f.StringVar(&o.out, "out", "", "folder to write to (default: a new one for temporary files)")
	f.Uint64Var(&o.seed, "seed", 1, "everything random follows from it")
	f.BoolVar(&o.keep, "keep", false, "fly on until Ctrl-C, with the NATS server open on the loopback")
	f.IntVar(&o.port, "port", 0, "port of the server with --keep; 0 = any that is free")
	return cmd
}
