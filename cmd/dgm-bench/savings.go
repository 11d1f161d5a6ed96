package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/speed"
	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/dgm-robotics/dgm/trainer/datacheck"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// savingsStudy measures what each way to compute less saves and costs. Log likelihood and
// coverage are of measurements, means over all channels, points and windows; losses are
// against the first row, in the same windows.
func savingsStudy() *study.Study {
	var file, logFile string
	stride := 50 * time.Millisecond
	return &study.Study{
		Name: "savings", Tables: savingsTables,
		Short: "What it costs to compute less for a prediction",
		Long: `savings predicts a flight that a model has not seen, as it is and with less computed: the variance of
one member for that of all, at fewer points of the horizon and interpolated, one member alone, and what-if plans
in one message, whose answers must agree.

For each it measures the processor's time of a prediction (of a query: of server, estimator and
planner together) and what is lost of log likelihood and coverage of the 95 % interval of measurements, in the
same windows, with the interval of that loss (95 %, block bootstrap of windows).

Models are exported with the variance of one member. Train one with all of them to measure what that costs:

  echo 'variances = 3' > full.toml
  dgm-train --config full.toml --log flight.msgpack --out full.dgm`,
		Example: "  dgm-bench savings --model full.dgm --log another.msgpack",
		Numbers: []study.Flag{study.Duration("stride", "time between the starts of windows", &stride)},
		Flags: func(cmd *cobra.Command) {
			f := cmd.Flags()
			f.StringVar(&file, "model", "", "model to predict with")
			f.StringVar(&logFile, "log", "", "flight log that it has not seen")
		},
		Check: func() error {
			if file == "" || logFile == "" {
				return cli.Usage("a model and a log are needed: dgm-bench savings --model full.dgm --log another.msgpack")
			}
			return nil
		},
		Units: func() ([]study.Work, error) { return []study.Work{{Key: study.Key{Set: file + " on " + logFile}}}, nil },
		Run: func(ctx context.Context, u *study.Unit) error {
			m, err := model.ReadFile(file)
			if err != nil {
				return err
			}
			flights, err := flightsOf(m, logFile)
			if err != nil {
				return err
			}
			if err := measureSavings(ctx, m, flights, stride.Seconds(), u); err != nil {
				return fmt.Errorf("%s on %s: %w", file, logFile, err)
			}
			return addBatch(ctx, u, m)
		},
	}
}

func savingsTables(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
	interval := func(head, name string, decimals int) study.Column {
		return study.Column{Head: head, Cell: func(g study.Group) string {
			v, in := g[0].Number(name), g[0].Numbers(name+"_95")
			switch {
			case math.IsNaN(v):
				return ""
			case len(in) < 2:
				return fmt.Sprintf("%.*f", decimals, v)
			}
			return fmt.Sprintf("%.*f [%.*f, %.*f]", decimals, v, decimals, in[0], decimals, in[1])
		}}
	}
	return []study.Table{{
		Name: "savings", Title: "What it costs to compute less", Groups: study.GroupBy(rows, study.Single),
		Columns: []study.Column{
			study.TextOf("recording", "recording"), study.TextOf("saving", "saving"), study.MeanOf("time, µs", "time_us", 1), study.TextOf("time over that with one variance", "time_ratio"),
			study.MeanOf("log likelihood", "loglik", 4), interval("log likelihood lost [95 %]", "loglik_lost", 4), study.MeanOf("coverage 95", "coverage95", 4), interval("coverage lost [95 %]", "coverage_lost", 4), measured,
		},
	}}, nil
}

// flightsOf reads what is whole and plausible of a log.
func flightsOf(m *model.Model, path string) ([]window.Flight, error) {
	log, err := flightlog.ReadFile(path)
	if err != nil {
		return nil, err
	}
	used := slices.Concat(channel.Select(log.Channels, channel.State), channel.Select(log.Channels, channel.Input))
	if err := channel.SameLayout(m.Channels, used); err != nil {
		return nil, fmt.Errorf("%s: does not have the channels of the model: %w; use a log with its channels", path, err)
	}
	log.Channels = m.Channels
	found := datacheck.Check(log, datacheck.Options{})
	flights, _ := window.AllChecked(log, found.Masks, m.Channels, window.Options{})
	return flights, nil
}

