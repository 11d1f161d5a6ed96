package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/datacheck"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// savingRow is what one way to save time costs, as it stands in the JSON document.
// Log likelihood and coverage are of measurements, means over all channels, points
// and windows; what is lost is against the first row, in the same windows.
type savingRow struct {
	Saving   string     `json:"saving"`
	Time     float64    `json:"time_us"` // of one prediction; 0 = not known
	LogLik   float64    `json:"loglik"`
	Coverage float64    `json:"coverage95"`
	Lost     float64    `json:"loglik_lost"` // of a number
	LostIn   [2]float64 `json:"loglik_lost_95"`
	Fewer    float64    `json:"coverage_lost"`
	FewerIn  [2]float64 `json:"coverage_lost_95"`
}

func savingsCommand() *cobra.Command {
	var file, logFile string
	var stride time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "savings --model full.dgm --log another.msgpack",
		Short: "What it costs to compute less for a prediction",
		Long: `savings predicts a flight that a model has not seen, as it is and with less computed: the variance of
one member for that of all, at fewer points of the horizon and interpolated, one member alone, and what-if plans
asked about in one message, whose answers are compared and must be the same.

For each it tells the processor's time of a prediction (of a question that is asked: of server, estimator and
planner together) and what is lost of log likelihood and coverage of the 95 % interval of measurements, in the
same windows, with the interval of that loss (95 %, block bootstrap of windows).

Models are exported with the variance of one member. Train one with all of them to see what that costs:

  echo 'variances = 3' > full.toml
  dgm-train --config full.toml --log flight.msgpack --out full.dgm`,
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	f.StringVar(&file, "model", "", "model to predict with")
	f.StringVar(&logFile, "log", "", "flight log that it has not seen")
	f.DurationVar(&stride, "stride", 50*time.Millisecond, "time between the starts of windows")
	f.BoolVar(&asJSON, "json", false, "one JSON document on standard output and nothing else")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		switch {
		case file == "" || logFile == "":
			return cli.Usage("a model and a log are needed: dgm-bench savings --model full.dgm --log another.msgpack")
		case stride <= 0:
			return cli.Usage("--stride %v must be positive", stride)
		}
		m, err := model.ReadFile(file)
		if err != nil {
			return err
		}
		flights, err := flightsOf(m, logFile)
		if err != nil {
			return err
		}
		rows, err := measureSavings(cmd.Context(), m, flights, stride.Seconds())
		if err != nil {
			return fmt.Errorf("%s on %s: %w", file, logFile, err)
		}
		if err := addBatch(&rows, m); err != nil {
			return err
		}
		if asJSON {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(struct {
				Savings []savingRow `json:"savings"`
			}{rows})
		}
		return printSavings(cmd.OutOrStdout(), rows)
	}
	return cmd
}

// addBatch adds what asking in batches costs, whose answers are the same.
func addBatch(rows *[]savingRow, m *model.Model) error {
	alone, together, err := measureBatch(m)
	if err != nil {
		return err
	}
	for _, b := range []struct {
		name string
		took time.Duration
	}{
		{"a question at 50 points, asked by itself", alone},
		{fmt.Sprintf("the same, one of %d in a message", batchSize), together},
	} {
		r := (*rows)[0]
		r.Saving, r.Time = b.name, math.Round(float64(b.took)/100)/10
		*rows = append(*rows, r)
	}
	return nil
}

// flightsOf reads what is whole and believable of a log.
func flightsOf(m *model.Model, path string) ([]window.Flight, error) {
	log, err := flightlog.ReadFile(path)
	if err != nil {
		return nil, err
	}
	used := slices.Concat(channel.Select(log.Channels, channel.State), channel.Select(log.Channels, channel.Input))
	if err := channel.SameLayout(m.Channels, used); err != nil {
		return nil, fmt.Errorf("%s: header: %w as the model has it; take a log with its channels", path, err)
	}
	log.Channels = m.Channels
	found := datacheck.Check(log, datacheck.Options{})
	flights, _ := window.AllChecked(log, found.Masks, m.Channels, window.Options{})
	return flights, nil
}

func printSavings(w io.Writer, rows []savingRow) error {
	_, err := fmt.Fprintf(w, "%-44s %8s %8s %24s %8s %22s\n", "saving", "time/µs", "loglik", "lost [95 %]", "in 95 %", "lost [95 %]")
	for _, r := range rows {
		if err == nil {
			_, err = fmt.Fprintf(w, "%-44s %8.1f %8.4f %8.4f [%6.4f, %6.4f] %8.4f %7.4f [%6.4f, %6.4f]\n",
				r.Saving, r.Time, r.LogLik, r.Lost, r.LostIn[0], r.LostIn[1], r.Coverage, r.Fewer, r.FewerIn[0], r.FewerIn[1])
		}
	}
	return err
}
