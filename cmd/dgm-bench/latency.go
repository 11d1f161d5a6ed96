package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/node/realtime"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

const (
	vehicle   = "bench"
	warmUp    = 20               // states that are not counted
	patience  = 10 * time.Second // for what starts
	straggler = time.Second      // for the last answers
)

// latencyJob is what one row measures.
type latencyJob struct {
	rate     float64 // states a second, Hz
	points   int     // of the horizon
	loaded   bool    // another process keeps every core busy
	duration time.Duration
	priority int
}

// standard are the rows without flags: what a fast and what a rich prediction cost.
var standard = []latencyJob{{rate: 1000, points: 20}, {rate: 500, points: 100}}

func latencyStudy() *study.Study {
	var (
		rates []float64
		job   = latencyJob{points: 100, duration: 20 * time.Second}
		file  string
		load  string
	)
	return &study.Study{
		Name: "latency", Summary: []string{"p50_us", "p999_us", "missing", "late"}, Tables: latencyTables,
		Short: "Time from a state sent to its prediction received, over loopback NATS",
		Long: `latency starts a NATS server on the loopback and an estimator in a process of its own, sends states
from a client outside that process, and measures the time until each prediction is back there.

The model is artificial unless --model names one: 12 states, 4 inputs, 100 random features, one member.
A state that is never answered is missing; a prediction that comes after the next state was sent is
late. States that were delayed and arrive together are all answered, superseded ones with a shortened
horizon: these are counted as shortened. More than 32 at a time are not: all but the newest
are missing. In a loaded row another process keeps every core busy.`,
		Example: `  dgm-bench latency --json
  dgm-bench latency --rate 1000 --points 20 --duration 10m --load both`,
		Numbers: []study.Flag{
			{Name: "points", Usage: "points of the horizon, with --rate", Value: &job.points, Least: 1, Most: 10000},
			{Name: "duration", Usage: "how long a row is measured", Value: &job.duration, Changes: true},
			{Name: "priority", Usage: "real-time priority of the estimator's process, 1 to 89; needs the right to it", Value: &job.priority, Most: 89, Changes: true},
		},
		Flags: func(cmd *cobra.Command) {
			f := cmd.Flags()
			f.Float64SliceVar(&rates, "rate", nil, "states a second; one row for each (default: 1000 with 20 points, 500 with 100)")
			f.StringVar(&file, "model", "", "model file to serve instead of an artificial one")
			f.StringVar(&load, "load", "both", "measure while every core is kept busy: no, yes, or both, a row of each")
		},
		Units: func() ([]study.Work, error) {
			m := artificial.New(artificial.Quadrotor, 1)
			if file != "" {
				var err error
				if m, err = model.ReadFile(file); err != nil {
					return nil, err
				}
			}
			return job.units(m, file, rates, load)
		},
	}
}

// units returns what is measured of a model, of a file or artificial, at so many rates, with
// and without load.
func (j latencyJob) units(m *model.Model, file string, rates []float64, load string) (units []study.Work, err error) {
	all := standard
	if len(rates) > 0 {
		all = nil
	}
	for _, r := range rates {
		if !(r >= 1 && r <= 10000) {
			return nil, cli.Usage("--rate %g must be within 1 … 10000", r)
		}
		all = append(all, latencyJob{rate: r, points: j.points})
	}
	loads := map[string][]bool{"no": {false}, "yes": {true}, "both": {false, true}}[load]
	if loads == nil {
		return nil, cli.Usage("--load %q must be no, yes or both", load)
	}
	for _, loaded := range loads {
		for _, one := range all {
			if j.duration.Seconds()*one.rate < 1 {
				return nil, cli.Usage("--duration %v is shorter than one state at %g Hz", j.duration, one.rate)
			}
			one.loaded, one.duration, one.priority = loaded, j.duration, j.priority
			k := study.Key{Set: strings.TrimSpace(fmt.Sprintf("%g Hz, %d points %s", one.rate, one.points, file)), Variant: map[bool]string{true: "loaded"}[loaded]}
			units = append(units, study.Work{Key: k, Run: func(ctx context.Context, u *study.Unit) error { return one.measure(ctx, m, u.Row) }})
		}
	}
	return units, nil
}

// latencyTables has a table of this measurement, and one of what the demo reports of a robot.
func latencyTables(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
	number := func(head, name string) study.Column { return study.MeanOf(head, name, 0) }
	table := func(name, title string, demo bool) study.Table {
		of := study.Group(rows).Where(func(r *study.Row) bool { return r.Has("robot") == demo })
		return study.Table{
			Name: name, Title: title, Groups: study.GroupBy(of, study.Single),
			Columns: []study.Column{
				study.TextOf("robot", "robot"), number("rate, Hz", "rate_hz"), number("points", "points"), study.TruthOf("loaded", "loaded"), number("p50, µs", "p50_us"), number("p99, µs", "p99_us"), number("p99.9, µs", "p999_us"),
				number("missing", "missing"), number("of", "states"), number("late", "late"), number("shortened", "shortened"), study.MeanOf("resident, MB", "resident_mb", 1), study.MeanOf("grown, MB", "resident_growth_mb", 1), measured,
			},
		}
	}
	measurement := table("latency", "Latency over loopback NATS", false)
	demo := table("latency-demo", "Latency in the demo", true)
	if len(demo.Groups) == 0 {
		return []study.Table{measurement}, nil
	}
	return []study.Table{measurement, demo}, nil
}