// batchSize is how many what-if plans are in one message.
const batchSize = 64

// addBatch adds rows of what queries cost one by one and in one message, whose answers
// agree.
func addBatch(ctx context.Context, u *study.Unit, m *model.Model) error {
	alone, together, err := measureBatch(ctx, m)
	if err != nil {
		return err
	}
	for i, name := range []string{"a query at 50 points by itself", fmt.Sprintf("the same, one of %d in a message", batchSize)} {
		took := []speed.Least{alone, together}[i]
		r := u.Also(name).Put("saving", name).Put("time_us", math.Round(float64(took)/100)/10)
		for _, same := range []string{"loglik", "coverage95", "loglik_lost", "coverage_lost"} {
			r.Put(same, u.Number(same))
		}
		r.Put("loglik_lost_95", u.Numbers("loglik_lost_95")).Put("coverage_lost_95", u.Numbers("coverage_lost_95"))
	}
	return nil
}

// measureBatch queries an estimator over loopback NATS about as many plans, one by one
// and in one message, and returns the processor's time for one query each way, of
// server, estimator and planner together, the least of some rounds. The answers must
// agree.
func measureBatch(ctx context.Context, m *model.Model) (alone, together speed.Least, err error) {
	all, one := batchQuery(m)
	err = serving(ctx, m, func(s *rig) {
		nc := s.link(s.url(), "planner")
		s.await(func() bool { _, err := query(nc, &all); return err == nil }, // it may not listen yet
			func() error { _, err := query(nc, &all); return err })
		for range 10 {
			began := study.Busy()
			whole, err := query(nc, &all)
			s.must(err)
			together.Keep((study.Busy() - began) / batchSize)
			began = study.Busy()
			var mean, std []float64
			for i := range batchSize {
				a, err := query(nc, one(i))
				s.must(err)
				mean, std = append(mean, a.Mean...), append(std, a.Std...)
			}
			alone.Keep((study.Busy() - began) / batchSize)
			s.require(agree(mean, whole.Mean, std) && agree(std, whole.Std, std), "queries in one message are answered otherwise than one by one")
		}
	})
	return alone, together, err
}

// batchQuery returns a query about many plans, or states where a model has no inputs, and
// its parts. At 50 points and in single precision the answer fits into one message.
func batchQuery(m *model.Model) (all wire.Query, one func(i int) *wire.Query) {
	all = wire.Query{States: make([]float64, m.K), Timeout: int64(time.Minute), Dtype: "f4", Times: speed.Times(m.Horizon, 50)}
	if m.P > 0 {
		all.Rows, all.PlanDt = 10, m.Horizon/10
		for i := range batchSize * all.Rows * m.P {
			all.Plans = append(all.Plans, m.Inputs.InputMean[i%m.P]+0.5*m.Inputs.InputStd[i%m.P]*float64(i/m.P%7-3)/3)
		}
		return all, func(i int) *wire.Query {
			q, n := all, all.Rows*m.P
			q.Plans = all.Plans[i*n : (i+1)*n]
			return &q
		}
	}
	all.States = make([]float64, batchSize*m.K)
	for i := range all.States {
		all.States[i] = 0.1 * m.Scale[i%m.K] * float64(i%5)
	}
	return all, func(i int) *wire.Query {
		q := all
		q.States = all.States[i*m.K : (i+1)*m.K]
		return &q
	}
}

// query sends one query and returns its answer.
func query(nc *nats.Conn, q *wire.Query) (*wire.Answer, error) {
	msg, err := nc.Request(wire.QuerySubject(vehicle), q.Append(nil), 10*time.Second)
	if err != nil {
		return nil, fmt.Errorf("asking for predictions: %w", err)
	}
	if code := msg.Header.Get("Nats-Service-Error-Code"); code != "" {
		return nil, fmt.Errorf("a query was refused: %s", msg.Header.Get("Nats-Service-Error"))
	}
	a := new(wire.Answer)
	return a, a.Decode(msg.Data)
}

// agree reports whether numbers differ by no more than single precision does: 1e-3 standard deviations.
func agree(a, b, std []float64) bool {
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= 1e-3*std[i]) {
			return false
		}
	}
	return len(a) == len(b)
}
