package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// chaosRow is the outcome of one scenario, as it stands in the JSON document.
type chaosRow struct {
	Scenario  string  `json:"scenario"`
	OK        bool    `json:"ok"`
	Lost      int     `json:"lost"`          // states without an answer, outside the fault and without a reason on the status
	Stale     int     `json:"stale"`         // predictions that were older than they said, or claimed to hold for longer than they do
	NonFinite int     `json:"nonfinite"`     // predictions that hold a number that is none
	Recovered float64 `json:"recovered_s"`   // from the end of the fault to the first answer to a state sent after it; 0 where nothing stopped
	Answered  int     `json:"answered"`      // predictions that there was nothing wrong with
	Dropped   int     `json:"dropped_late"`  // that a network held until they were over, as their valid_until tells a planner
	Why       string  `json:"why,omitempty"` // it is not ok
}

// scenario is something that surroundings do.
type scenario struct {
	name string
	run  func(ctx context.Context, t *trial) error
}

// scenarios in the order in which they are tried. Each has a server, an estimator,
// a robot and a planner of its own.
var scenarios = []scenario{
	{"server killed", serverKilled},
	{"server slow", serverSlow},
	{"partitioned for a minute", partitioned},
	{"partitioned for three seconds", partitionedBriefly},
	{"server restarted with other permissions", otherPermissions},
	{"any order of starts", anyOrder},
	{"stalled subscriber", stalledSubscriber},
	{"20x message flood", flood},
	{"malformed messages at full rate", malformed},
	{"disk full", diskFull},
	{"clock set forward by an hour", clockForward},
	{"clock set back by an hour", clockBack},
	{"stopped for 10 s", stopped},
	{"estimator killed", estimatorKilled},
	{"corrupt model offered", corruptModel},
	{"100 models swapped at 500 Hz", hundredSwaps},
	{"sender starts again", senderAgain},
	{"24 hours in fast time", dayInFastTime},
}

func chaosCommand() *cobra.Command {
	var only []string
	var asJSON, list bool
	var day time.Duration
	cmd := &cobra.Command{
		Use:   "chaos",
		Short: "What surroundings do to an estimator, and whether it lies",
		Long: `chaos does to an estimator what its surroundings may do, one scenario after the other, with a robot that
sends states all the while and a planner that looks at every prediction. A scenario is ok if the
planner saw nothing that is older than it says and nothing that is not finite, if no state was lost but
for the time of the fault, and if answers came back by themselves. What a network held until it was over
is counted as dropped: valid_until tells it to every planner.`,
		Example: `  dgm-bench chaos --json
  dgm-bench chaos --only "server killed,disk full"`,
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	f.StringSliceVar(&only, "only", nil, "only these scenarios")
	f.BoolVar(&list, "list", false, "list the scenarios and end")
	f.DurationVar(&day, "day", 24*time.Hour, "simulated time of the scenario in fast time")
	f.BoolVar(&asJSON, "json", false, "one JSON document on standard output and nothing else")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if list {
			for _, s := range scenarios {
				if _, err := fmt.Fprintln(cmd.OutOrStdout(), s.name); err != nil {
					return err
				}
			}
			return nil
		}
		chosen, err := choose(only)
		if err != nil {
			return err
		}
		if day < time.Minute {
			return cli.Usage("--day %v must be at least a minute", day)
		}
		rows, failed := []chaosRow{}, 0
		for _, s := range chosen {
			row := try(cmd.Context(), s, day)
			if cmd.Context().Err() != nil {
				return cmd.Context().Err()
			}
			if !row.OK {
				failed++
			}
			rows = append(rows, row)
			if !asJSON {
				if err := printChaos(cmd.OutOrStdout(), &row, len(rows) == 1); err != nil {
					return err
				}
			}
		}
		if asJSON {
			if err := json.NewEncoder(cmd.OutOrStdout()).Encode(struct {
				Chaos []chaosRow `json:"chaos"`
			}{rows}); err != nil {
				return err
			}
		}
		if failed > 0 {
			return fmt.Errorf("%d of %d scenarios are not ok", failed, len(rows))
		}
		return nil
	}
	return cmd
}

// choose returns the scenarios of these names, all for none.
func choose(names []string) ([]scenario, error) {
	if len(names) == 0 {
		return scenarios, nil
	}
	var out []scenario
next:
	for _, name := range names {
		for _, s := range scenarios {
			if s.name == strings.TrimSpace(name) {
				out = append(out, s)
				continue next
			}
		}
		return nil, cli.Usage("scenario %q is not known; --list shows all", name)
	}
	return out, nil
}

// try tries one scenario.
func try(ctx context.Context, s scenario, day time.Duration) chaosRow {
	row := chaosRow{Scenario: s.name}
	t, err := newTrial(day)
	if err == nil {
		err = s.run(ctx, t)
		err = t.end(&row, err)
	}
	if err != nil {
		row.Why = err.Error()
	}
	row.OK = err == nil
	return row
}

func printChaos(w io.Writer, r *chaosRow, first bool) error {
	if first {
		if _, err := fmt.Fprintf(w, "%-42s %-6s %6s %6s %9s %12s %9s %8s\n", "scenario", "ok", "lost", "stale", "nonfinite", "recovered/s", "answered", "dropped"); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%-42s %-6v %6d %6d %9d %12.2f %9d %8d %s\n", r.Scenario, r.OK, r.Lost, r.Stale, r.NonFinite, r.Recovered, r.Answered, r.Dropped, r.Why)
	return err
}