// measured is the column of how and when a stored row was measured.
var measured = study.TextOf("measured", "measured")

// measure measures one row.
func (j *latencyJob) measure(ctx context.Context, m *model.Model, r *study.Row) error {
	return withServer(ctx, m, func(s *rig) {
		if j.loaded {
			burn, err := startChild("burn")
			s.must(err)
			s.later(burn.stop)
		}
		est := s.child("--points", strconv.Itoa(j.points), "--priority", strconv.Itoa(j.priority))
		s.later(est.stop)
		e := exchange{states: warmUp + int(math.Round(j.rate*j.duration.Seconds())), start: time.Now()}
		half := 0.
		s.must(e.run(s, j.rate, func() { half = est.resident() }))
		memory := est.resident()
		r.Put("rate_hz", j.rate).Put("points", j.points).Put("loaded", j.loaded).Put("shortened", int(e.shortened.Load()))
		r.Put("resident_mb", memory).Put("resident_growth_mb", memory-half)
		summarise(r, j.rate, e.latencies[warmUp:])
	})
}

// summarise puts latencies in ns, 0 = never answered, into a row.
func summarise(r *study.Row, rate float64, latencies []atomic.Int64) {
	var came []int64
	late := 0
	for i := range latencies {
		if ns := latencies[i].Load(); ns != 0 {
			came = append(came, ns)
			if float64(ns) > 1e9/rate {
				late++
			}
		}
	}
	slices.Sort(came)
	for name, q := range map[string]float64{"p50_us": 0.5, "p99_us": 0.99, "p999_us": 0.999} {
		r.Put(name, 0)
		if len(came) > 0 {
			r.Put(name, float64(came[min(int(q*float64(len(came))), len(came)-1)])*1e-3)
		}
	}
	r.Put("missing", len(latencies)-len(came)).Put("states", len(latencies)).Put("late", late)
}

// exchange sends states and measures the latency of their answers.
type exchange struct {
	states    int
	start     time.Time
	sentAt    []atomic.Int64 // ns since start
	latencies []atomic.Int64 // ns, 0 = never answered
	answered  atomic.Int64
	shortened atomic.Int64 // answers after the warm-up with a shorter horizon
	read      wire.Prediction
}

// run sends the states at a rate, Hz. half is called when half of them were sent.
func (e *exchange) run(r *rig, rate float64, half func()) error {
	e.sentAt, e.latencies = make([]atomic.Int64, e.states), make([]atomic.Int64, e.states)
	nc, m := r.link(r.url(), "client"), r.model
	if _, err := nc.Subscribe(wire.PredictSubject(vehicle), e.receive); err != nil {
		return err
	}
	if err := awaitEstimator(r.ctx, nc); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(1, 1))
	s := wire.State{X: make([]float64, m.K), U: make([]float64, m.P), Plan: make([]float64, 5*m.P), PlanDt: m.Horizon / 5}
	var buf []byte
	sleeper := realtime.NewSleeper(int64(time.Since(e.start)), 0)
	defer sleeper.Close()
	begin := int64(time.Since(e.start))
	for i := range e.states {
		sleeper.Until(begin + int64(float64(i)/rate*1e9))
		if i == e.states/2 {
			half()
		}
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		for _, v := range [][]float64{s.X, s.U, s.Plan} {
			for j := range v {
				v[j] = rng.NormFloat64()
			}
		}
		s.Seq, s.T = uint64(i), time.Now().UnixNano()
		buf = s.Append(buf[:0])
		e.sentAt[i].Store(int64(time.Since(e.start)))
		if err := nc.Publish(wire.StateSubject(vehicle), buf); err != nil {
			return err
		}
	}
	for end := time.Now().Add(straggler); e.answered.Load() < int64(e.states) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	return nil
}

func (e *exchange) receive(msg *nats.Msg) {
	now, p := int64(time.Since(e.start)), &e.read
	if p.Decode(msg.Data) != nil || p.Seq >= uint64(e.states) {
		return
	}
	if e.latencies[p.Seq].CompareAndSwap(0, now-e.sentAt[p.Seq].Load()) {
		if e.answered.Add(1); p.Seq >= warmUp && p.Flags&wire.Shortened != 0 {
			e.shortened.Add(1)
		}
	}
}

// awaitEstimator returns when the estimator has published its status.
func awaitEstimator(ctx context.Context, nc *nats.Conn) error {
	status, err := nc.SubscribeSync(wire.StatusSubject(vehicle))
	if err != nil {
		return err
	}
	defer func() { _ = status.Unsubscribe() }()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := status.NextMsgWithContext(ctx); err != nil {
		return fmt.Errorf("the estimator does not start: %w", err)
	}
	return nil
}
