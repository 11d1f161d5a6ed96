package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/link"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

func statusCommand() *cobra.Command {
	var (
		server  link.Flags
		vehicle string
		asJSON  bool
		wait    time.Duration
	)
	cmd := &cobra.Command{
		Use:   "status --nats nats://127.0.0.1:4222",
		Short: "Show the state of the running estimators",
		Long: `status waits for the status messages of the running estimators, which publish one a second, and prints
for each: input, rates, latency, live coverage of the intervals, refused states, and alarms with
remedies. The exit code is 1 if no status comes.`,
		Example: `  dgm-estimator status --nats nats://127.0.0.1:4222
  dgm-estimator status --vehicle pend1 --json`,
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	server.Add(f)
	f.StringVar(&vehicle, "vehicle", "", "show this vehicle only (default: all)")
	f.BoolVar(&asJSON, "json", false, "print a JSON array, with the fields of PROTOCOL.md and the alarms")
	f.DurationVar(&wait, "wait", 2500*time.Millisecond, "how long to wait for statuses")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		subject := wire.AllStatuses
		if vehicle != "" {
			if err := wire.CheckVehicle(vehicle); err != nil {
				return cli.Usage("--vehicle: %v", err)
			}
			subject = wire.StatusSubject(vehicle)
		}
		if wait <= 0 {
			return cli.Usage("--wait is %v, and must be positive", wait)
		}
		link := server.Link("dgm-estimator status", nil)
		nc, err := link.Connect()
		if err != nil {
			return err
		}
		defer nc.Close()
		all, err := statuses(cmd.Context(), nc, subject, wait)
		if err != nil && !nc.IsConnected() && cmd.Context().Err() == nil {
			err = errors.Join(fmt.Errorf("no server answers at %s within %v: start one, or check --nats and the credentials", link.Address(), wait), nc.LastError())
		}
		if err != nil {
			return err
		}
		if asJSON {
			return writeJSON(cmd.OutOrStdout(), all)
		}
		for i := range all {
			writeStatus(cmd.OutOrStdout(), &all[i])
		}
		return nil
	}
	return cmd
}

