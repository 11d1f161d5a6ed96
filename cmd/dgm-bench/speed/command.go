// Package speed measures what a prediction costs: the plain predictor and the fast one.
package speed

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// Study returns the measurement "predict".
func Study() *study.Study {
	var (
		duration = 2 * time.Second
		points   []int
		file     string
	)
	return &study.Study{
		Name: "predict", File: "speed",
		Short: "Time of one prediction, plain and fast",
		Long: `predict measures predictions on one thread: the plain predictor and the fast one.

Times are the minimum of many measurements, in turns, so that other work on the computer has little effect; times of
milliseconds are processor times. The 99th percentile is elapsed time, with all other work. The worst input is the slowest of 30,
with numbers from 1e-300 to 1e10, over their median. Loading is the processor time from
the bytes of a model file to a ready predictor, with the model's self-checks.

Models are artificial, with the sizes of simulated systems: in the paper's form
(one member, core 10-5, D = 3) and in the default form (three members, one of which
gives variances, basis 2; as prior dynamics two equations, three nets, and a direct map that reads history).
On the fast predictor a covariance of the start is propagated, if the model reads one.`,
		Example: `  dgm-bench predict --json
  dgm-bench predict --model flight.dgm --points 20,100`,
		Summary: []string{"fast_us"},
		Numbers: []study.Flag{
			study.Duration("duration", "how long a row is measured", &duration),
			{Name: "points", Usage: "points of the horizon; a row for each (default: 100, and 20 and 50 for two rows)", Value: &points, Least: 1, Most: 10000},
		},
		Flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&file, "model", "", "measure this model file alone")
		},
		Units: func() ([]study.Work, error) {
			jobs := standard(points)
			if file != "" {
				m, err := model.ReadFile(file)
				if err != nil {
					return nil, err
				}
				jobs = ofFile(m, points)
			}
			var all []study.Work
			for _, j := range jobs {
				k := study.Key{Set: strings.TrimSpace(j.system + " " + file), Variant: fmt.Sprintf("%s-%d-%d", j.form, j.m.Members[0].Map.F, j.points)}
				all = append(all, study.Work{Key: k, Run: func(_ context.Context, u *study.Unit) error { return j.measure(u.Row, duration) }})
			}
			return all, nil
		},
		Tables: tables,
	}
}

func tables(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
	by := study.GroupBy(rows, study.Single)
	system, points := study.TextOf("system", "system"), study.MeanOf("points", "points", 0)
	return []study.Table{{
		Name: "predict-cost", Title: "Cost of a prediction", Groups: by,
		Columns: []study.Column{
			system, study.TextOf("form", "form"), study.MeanOf("F", "features", 0), points, study.MeanOf("members", "members", 0),
			study.Digits("plain, ms", "plain_us", 1e-3, 3), study.Digits("fast, µs", "fast_us", 1, 3), study.MeanOf("with a covariance of the start, µs", "fast_covariance_us", 0),
			study.MeanOf("p99, µs", "fast_p99_us", 1), study.MeanOf("worst", "worst_input", 2), study.MeanOf("allocs", "allocs", 0),
			study.MeanOf("file, kB", "file_kb", 0), study.Digits("to load, ms", "load_ms", 1, 2), study.TextOf("measured", "measured"),
		},
	}}, nil
}
