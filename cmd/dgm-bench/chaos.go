package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// chaosStudy runs the scenarios, each on a rig of its own.
func chaosStudy() *study.Study {
	var only []string
	var list bool
	l := lasts{day: 24 * time.Hour, soak: 30 * time.Second}
	return &study.Study{
		Name: "chaos", Summary: []string{"ok", "recovered_s", "why"}, Tables: chaosTables,
		Short: "Test an estimator under faults of its surroundings",
		Long: `chaos runs an estimator under faults of its surroundings, one scenario after the other, with a robot that
keeps sending states and a planner that checks every prediction. A scenario is ok if the
planner received no prediction that is older than its stamp or not finite, if no state was lost
outside the time of the fault, and if answers resumed without intervention. A prediction that arrives after
its valid_until is counted as dropped.`,
		Example: `  dgm-bench chaos --json
  dgm-bench chaos --list
  dgm-bench chaos --only "server killed,disk full"`,
		Numbers: []study.Flag{{Name: "day", Usage: "simulated time of the scenario in fast time, at least a minute", Value: &l.day, Least: 60, Changes: true},
			{Name: "soak", Usage: "time of the scenario soak, at least 7 s", Value: &l.soak, Least: 7, Changes: true}},
		Flags: func(cmd *cobra.Command) {
			f := cmd.Flags()
			f.StringSliceVar(&only, "only", nil, "only these scenarios")
			f.BoolVar(&list, "list", false, "list the scenarios and end")
		},
		List: func() []string {
			if !list {
				return nil
			}
			return scenarioNames()
		},
		Units: func() (units []study.Work, err error) {
			names := scenarioNames()
			if len(only) > 0 {
				names = only
			}
			for _, name := range names {
				i := slices.Index(scenarioNames(), strings.TrimSpace(name))
				if i < 0 {
					return nil, cli.Usage("scenario %q is not known; --list shows all", name)
				}
				units = append(units, study.Work{Key: study.Key{Set: scenarios[i].name}, Run: func(ctx context.Context, u *study.Unit) error {
					runScenario(ctx, scenarios[i], l, u.Row)
					return ctx.Err()
				}})
			}
			return units, nil
		},
		Failed: notOK("%d of %d scenarios are not ok"),
	}
}

// notOK returns a Failed of a study whose rows have a value "ok"; the format gets how many
// are not ok, of how many.
func notOK(format string) func(rows []*study.Row) error {
	return func(rows []*study.Row) error {
		if failed := study.Group(rows).Where(func(r *study.Row) bool { return !r.Is("ok") }); len(failed) > 0 {
			return fmt.Errorf(format, len(failed), len(rows))
		}
		return nil
	}
}

func scenarioNames() []string {
	var out []string
	for _, s := range scenarios {
		out = append(out, s.name)
	}
	return out
}

func chaosTables(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
	return []study.Table{{
		Name: "chaos", Title: "Faults of the surroundings", Groups: study.GroupBy(rows, study.Single),
		Columns: []study.Column{
			study.TextOf("scenario", "scenario"), study.TruthOf("ok", "ok"), study.MeanOf("lost", "lost", 0), study.MeanOf("stale", "stale", 0), study.MeanOf("not finite", "nonfinite", 0),
			study.MeanOf("recovered, s", "recovered_s", 2), study.MeanOf("answered", "answered", 0), study.MeanOf("dropped", "dropped_late", 0), study.TextOf("why", "why"), study.TextOf("passed", "passed"), measured,
		},
	}}, nil
}

// runScenario runs one scenario and puts its outcome into a row:
//
//	lost          states without any answer, outside the fault and without a reason on the status
//	stale         predictions that were older than they claim, or claim to hold for longer than they do
//	nonfinite     predictions with a number that is not finite
//	recovered_s   from the end of the fault to the first answer to a state sent after it; 0 where nothing stopped
//	answered      correct predictions
//	dropped_late  predictions that a network held until they were over, as a planner sees by their valid_until
//	figures       what the scenario has measured besides
//	why           the scenario is not ok
func runScenario(ctx context.Context, sc scenario, l lasts, r *study.Row) {
	r.Put("scenario", sc.name)
	s, err := newRig(ctx, l)
	if err == nil {
		err = s.guard(func() { sc.run(s) })
		err = s.end(r, err)
	}
	if err != nil {
		r.Put("why", err.Error())
	}
	r.Put("ok", err == nil)
}
