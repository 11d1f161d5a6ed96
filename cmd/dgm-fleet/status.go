package main

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/link"
	"github.com/dgm-robotics/dgm/estimator/durable"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

func statusCommand() *cobra.Command {
	var server link.Flags
	var asJSON bool
	var public string
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "status",
		Short: "List vehicles with their models, rollouts, logs, models, and jobs with their state",
		Long: `List what runs where, rollouts, logs and models, and the jobs with their state. With --public-key only what the operator's key
has signed counts as decided, and what else is in the log of decisions is named, as are vehicles that do not follow it; see
dgm-fleet log. Without, what was decided is marked as not verified.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			key, err := publicKey(public)
			if err != nil {
				return err
			}
			return with(cmd, &server, func(ctx context.Context, c client) error {
				robots, err := fleet.Listen(c.nc)
				if err != nil {
					return err
				}
				defer robots.Close()
				cli.Wait(ctx, wait) // vehicles report once a second
				s, err := readStatus(ctx, c, robots, key)
				if err != nil {
					return err
				}
				if asJSON {
					return cli.WriteJSON(cmd.OutOrStdout(), &s)
				}
				return printStatus(cmd.OutOrStdout(), &s)
			})
		},
	}
	addPublicKey(cmd, &public)
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON document on standard output")
	cmd.Flags().DurationVar(&wait, "wait", 2500*time.Millisecond, "how long to listen for the statuses of vehicles, which come once a second")
	server.Add(cmd.Flags())
	return cmd
}

// readStatus reads the status; robots may be nil. A nil key verifies no decision.
func readStatus(ctx context.Context, c client, robots *fleet.Robots, key ed25519.PublicKey) (fleet.Status, error) {
	in, err := fleet.OpenReader(ctx, c.nc, key)
	if err != nil {
		return fleet.Status{}, err
	}
	s, err := fleet.ReadStatus(ctx, c.logs, c.queue, in, robots)
	if err == nil {
		s.OldStores, err = fleet.OldStores(ctx, c.nc)
	}
	if err != nil || key == nil {
		return s, err
	}
	all, err := fleet.ReadDecisions(ctx, c.nc, key)
	if err != nil {
		return s, err
	}
	if s.Verified, s.Faults = true, all.Faults; robots != nil {
		s.Faults = append(s.Faults, all.Witnesses(robots)...)
	}
	return s, nil
}

// printRobots prints what runs where.
func printRobots(out io.Writer, s *fleet.Status) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "ROBOT\tLINK\tMODEL\tSINCE\tCOVERAGE OF 95 %\tFACTOR\tALARMS\tLAST LOG\tSHADOW\tDECIDED")
	decisions := 0
	for i := range s.Robots {
		r := &s.Robots[i]
		shadow, decided := "-", "-"
		if t := r.Shadow; t != nil {
			shadow = fmt.Sprintf("%.8s: %d windows, difference %.3g, coverage %.0f %%", shown(t.Model), t.Windows, t.Difference, 100*t.Coverage)
		}
		if d := r.Decided; d != nil && d.Flown != nil {
			decisions++
			if decided = fmt.Sprintf("%.8s", shown(d.Flown.Model)); d.Pin != "" {
				decided += ", pinned to " + shown(d.Pin)
			}
			if !s.Verified {
				decided += " (not verified)"
			}
		}
		var covered []string
		for _, u := range slices.Sorted(maps.Keys(r.Coverage)) {
			covered = append(covered, strings.TrimSpace(fmt.Sprintf("%.0f %% %s", 100*r.Coverage[u], shown(u))))
		}
		fmt.Fprintf(w, "%s\t%s\t%.8s\t%s\t%s\t%.2g\t%s\t%s\t%s\t%s\n", r.Vehicle, r.Link, shown(r.Model), moment(r.Since), strings.Join(covered, ", "), r.Factor, quoted(strings.Join(r.Alarms, ", ")), moment(r.LastLog), shadow, decided)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	doubt := ""
	if !s.Verified {
		if doubt = " (not verified)"; len(s.Rollouts) > 0 || decisions > 0 {
			fmt.Fprintln(w, "decisions are not verified without a public key: give --public-key")
		}
	}
	for _, text := range s.Faults {
		fmt.Fprintf(w, "! %s\n", shown(text))
	}
	for _, r := range s.Rollouts {
		fmt.Fprintf(w, "rollout of %.8s to %s%s: %s since %s: %q\n", shown(r.Model.Model), r.Group, doubt, r.Stage, moment(&r.Since), r.Reason)
		for _, v := range slices.Sorted(maps.Keys(r.LeftOut)) {
			fmt.Fprintf(w, "  without %s: %q\n", v, r.LeftOut[v])
		}
	}
	fmt.Fprintln(w)
	return w.Flush()
}

// moment returns a time for people, "-" where it is not known.
func moment(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.Local().Format(time.DateTime)
}

// quoted returns a text that a robot or worker has sent in quotes, "-" for none.
func quoted(text string) string {
	if text == "" {
		return "-"
	}
	return strconv.Quote(text)
}

// shown returns a text that a robot or worker has sent, on one line and without what a terminal carries out.
func shown(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

func printStatus(out io.Writer, s *fleet.Status) error {
	if err := printRobots(out, s); err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "VEHICLE\tLOGS\tMB\tLAST LOG\tMODELS\tNEWEST\tTRAINED\tCOVERAGE OF 95 %")
	for _, v := range s.Vehicles {
		last, id, trained, coverage := moment(v.LastLog), "-", "-", "-"
		if m := v.Newest; m != nil {
			id, trained = shown(m.ID), moment(&m.Trained)
			if m.HeldOut.Windows > 0 {
				coverage = fmt.Sprintf("%.1f…%.1f %%", 100*m.HeldOut.Cover95[0], 100*m.HeldOut.Cover95[1])
			}
		}
		fmt.Fprintf(w, "%s\t%d\t%.1f\t%s\t%d\t%s\t%s\t%s\n", v.Vehicle, v.Logs, float64(v.Bytes)/1e6, last, v.Models, id, trained, coverage)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, "\nJOB\tOF\tLOGS\tSTATE\tPROGRESS\tTRIES\tWORKER\tUPDATED\tREASON")
	for _, j := range s.Jobs {
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%.0f %%\t%d\t%s\t%s\t%s\n", j.ID, j.Vehicle, len(j.Logs), shown(string(j.State)), 100*j.Progress, j.Tries, shown(j.Worker), j.Updated.Local().Format(time.DateTime), quoted(j.Reason))
	}
	if s.KeepJobs > 0 {
		fmt.Fprintf(w, "jobs are listed for %.3g days after their end\n", s.KeepJobs/86400)
	}
	for _, u := range s.Unreadable {
		fmt.Fprintf(w, "skipped: %q\n", u)
	}
	if len(s.OldStores) > 0 {
		fmt.Fprintln(w, oldStores(s.OldStores))
	}
	return w.Flush()
}

func fetchCommand() *cobra.Command {
	var server link.Flags
	var vehicle, out string
	cmd := &cobra.Command{
		Use:     "fetch",
		Short:   "Write the newest model of a vehicle to a file",
		Example: "  dgm-fleet fetch --vehicle drone-1 --out flight.dgm",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := wire.CheckVehicle(vehicle); err != nil {
				return err
			}
			return with(cmd, &server, func(ctx context.Context, c client) error {
				newest, err := c.models.Newest(ctx, vehicle)
				if err != nil {
					return err
				}
				file, err := c.models.Fetch(ctx, newest)
				if err != nil {
					return err
				}
				if err := durable.WriteFile(out, file); err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "wrote %s: model %s of %s, trained %s: %s\n", out, shown(newest.ID), vehicle, newest.Trained.Local().Format(time.DateTime), shown(newest.HeldOut.Verdict))
				return err
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&vehicle, "vehicle", "", "whose model")
	f.StringVar(&out, "out", "", "model file to write")
	server.Add(f)
	cli.Require(cmd, "vehicle", "out")
	return cmd
}
