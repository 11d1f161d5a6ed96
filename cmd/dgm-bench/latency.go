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
	vehicle     = "bench"
	echoVehicle = "echo"
	latencyTurn = 2 * time.Second // of the estimator or the echo, at least
	mostTurns   = 10
	warmUp      = 20          // states that are not counted
	patience    = time.Minute // for what starts, on a busy computer too
	straggler   = time.Second // for the last answers
)

// latencyJob is what one row measures.
type latencyJob struct {
	rate     float64 // states a second, Hz
	points   int     // of the horizon
	loaded   bool    // another process keeps every core busy
	duration time.Duration
	priority int
	adapt    string
}

// standard are the rows without flags: what a fast and what a rich prediction cost.
var standard = []latencyJob{{rate: 1000, points: 20}, {rate: 500, points: 100}}

func latencyStudy() *study.Study {
	var (
		rates []float64
		job   = latencyJob{points: 100, duration: 20 * time.Second}
		file  string
		load  string
		adapt []string
	)
	return &study.Study{
		Name: "latency", Summary: []string{"p50_us", "p999_us", "missing", "late"}, Tables: latencyTables,
		Short: "Time from sending a state to receiving its prediction, over loopback NATS",
		Long: `latency starts a NATS server on the loopback and an estimator in a process of its own, sends states
from a client outside that process, and measures the time until each prediction is back there.

The model is artificial unless --model names one: 12 states, 4 inputs, 100 random features, one member.
A state that is never answered is missing; a prediction that comes after the next state was sent is
late. Delayed states that arrive together are all answered, superseded ones with a shortened
horizon, and counted as shortened. If more than 32 arrive together, all but the newest
are missing. In a loaded row another process keeps every core busy.

The latency of the computer itself is measured in the same run: in turns with the estimator, a bare NATS client
in its own process keeps a core busy for as long as the estimator's median prediction takes, and answers with
messages of the same size. Its latencies are echo_p50_us, echo_p99_us and echo_p999_us.`,
		Example: `  dgm-bench latency --json
  dgm-bench latency --rate 1000 --points 20 --duration 10m --load both`,
		Numbers: []study.Flag{
			{Name: "points", Usage: "points of the horizon, with --rate", Value: &job.points, Least: 1, Most: 10000},
			{Name: "duration", Usage: "how long a row is measured", Value: &job.duration, Changes: true},
			{Name: "priority", Usage: "real-time priority of the estimator's process, 1 to 89; needs permission", Value: &job.priority, Most: 89, Changes: true},
		},
		Flags: func(cmd *cobra.Command) {
			f := cmd.Flags()
			f.Float64SliceVar(&rates, "rate", nil, "states a second; one row for each (default: 1000 with 20 points, 500 with 100)")
			f.StringVar(&file, "model", "", "model file to serve instead of an artificial one")
			f.StringSliceVar(&adapt, "adapt", []string{wire.AdaptOff}, "the setting adapt of the estimator; one row for each, measured in turns")
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
			return job.units(m, file, rates, load, adapt)
		},
	}
}

// units returns what is measured of a model, of a file or artificial.
func (j latencyJob) units(m *model.Model, file string, rates []float64, load string, adapt []string) (units []study.Work, err error) {
	jobs, err := j.jobs(rates, load, adapt)
	for _, one := range jobs {
		variant := map[bool]string{true: "loaded"}[one.loaded]
		if one.adapt != wire.AdaptOff {
			variant = strings.TrimSpace(variant + " adapt " + one.adapt)
		}
		k := study.Key{Set: strings.TrimSpace(fmt.Sprintf("%g Hz, %d points %s", one.rate, one.points, file)), Variant: variant}
		units = append(units, study.Work{Key: k, Run: func(ctx context.Context, u *study.Unit) error { return one.measure(ctx, m, u.Row) }})
	}
	return units, err
}

