package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/dgm-view/page"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/trainer/report"
)

// options are the flags.
type options struct {
	system string
	out    string
	seed   uint64
	faults []string
	keep   bool
	port   int
}

func command() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "dgm-demo",
		Short: "Record a simulated robot, train a model, predict live",
		Long: `dgm-demo starts a NATS server and a simulated robot in this process, records a flight log, trains a
model with the quick preset, prints its scores on held-out flights, starts the estimator, and flies for half
a minute: it publishes a state 100 times a second, receives the predictions as a planner would, and shows
the predicted band, the measurements that followed, and the coverage.

It fails if a prediction is missing or not finite, if the coverage of 95 % intervals is below 88 or above
99.5 %, or if more than 2 % of the predictions are overdue (arrive after the next state) while the computer is
idle. An echo of every state shows when the computer is busy with other work; overdue predictions are then only
reported. The estimator's count "late" differs: it counts predictions sent after their deadline.

With --fault the robot changes in flight and the estimator adapts. The demo prints error and interval before the
change, right after it and from 5 s after it on, and draws them in change.svg. There is then no lower limit of the
coverage. The simulated controller does not know that the robot has changed: with a worn rotor its plan will not be
flown, and the prediction is for the plan.

It ends with the verdict on the model, the report to open, and the next command.`,
		Example: `  dgm-demo
  dgm-demo --system quadrotor
  dgm-demo --system quadrotor --fault payload=0.333:12s
  dgm-demo --keep --port 4222`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			sc, ok := sceneOf(o.system)
			switch {
			case !ok:
				return cli.Usage("--system %q is neither pendulum nor quadrotor", o.system)
			case o.port < 0 || o.port > 65535:
				return cli.Usage("--port %d is not within 0…65535", o.port)
			case o.port != 0 && !o.keep:
				return cli.Usage("--port needs --keep: without it nothing listens on a port")
			}
			for _, text := range o.faults {
				if err := sc.flown.AddFault(text); err != nil {
					return cli.Usage("--fault %v", err)
				}
			}
			at, ok := sc.flown.Onset()
			if ok {
				sc.limits.Low = 0 // before the change is learned, intervals cover little
			}
			if ok && !(at >= earliestChange.Seconds() && at <= (sc.flight-afterChange).Seconds()) {
				return cli.Usage("--fault: the robot changes at %g s, and must from %v to %v of the flight", at, earliestChange, sc.flight-afterChange)
			}
			return run(cmd.Context(), o, sc, cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.system, "system", "pendulum", "pendulum (2 states, 1 input) or quadrotor (12 states, 4 inputs)")
	f.StringVar(&o.out, "out", "", "folder to write to (default: a new one for temporary files)")
	f.Uint64Var(&o.seed, "seed", 1, "seed of everything random")
	f.StringArrayVar(&o.faults, "fault", nil, `change the robot in flight, "payload=0.3:12s" or "worn=0.2:12s@F1" (repeatable, see dgm-sim list)`)
	f.BoolVar(&o.keep, "keep", false, "continue until Ctrl-C, with the NATS server open on the loopback")
	f.IntVar(&o.port, "port", 0, "port of the server with --keep; 0 = any that is free")
	return cmd
}

// run goes through the stages. However it ends, it lists what was written, and concludes where
// a model was judged.
func run(ctx context.Context, o options, sc *scene, w io.Writer) (err error) {
	began := time.Now()
	out, err := openOutput(o.out)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // of the page
	if err != nil {
		return err
	}
	defer l.Close()
	origins := page.Origins(l.Addr())
	s, err := serve(o, origins)
	if err != nil {
		return err
	}
	defer stop(s)
	screen := newScreen(w)
	if o.keep {
		fmt.Fprintf(screen, "A NATS server listens at %s until Ctrl-C; the page %s/ shows the flight.\n", s.ClientURL(), origins[0])
		go func() { _ = page.Serve(ctx, l, page.Settings{Servers: []string{s.WebsocketURL()}}) }() // until the end of the demo
	}
	var verdict *report.Verdict // nil before there is one
	defer func() {
		out.list(screen)
		if err == nil {
			fmt.Fprintf(screen, "Done in %.0f s.\n", time.Since(began).Seconds())
		}
		if verdict != nil {
			conclusion(screen, verdict, out.path(pageName))
		}
	}()
	if err := recordFlights(ctx, sc, o.seed, out, screen); err != nil {
		return err
	}
	if verdict, err = learn(ctx, sc, out, screen); err != nil {
		return err
	}
	return fly(ctx, o, sc, s, out, screen)
}
