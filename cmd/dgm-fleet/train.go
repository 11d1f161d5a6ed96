package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/link"
	"github.com/dgm-robotics/dgm/cmd/internal/recipe"
	"github.com/dgm-robotics/dgm/trainer"
)

// choice selects what is trained.
type choice struct {
	vehicle string // pattern
	since   days
	again   bool
}

func trainCommand() *cobra.Command {
	var server link.Flags
	var o choice
	var preset, config string
	var every days
	cmd := &cobra.Command{
		Use:   "train --vehicle pattern",
		Short: "Queue one training job for each vehicle with logs",
		Long: `Queue one training job for each vehicle with logs, for the workers. A job with the same logs, settings and
version exists once: submitted again it stays as it is, and what is done is not trained again. So the command can run
on a schedule: that of the system, or --every.`,
		Example: `  dgm-fleet train --vehicle 'drone-*' --since 7d
  dgm-fleet train --vehicle 'drone-*' --since 1d --every 1d
  dgm-fleet train --vehicle drone-1 --config train.toml --again`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := path.Match(o.vehicle, ""); err != nil {
				return cli.Usage("--vehicle %q is no pattern such as 'drone-*'", o.vehicle)
			}
			if every != 0 && time.Duration(every) < time.Second {
				return cli.Usage("--every %v must be at least 1s", time.Duration(every))
			}
			cfg, err := recipe.Settings(preset, config)
			if err != nil {
				return err
			}
			return with(cmd, &server, func(ctx context.Context, c client) error {
				for ctx.Err() == nil {
					_, err := submit(ctx, c, o, cfg, cmd.OutOrStdout())
					if every == 0 {
						return err
					}
					if err != nil && ctx.Err() == nil { // no logs, or the link: the next time there may be
						fmt.Fprintf(cmd.ErrOrStderr(), "dgm-fleet: %v\n", err)
					}
					cli.Wait(ctx, time.Duration(every))
				}
				return nil
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.vehicle, "vehicle", "", "`pattern` of the vehicles, such as 'drone-*'")
	f.Var(&o.since, "since", "only logs uploaded within this time, such as 7d (default: all)")
	f.Var(&every, "every", "queue repeatedly at this interval until interrupted, such as 1d")
	f.BoolVar(&o.again, "again", false, "queue jobs again that have failed or were cancelled")
	f.StringVar(&preset, "preset", "default", "settings to start from: default, or quick (a third of the time or less; larger uncertainty)")
	f.StringVar(&config, "config", "", "settings file over the preset, as dgm-train --print-config prints it")
	server.Add(f)
	cli.Require(cmd, "vehicle")
	return cmd
}

// submit queues a job for each vehicle and returns their IDs.
func submit(ctx context.Context, c client, o choice, cfg trainer.Config, out io.Writer) (ids []string, err error) {
	logs, _, err := c.logs.List(ctx)
	if err != nil {
		return nil, err
	}
	by := map[string][]string{}
	for _, l := range logs {
		if ok, _ := path.Match(o.vehicle, l.Vehicle); ok && (o.since == 0 || time.Since(l.Uploaded) <= time.Duration(o.since)) {
			by[l.Vehicle] = append(by[l.Vehicle], l.ID)
		}
	}
	if len(by) == 0 {
		return nil, fmt.Errorf("no log of a vehicle %s was uploaded in this time; dgm-bridge upload stores logs, dgm-fleet status lists them", o.vehicle)
	}
	for _, vehicle := range slices.Sorted(maps.Keys(by)) {
		s, err := c.queue.Submit(ctx, fleet.NewJob(vehicle, by[vehicle], cfg.TOML(), cli.Version()), o.again)
		if err != nil {
			return ids, err
		}
		ids = append(ids, s.ID)
		text := fmt.Sprintf("job %s of %s on %s: %s", s.ID, vehicle, cli.Count(len(s.Logs), "log"), s.State)
		if s.Reason != "" {
			text += ": " + s.Reason
		}
		if _, err := fmt.Fprintln(out, text); err != nil {
			return ids, err
		}
	}
	return ids, nil
}

func cancelCommand() *cobra.Command {
	var server link.Flags
	cmd := &cobra.Command{
		Use:   "cancel JOB",
		Short: "Cancel a job; its worker stops within seconds",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(cmd, &server, func(ctx context.Context, c client) error {
				s, err := c.queue.Cancel(ctx, args[0])
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "job %s of %s: %s\n", s.ID, s.Vehicle, s.State)
				return err
			})
		},
	}
	server.Add(cmd.Flags())
	return cmd
}
