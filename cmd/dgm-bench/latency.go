package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
)

// latencyRow is one measurement, as it stands in the JSON document.
type latencyRow struct {
	Rate    float64 `json:"rate_hz"`
	Points  int     `json:"points"`
	Loaded  bool    `json:"loaded"` // every core busy with something else
	P50     float64 `json:"p50_us"`
	P99     float64 `json:"p99_us"`
	P999    float64 `json:"p999_us"`
	Missing int     `json:"missing"`   // states that were never answered
	Late    int     `json:"late"`      // answered after the next state was sent
	Short   int     `json:"shortened"` // answered with the beginning of the horizon, for a newer state waited
	Memory  float64 `json:"resident_mb"`
	Growth  float64 `json:"resident_growth_mb"` // over the second half of the row
}

// latencyJob is what one row measures.
type latencyJob struct {
	rate     float64
	points   int
	loaded   bool
	duration time.Duration
	priority int
}

// standard are the rows without flags: what a fast and what a rich prediction cost.
var standard = []latencyJob{{rate: 1000, points: 20}, {rate: 500, points: 100}}

func latencyCommand() *cobra.Command {
	var (
		rates    []float64
		points   int
		duration time.Duration
		file     string
		load     string
		priority int
		asJSON   bool
	)
	cmd := &cobra.Command{
		Use:   "latency",
		Short: "Time from a state sent to its prediction received, over loopback NATS",
		Long: `latency starts a NATS server on the loopback and an estimator in a process of its own, sends states
from a client outside that process, and measures the time until each prediction is back there.

The model is artificial unless --model names one: 12 states, 4 inputs, 100 random features, one member.
A state that is never answered is missing; a prediction that comes after the next state was sent is
late. States that were held up and come together are all answered, those that a newer one has overtaken
with a shorter horizon: these are counted as shortened. More than 32 at a time are not: all but the newest
are missing. In a loaded row another process keeps every core busy.`,
		Example: `  dgm-bench latency --json
  dgm-bench latency --rate 1000 --points 20 --duration 10m --load both`,
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	f.Float64SliceVar(&rates, "rate", nil, "states a second; one row for each (default: 1000 with 20 points, 500 with 100)")
	f.IntVar(&points, "points", 100, "points of the horizon, with --rate")
	f.DurationVar(&duration, "duration", 20*time.Second, "how long a row is measured")
	f.StringVar(&file, "model", "", "model file to serve instead of an artificial one")
	f.StringVar(&load, "load", "both", "measure while every core is kept busy: no, yes, or both, a row of each")
	f.IntVar(&priority, "priority", 0, "real-time priority of the estimator's process, 1 to 89; needs the right to it")
	f.BoolVar(&asJSON, "json", false, "one JSON document on standard output and nothing else")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if points < 1 || points > 10000 {
			return cli.Usage("--points %d must be within 1 … 10000", points)
		}
		if load != "no" && load != "yes" && load != "both" {
			return cli.Usage("--load %q must be no, yes or both", load)
		}
		if priority < 0 || priority > 89 {
			return cli.Usage("--priority %d must be within 0 … 89", priority)
		}
		jobs := standard
		if len(rates) > 0 {
			jobs = nil
		}
		for _, r := range rates {
			if !(r >= 1 && r <= 10000) {
				return cli.Usage("--rate %g must be within 1 … 10000", r)
			}
			jobs = append(jobs, latencyJob{rate: r, points: points})
		}
		for _, j := range jobs {
			if duration.Seconds()*j.rate < 1 {
				return cli.Usage("--duration %v is shorter than one state at %g Hz", duration, j.rate)
			}
		}
		m := artificial.New(artificial.Quadrotor, 1)
		if file != "" {
			var err error
			if m, err = model.ReadFile(file); err != nil {
				return err
			}
		}
		var rows []latencyRow
		for _, loaded := range []bool{false, true} {
			if loaded && load == "no" || !loaded && load == "yes" {
				continue
			}
			for _, j := range jobs {
				j.loaded, j.duration, j.priority = loaded, duration, priority
				row, err := measureLatency(cmd.Context(), m, j)
				if err != nil {
					return err
				}
				rows = append(rows, row)
			}
		}
		if asJSON {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(struct {
				Latency []latencyRow `json:"latency"`
			}{rows})
		}
		return printLatency(cmd.OutOrStdout(), rows)
	}
	return cmd
}

func printLatency(w io.Writer, rows []latencyRow) error {
	_, err := fmt.Fprintf(w, "%8s %7s %7s %9s %9s %9s %8s %6s %9s %8s %8s\n", "rate/Hz", "points", "loaded", "p50/µs", "p99/µs", "p99.9/µs", "missing", "late", "shortened", "RSS/MB", "grown/MB")
	for _, r := range rows {
		if err == nil {
			_, err = fmt.Fprintf(w, "%8g %7d %7v %9.0f %9.0f %9.0f %8d %6d %9d %8.1f %8.1f\n", r.Rate, r.Points, r.Loaded, r.P50, r.P99, r.P999, r.Missing, r.Late, r.Short, r.Memory, r.Growth)
		}
	}
	return err
}
