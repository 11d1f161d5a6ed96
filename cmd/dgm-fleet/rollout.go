package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/keys"
)

func rolloutCommand() *cobra.Command {
	var o operator
	rule := fleet.UsualRule()
	var stop bool
	cmd := &cobra.Command{
		Use:   "rollout --sign private.pem [--group vehicles --model ID]",
		Short: "Test a model as shadow and canary, then let the group use it",
		Long: `Without a group: continue all rollouts until interrupted. With one: begin or continue its rollout until it has
ended. All vehicles of the group test the model as a shadow: it predicts, and its predictions are not published. If it is
significantly better and its intervals cover enough, the first vehicle, the canary, uses it; then the others do. A vehicle
whose coverage is too low with the model returns to the previous one. All state is on the server: the command can be killed
and restarted.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if stop {
				return o.decide(cmd, func(ctx context.Context, in *fleet.Installer) error {
					r, err := in.Stop(ctx, o.group)
					if err != nil {
						return err
					}
					return printRollout(cmd.OutOrStdout(), &r)
				})
			}
			if o.sign == "" {
				return cli.Usage("--sign, the operator's private key, is missing: every decision is signed")
			}
			key, err := keys.Private(o.sign)
			if err != nil {
				return err
			}
			return with(cmd, &o.server, func(ctx context.Context, c client) error {
				in, err := fleet.OpenInstaller(ctx, c.nc, key)
				if err != nil {
					return err
				}
				return rollOut(ctx, c, in, &o, rule, &lines{w: cmd.OutOrStdout()})
			})
		},
	}
	o.add(cmd)
	o.addModel(cmd, fleet.Newest)
	f := cmd.Flags()
	f.BoolVar(&stop, "stop", false, "end the rollout to the group; vehicles that use the model keep it")
	f.DurationVar(&rule.CanaryFor, "canary-for", rule.CanaryFor, "how long the canary uses the model before others do")
	f.IntVar(&rule.Windows, "windows", rule.Windows, "least number of windows of one horizon each, over which a shadow is compared")
	f.DurationVar(&rule.Longest, "longest", rule.Longest, "how long a model is tested as a shadow")
	return cmd
}

// rollOut begins a rollout, if there is a group, and carries rollouts on. The error reports one that did not reach its
// end.
func rollOut(ctx context.Context, c client, in *fleet.Installer, o *operator, rule fleet.Rule, out *lines) error {
	if o.group != "" {
		g, err := in.Group(ctx, o.group)
		if err != nil {
			return err
		}
		m, err := in.Find(ctx, g.Vehicles[0], o.model)
		if err != nil {
			return err
		}
		r, err := in.Begin(ctx, g, m.Ref(), rule)
		if err != nil {
			return err
		}
		if err := printRollout(out, &r); err != nil {
			return err
		}
	}
	robots, err := fleet.Listen(c.nc)
	if err != nil {
		return err
	}
	defer robots.Close()
	controller := &fleet.Controller{In: in, Robots: robots, Queue: c.queue, Log: out.print}
	if err := controller.Run(ctx, o.group); err != nil || o.group == "" || ctx.Err() != nil {
		return err
	}
	r, err := in.Rollout(ctx, o.group)
	if err != nil {
		return err
	}
	if r.Stage != fleet.StageDone {
		return errors.New("the rollout has not reached its end: " + r.Reason)
	}
	return nil
}

func printRollout(out io.Writer, r *fleet.Rollout) error {
	_, err := fmt.Fprintf(out, "rollout of model %s to %s: %s: %s\n", r.Model.Model, r.Group, r.Stage, r.Reason)
	return err
}