// jobs returns what is measured at so many rates, with and without load, with settings of adapt.
func (j latencyJob) jobs(rates []float64, load string, adapt []string) (jobs []latencyJob, err error) {
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
	for _, a := range adapt {
		if a != wire.AdaptOff && a != wire.AdaptWatch && a != wire.AdaptOn {
			return nil, cli.Usage("--adapt %q must be of off, watch and on", a)
		}
	}
	for _, loaded := range loads {
		for _, one := range all {
			if j.duration.Seconds()*one.rate < 1 {
				return nil, cli.Usage("--duration %v is shorter than one state at %g Hz", j.duration, one.rate)
			}
			one.loaded, one.duration, one.priority = loaded, j.duration, j.priority
			for _, setting := range adapt {
				one.adapt = setting
				jobs = append(jobs, one)
			}
		}
	}
	return jobs, nil
}

// latencyTables has a table of this measurement, and one of what the demo reports of a robot.
func latencyTables(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
	number := func(head, name string) study.Column { return study.MeanOf(head, name, 0) }
	table := func(name, title string, demo bool) study.Table {
		of := study.Group(rows).Where(func(r *study.Row) bool { return r.Has("robot") == demo })
		columns := []study.Column{
			study.TextOf("robot", "robot"), number("rate, Hz", "rate_hz"), number("points", "points"), study.TruthOf("loaded", "loaded"), study.TextOf("adapt", "adapt"), number("p50, µs", "p50_us"), number("p99, µs", "p99_us"), number("p99.9, µs", "p999_us"),
			number("echo p50, µs", "echo_p50_us"), number("echo p99, µs", "echo_p99_us"), number("echo p99.9, µs", "echo_p999_us"), study.MeanOf("p99.9 by that of the echo", "echo_ratio", 2),
			number("missing", "missing"), number("of", "states"), number("late", "late"), number("shortened", "shortened"), study.MeanOf("resident, MB", "resident_mb", 1), study.MeanOf("grown, MB", "resident_growth_mb", 1), measured,
		}
		return study.Table{Name: name, Title: title, Groups: study.GroupBy(of, study.Single), Columns: columns}
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

// measure measures one row, in turns of the estimator and of the echo.
func (j *latencyJob) measure(ctx context.Context, m *model.Model, r *study.Row) error {
	return withServer(ctx, m, func(s *rig) {
		if j.loaded {
			burn, err := startChild("burn")
			s.must(err)
			s.later(burn.stop)
		}
		est := s.child("--points", strconv.Itoa(j.points), "--priority", strconv.Itoa(j.priority), "--adapt", j.adapt)
		s.later(est.stop)
		turns := min(max(1, int(j.duration/latencyTurn)), mostTurns)
		states := max(1, int(math.Round(j.rate*j.duration.Seconds()/float64(turns))))
		start := time.Now()
		estimator, echo := newExchange(vehicle, start), newExchange(echoVehicle, start)
		half := 0.0
		s.must(estimator.listen(s))
		for turn := range turns {
			s.must(estimator.run(s, j.rate, warmUp+states))
			if turn == turns/2 {
				half = est.resident()
			}
			if turn == 0 {
				s.must(s.startEcho(j, m, estimator))
				s.must(echo.listen(s))
			}
			s.must(echo.run(s, j.rate, warmUp+states))
		}
		memory := est.resident()
		r.Put("rate_hz", j.rate).Put("points", j.points).Put("loaded", j.loaded).Put("adapt", j.adapt).Put("shortened", int(estimator.shortened.Load()))
		r.Put("resident_mb", memory).Put("resident_growth_mb", memory-half)
		summarise(r, j.rate, estimator.counted)
		beside := study.NewRow(study.Key{})
		summarise(beside, j.rate, echo.counted)
		for _, name := range [...]string{"p50_us", "p99_us", "p999_us"} {
			r.Put("echo_"+name, beside.Number(name))
		}
		if echoed := beside.Number("p999_us"); echoed > 0 {
			r.Put("echo_ratio", r.Number("p999_us")/echoed)
		}
	})
}

// summarise puts latencies in ns, 0 = never answered, into a row.
func summarise(r *study.Row, rate float64, latencies []int64) {
	var came []int64
	late := 0
	for _, ns := range latencies {
		if ns != 0 {
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

// exchange sends states and measures the latency of their answers, in one or several turns.
type exchange struct {
	vehicle string
	start   time.Time
	nc      *nats.Conn
	first   uint64  // seq of the first state of this turn
	counted []int64 // ns, of the turns so far, 0 = never answered

	turn      atomic.Pointer[turn]
	shortened atomic.Int64 // answers after the warm-up with a shorter horizon
	read      wire.Prediction
	status    wire.Status
	took      atomic.Int64 // ns, the median time of a prediction, the least of all statuses; 0 = not known yet
}

// turn are the states of one turn.
type turn struct {
	first     uint64
	sentAt    []atomic.Int64 // ns since start
	latencies []atomic.Int64 // ns, 0 = never answered
	answered  atomic.Int64
}

func newExchange(vehicle string, start time.Time) *exchange {
	return &exchange{vehicle: vehicle, start: start}
}

// listen connects and returns when who answers has published its status.
func (e *exchange) listen(r *rig) error {
	e.nc = r.link(r.url(), "client")
	if _, err := e.nc.Subscribe(wire.PredictSubject(e.vehicle), e.receive); err != nil {
		return err
	}
	if err := awaitStatus(r.ctx, e.nc, e.vehicle); err != nil {
		return err
	}
	_, err := e.nc.Subscribe(wire.StatusSubject(e.vehicle), func(m *nats.Msg) {
		if e.status.Decode(m.Data) != nil {
			return
		}
		if took := int64(e.status.LatencyP50 * 1e9); took > 0 && (e.took.Load() == 0 || took < e.took.Load()) {
			e.took.Store(took)
		}
	})
	return err
}

// run sends so many states at a rate, Hz.
func (e *exchange) run(r *rig, rate float64, states int) error {
	t := &turn{first: e.first, sentAt: make([]atomic.Int64, states), latencies: make([]atomic.Int64, states)}
	e.first += uint64(states)
	e.turn.Store(t)
	m := r.model
	rng := rand.New(rand.NewPCG(1, 1))
	s := wire.State{X: make([]float64, m.K), U: make([]float64, m.P), Plan: make([]float64, 5*m.P), PlanDt: m.Horizon / 5}
	var buf []byte
	sleeper := realtime.NewSleeper(int64(time.Since(e.start)), 0)
	defer sleeper.Close()
	begin := int64(time.Since(e.start))
	for i := range states {
		sleeper.Until(begin + int64(float64(i)/rate*1e9))
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		for _, v := range [][]float64{s.X, s.U, s.Plan} {
			for j := range v {
				v[j] = rng.NormFloat64()
			}
		}
		s.Seq, s.T = t.first+uint64(i), time.Now().UnixNano()
		buf = s.Append(buf[:0])
		t.sentAt[i].Store(int64(time.Since(e.start)))
		if err := e.nc.Publish(wire.StateSubject(e.vehicle), buf); err != nil {
			return err
		}
	}
	for end := time.Now().Add(straggler); t.answered.Load() < int64(states) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	for i := warmUp; i < states; i++ {
		e.counted = append(e.counted, t.latencies[i].Load())
	}
	return nil
}

func (e *exchange) receive(msg *nats.Msg) {
	now, p, t := int64(time.Since(e.start)), &e.read, e.turn.Load()
	if t == nil || p.Decode(msg.Data) != nil || p.Seq-t.first >= uint64(len(t.latencies)) {
		return
	}
	i := p.Seq - t.first
	if t.latencies[i].CompareAndSwap(0, now-t.sentAt[i].Load()) {
		if t.answered.Add(1); i >= warmUp && p.Flags&wire.Shortened != 0 {
			e.shortened.Add(1)
		}
	}
}

// awaitStatus returns when the status of a vehicle is published.
func awaitStatus(ctx context.Context, nc *nats.Conn, vehicle string) error {
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
