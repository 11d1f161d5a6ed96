package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/dgm-fleet/chaos"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/trainer"
)

func chaosCommand() *cobra.Command {
	o := chaos.Options{Robots: 20, Workers: 3, Duration: time.Minute}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "chaos",
		Short: "Kill, partition and fill a simulated fleet, and count what is lost",
		Long: `Start three servers in a cluster, a controller, workers and robots on the loopback, each in its own process, and disturb
them: processes are killed at random; a leaf node with a quarter of the robots is cut off; the servers' stores are full; their
disks are full (if file systems may be mounted). Robots upload logs, synthetic models are trained and promoted, and some models
are replaced by unsigned ones or those of other vehicles. After each scenario all acknowledged data are checked.

The other scenarios have a server with an account for each role: a robot's or a viewer's credential is stolen, a
robot sends statuses of another, one log of three is unusable, a worker's clock is wrong, a canary reports no scores of its model.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Robots < 1 || o.Robots > 99 || o.Workers < 1 || o.Duration < time.Second {
				return cli.Usage("--robots must be within 1 … 99, --workers at least 1, --duration at least 1s")
			}
			var err error
			if o.Program, err = os.Executable(); err != nil {
				return err
			}
			o.Accounts, o.Train, o.Settings = accountsForChaos, train, trainer.Quick().TOML()
			o.Log = func(line string) { fmt.Fprintf(cmd.ErrOrStderr(), "dgm-fleet: %s\n", line) }
			all, err := chaos.Run(cmd.Context(), o)
			if err != nil {
				return err
			}
			if asJSON {
				err = json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{"chaos": all})
			} else {
				w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 8, 2, ' ', 0)
				fmt.Fprintln(w, "SCENARIO\tOK\tDISTURBANCES\tJOBS\tLOST\tRESULTS TWICE\tLOGS\tLOST\tPROMOTIONS\tWRONG MODELS\tROBOTS BEHIND\tTRIED\tTHROUGH\tPREDICTION p50, p99, ms\tECHO p50, p99, ms\tUNANSWERED\tERROR")
				for _, r := range all {
					fmt.Fprintf(w, "%s\t%v\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.2f, %.2f\t%.2f, %.2f\t%d of %d\t%q\n", r.Scenario, r.OK, r.Kills, r.Jobs, r.JobsLost, r.ResultsTwice, r.Logs, r.LogsLost, r.Models, r.WrongModels, r.Behind, r.Tried, len(r.Through),
						1e3*r.Latency.PredictP50, 1e3*r.Latency.PredictP99, 1e3*r.Latency.EchoP50, 1e3*r.Latency.EchoP99, r.Latency.Unanswered, r.Latency.Pairs, r.Error+r.Skip)
				}
				err = w.Flush()
			}
			for _, r := range all {
				if !r.OK {
					err = errors.Join(err, errors.New("scenario "+r.Scenario+" has failed"))
				}
			}
			return err
		},
	}
	f := cmd.Flags()
	f.DurationVar(&o.Duration, "duration", o.Duration, "duration of the disturbances of each scenario")
	f.StringSliceVar(&o.Scenarios, "scenario", nil, strings.Join(chaos.Names(), ", ")+" (default: all)")
	f.IntVar(&o.Robots, "robots", o.Robots, "simulated robots")
	f.IntVar(&o.Workers, "workers", o.Workers, "workers")
	f.BoolVar(&asJSON, "json", false, "one JSON document on standard output")
	return cmd
}

// accountsForChaos starts the server that dgm-fleet setup describes.
func accountsForChaos(ctx context.Context) (chaos.Server, error) {
	s, keys, err := ownServer(ctx, 0, false)
	if err != nil {
		return chaos.Server{}, err
	}
	url := s.ClientURL()
	out := chaos.Server{Connect: func(role string) (*nats.Conn, error) { return connectAs(url, keys, role) }}
	out.Close = func() {
		s.Shutdown()
		s.WaitForShutdown()
		_ = os.RemoveAll(filepath.Dir(keys)) // a temporary folder
	}
	if out.Robots, err = robotsOf(keys); err != nil {
		out.Close()
	}
	return out, err
}

// chaosPartCommand is a process of dgm-fleet chaos.
func chaosPartCommand() *cobra.Command {
	return &cobra.Command{
		Use: chaos.Command + " DESCRIPTION", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return chaos.RunPart(cmd.Context(), args[0]) },
	}
}