// statuses returns the last status of each estimator that publishes one within a time, by
// vehicle.
func statuses(ctx context.Context, nc *nats.Conn, subject string, within time.Duration) ([]wire.Status, error) {
	messages := make(chan *nats.Msg, 256)
	if _, err := nc.ChanSubscribe(subject, messages); err != nil {
		return nil, err
	}
	end := time.NewTimer(within)
	defer end.Stop()
	var all []wire.Status
	for {
		select {
		case m := <-messages:
			var s wire.Status
			if err := s.Decode(m.Data); err != nil {
				return nil, fmt.Errorf("%s: %w", m.Subject, err)
			}
			same := func(o wire.Status) bool { return o.Vehicle == s.Vehicle && o.Instance == s.Instance }
			all = append(slices.DeleteFunc(all, same), s)
		case <-end.C:
			slices.SortFunc(all, func(a, b wire.Status) int { return strings.Compare(a.Vehicle+a.Instance, b.Vehicle+b.Instance) })
			if len(all) > 0 {
				return all, nil
			}
			return nil, fmt.Errorf("no status came on %s within %v: is an estimator running at this server, and is this client permitted to subscribe?", subject, within)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func writeJSON(out io.Writer, all []wire.Status) error {
	list := make([]map[string]any, len(all))
	for i := range all {
		list[i] = all[i].Map()
		list[i]["alarms"] = append([]wire.Alarm{}, all[i].Alarms()...)
	}
	return cli.WriteJSON(out, list)
}

func writeStatus(out io.Writer, s *wire.Status) {
	ms := func(seconds float64) string { return fmt.Sprintf("%.2f ms", 1000*seconds) }
	fmt.Fprintf(out, "%s: model %s, instance %s, up %v\n", s.Vehicle, s.Model, s.Instance, time.Duration(s.Uptime*1e9).Round(time.Second))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "  input\t%s, %.1f Hz, %d received, %d lost on the way\n", input(s), s.StateRate, s.Received, s.Missed)
	fmt.Fprintf(w, "  predictions\t%.1f Hz, %d sent, of those %d late, %d shortened, %d widened\n", s.PredictRate, s.Published, s.Late, s.Shortened, s.Widened)
	if s.LatencyMax > 0 {
		fmt.Fprintf(w, "  latency\tp50 %s, p99 %s, at most %s\n", ms(s.LatencyP50), ms(s.LatencyP99), ms(s.LatencyMax))
	} else { // no prediction since the last status
		fmt.Fprint(w, "  latency\tp50 -, p99 -, at most -\n")
	}
	if s.PaceTime > 0 {
		fmt.Fprintf(w, "  pace\t%s for a prediction; the whole horizon takes %s, of which the model needs %s; the computer adds %s; the horizon is %.3g s, one state of %d is answered\n",
			ms(s.PaceTime), ms(s.PaceCost), ms(s.PaceOwn), ms(s.PaceEcho), s.PaceReach, max(s.PaceEvery, 1))
	}
	if n := s.PlansUnused + s.PlansHeld + s.PlansCut; n > 0 {
		fmt.Fprintf(w, "  plans\t%d unused, %d held after their end, %d cut at the horizon\n", s.PlansUnused, s.PlansHeld, s.PlansCut)
	}
	if s.History > 0 {
		fmt.Fprintf(w, "  history\t%d predictions without it, %d gaps\n", s.NoHistory, s.HistoryGaps)
	}
	if delays := delays(s); delays != "" {
		fmt.Fprintf(w, "  inputs\tbegin to act after: %s\n", delays)
	}
	if s.NIS > 0 {
		fmt.Fprintf(w, "  filter\tnormalised innovations squared %.2f (1 = consistent), correlation of successive innovations %.2f (0 = consistent), %d outliers, %d restarts\n", s.NIS, s.Whiteness, s.Rejected, s.FilterResets)
	}
	for _, r := range slices.Concat(s.Reasons, s.Silent) {
		fmt.Fprintf(w, "  not answered\t%d %s, the last %.0f s ago\n", r.Count, r.Reason, r.Age)
	}
	if text := adaptation(s); text != "" {
		fmt.Fprintf(w, "  adaptation\t%s\n", text)
	}
	if s.Recording != "" {
		fmt.Fprintf(w, "  recording\t%s, %d records dropped\n", s.Recording, s.Unrecorded)
	}
	_ = w.Flush() // as of every write to out
	writeCoverage(out, s)
	alarms := s.Alarms()
	if len(alarms) == 0 {
		fmt.Fprintln(out, "  no alarms")
	}
	for _, a := range alarms {
		fmt.Fprintf(out, "  ! %s: %s\n", a.Name, a.Text)
	}
}

func input(s *wire.Status) string {
	if s.Input == wire.InputNone {
		return "no state yet"
	}
	return fmt.Sprintf("%s, the last state %.3f s ago", s.Input, s.InputAge)
}

// adaptation describes what adaptation has learned, "" where it is switched off.
func adaptation(s *wire.Status) string {
	if s.Adapt == "" || s.Adapt == wire.AdaptOff {
		return ""
	}
	if s.AdaptNote != "" {
		return s.Adapt + ", and nothing is learned: " + s.AdaptNote
	}
	changes := cmp.Or(s.Changes(), "no change is significant")
	counts := map[string]string{wire.AdaptOn: "counts", wire.AdaptWatch: "would count"}[s.Adapt]
	return fmt.Sprintf("%s, %s %.0f %%: %s", s.Adapt, counts, 100*s.AdaptShare, changes)
}

// writeCoverage writes the table of live coverage, as far as anything was compared.
func writeCoverage(out io.Writer, s *wire.Status) {
	K := len(s.Channels)
	if K == 0 || len(s.Coverage) != K*len(s.Buckets) || len(s.Factor) != len(s.Coverage) || len(s.Coverage) == 0 || slices.Max(s.Coverage) < 0 {
		return
	}
	fmt.Fprintln(out, "  live coverage of 95 % intervals (and the factor with which they would cover 95 %)")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "    ")
	for _, b := range s.Buckets {
		fmt.Fprintf(w, "\tup to %.3g s", b)
	}
	fmt.Fprintln(w)
	for k, name := range s.Channels {
		fmt.Fprintf(w, "    %s", name)
		for b := range s.Buckets {
			if c := s.Coverage[b*K+k]; c >= 0 {
				fmt.Fprintf(w, "\t%.0f %% (%.2f)", 100*c, s.Factor[b*K+k])
			} else {
				fmt.Fprint(w, "\t-")
			}
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush()
}

// delays returns when the inputs act: "thrust 30 ms and a lag of 12 ms"; those that are not known are left out.
func delays(s *wire.Status) string {
	var out []string
	for i, name := range s.InputChannels {
		if i >= len(s.DeadTime) || i >= len(s.Lag) || s.DeadTime[i] < 0 {
			continue
		}
		one := fmt.Sprintf("%s %.0f ms", name, 1000*s.DeadTime[i])
		if s.Lag[i] >= 0.0005 {
			one += fmt.Sprintf(" and a lag of %.0f ms", 1000*s.Lag[i])
		}
		out = append(out, one)
	}
	return strings.Join(out, ", ")
}
