package main

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/dgm-robotics/dgm/firmware-sim/disturb"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
	"github.com/dgm-robotics/dgm/firmware-sim/record"
	"github.com/dgm-robotics/dgm/firmware-sim/robot"
	"github.com/dgm-robotics/dgm/trainer"
)

// adaptSystem is a robot that changes in flight.
type adaptSystem struct {
	plant    plant.Plant
	rate     float64 // states a second, Hz
	horizon  time.Duration
	points   int // of the horizon
	rows     int // of a plan
	segments int // flights to train on, each
	length   int // so many seconds
	changes  []change
}

// change is something that happens to a robot.
type change struct {
	name string
	make func(c *robot.Config)
}

func adaptSystems() []adaptSystem {
	return []adaptSystem{
		{
			plant: plant.Pendulum(), rate: 50, horizon: time.Second, points: 25, rows: 20, segments: 6, length: 20,
			changes: []change{
				{"payload: half as heavy again", func(c *robot.Config) { c.Payload.Mass = 0.5 }},
				{"worn bearing: twice the friction", func(c *robot.Config) { c.Params = c.Plant.Values(); c.Params[3] *= 2 }},
				{"gusts of 0.2 N m", func(c *robot.Config) { c.Gusts = disturb.Gusts{Std: 0.2, Time: 0.5} }},
			},
		},
		{
			plant: plant.QuadrotorFlown(), rate: 50, horizon: 500 * time.Millisecond, points: 25, rows: 25, segments: 8, length: 20,
			changes: []change{
				{"payload: a sixth heavier", func(c *robot.Config) { c.Payload.Mass = 1. / 6 }},
				{"worn propeller: a tenth lost", func(c *robot.Config) { c.Worn = []disturb.Wear{{Loss: 0.1, Inputs: []int{0}}} }},
				{"gusts of 2 m/s²", func(c *robot.Config) { c.Gusts = disturb.Gusts{Std: 2, Time: 0.5} }},
			},
		},
	}
}

const (
	adaptCalm  = 120 * time.Second
	adaptAfter = 240 * time.Second
	settleFor  = 40 // horizons after the change, from when on recalibrated intervals must cover
)

func adaptStudy() *study.Study {
	var file string
	return &study.Study{
		Name: "adapt", Summary: []string{"ok", "raw_after", "flag_s", "recalibrated_after"}, Tables: adaptTables,
		Short: "How live calibration follows a payload, wear and gusts that the model never saw",
		Long: `adapt trains small models of a simulated pendulum and a simulated quadrotor, flies them in fast time over
loopback NATS, changes the robot in flight, and counts on the planner's side how many measurements are within
the published intervals of 95 %, raw and multiplied by the published factor.

A change is ok if raw coverage falls, the flag miscalibrated is set within 40 horizons of it and not
before, and from then on 93 to 97 % are within the recalibrated intervals. The exit code is 1 if one is not.`,
		Flags: func(cmd *cobra.Command) {
			f := cmd.Flags()
			f.StringVar(&file, "model", "", "model of the pendulum or the quadrotor to fly, instead of those trained now")
		},
		Units:  func() ([]study.Work, error) { return adaptUnits(file) },
		Failed: notOK("live calibration does not follow %d of %d changes"),
	}
}

// adaptUnits returns the changes of all systems, or of those that the model in a file fits.
func adaptUnits(file string) (units []study.Work, err error) {
	var given *model.Model
	if file != "" {
		if given, err = model.ReadFile(file); err != nil {
			return nil, err
		}
	}
	for _, s := range adaptSystems() {
		m := given
		if m != nil && (len(s.plant.States) != m.K || len(s.plant.Inputs) != m.P) {
			continue
		}
		for _, c := range s.changes {
			units = append(units, study.Work{Key: study.Key{Set: strings.TrimSpace(s.plant.Name + " " + file), Variant: c.name}, Run: func(ctx context.Context, u *study.Unit) (err error) {
				if m == nil {
					u.Report("a model is trained")
					if m, err = s.train(ctx); err != nil {
						return err
					}
				}
				return s.measure(ctx, m, c, u.Row)
			}})
		}
	}
	if len(units) == 0 {
		return nil, cli.Usage("--model %s has %d states and %d inputs; a pendulum has 2 and 1, a quadrotor 12 and 4", file, given.K, given.P)
	}
	return units, nil
}

// follows reports whether there was no flag in calm flight, raw coverage fell below what the
// flag is for, the flag was set, and the recalibrated intervals cover 95 % again, give or
// take 2 %, in the time that is stated.
func follows(r *study.Row) bool {
	flag := r.Number("flag_s")
	return !r.Is("flag_before") && r.Number("raw_after") < 0.90 && flag >= 0 && flag <= r.Number("settled_s") && math.Abs(r.Number("recalibrated_after")-0.95) <= 0.02
}

func adaptTables(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
	return []study.Table{{
		Name: "adapt", Title: "Changes in flight", Groups: study.GroupBy(rows, study.Single),
		Columns: []study.Column{
			study.TextOf("simulated robot", "system"), study.TextOf("change", "change"), study.MeanOf("before", "raw_before", 3), study.MeanOf("after", "raw_after", 3), study.MeanOf("flag after, s", "flag_s", 1),
			study.MeanOf("with the factor", "recalibrated_after", 3), study.MeanOf("worst", "worst_after", 3), study.MeanOf("from, s", "settled_s", 0), study.TruthOf("ok", "ok"), measured,
		},
	}}, nil
}

// robot returns the robot as it is before any change, with its usual sensors and
// the plan of its inputs.
func (s *adaptSystem) robot() robot.Config {
	c := robot.Typical(s.plant)
	c.Rate = s.rate
	c.PlanHorizon, c.PlanRows = s.horizon.Seconds(), s.rows
	return c
}

// train records flights of the robot as it is before any change, and trains a model
// on them.
func (s *adaptSystem) train(ctx context.Context) (*model.Model, error) {
	o := record.Options{Robot: s.robot(), Vehicle: vehicle, Segments: s.segments, Samples: int(float64(s.length)*s.rate) + 1, Source: "dgm-bench adapt"}
	o.Robot.Seed = 1
	dir, err := os.MkdirTemp("", "dgm-adapt")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "flight.msgpack")
	file, err := flightlog.CreateFile(path, o.Header(false))
	if err != nil {
		return nil, err
	}
	defer file.Abort()
	if _, err := record.Run(ctx, o, file.Writer, nil); err != nil {
		return nil, err
	}
	if err := file.Commit(); err != nil {
		return nil, err
	}
	log, err := flightlog.ReadFile(path)
	if err != nil {
		return nil, err
	}
	cfg := trainer.Quick()
	cfg.Horizon, cfg.Points = trainer.Duration(s.horizon), s.points
	data, err := trainer.Load([]*flightlog.Log{log}, cfg)
	if err != nil {
		return nil, err
	}
	res, err := trainer.Train(ctx, data, cfg, func(trainer.Progress) {})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	// What is served is what a file holds.
	b, err := res.Model.Encode()
	if err != nil {
		return nil, err
	}
	return model.Decode(b)
}

// coverage counts measurements within intervals, by series.
type coverage map[int]*inside

// inside are the measurements of a series: all, and those within raw and recalibrated
// intervals.
type inside struct{ n, raw, again float64 }

func (c coverage) count(series int, raw, again bool) {
	if c[series] == nil {
		c[series] = new(inside)
	}
	s := c[series]
	s.n, s.raw, s.again = s.n+1, s.raw+share(raw), s.again+share(again)
}

// shares returns the shares over all series, and the recalibrated one farthest
// from 0.95.
func (c coverage) shares() (raw, again, worst float64) {
	var n float64
	worst = 0.95
	for _, s := range c {
		n, raw, again = n+s.n, raw+s.raw, again+s.again
		if one := s.again / s.n; math.Abs(one-0.95) > math.Abs(worst-0.95) {
			worst = one
		}
	}
	return raw / n, again / n, worst
}

// measure flies one change and puts into the row, over all channels and horizons, the
// coverage of 95 % intervals about measurements as the planner counts it from what was
// published:
//
//	raw_before, recalibrated_before  in calm flight
//	raw_after, recalibrated_after    from settled_s after the change on
//	worst_after                      of channels and horizons, the recalibrated coverage farthest from 0.95
//	flag_s                           from the change to the flag miscalibrated, s; -1 = it was not set
//	flag_before                      it was set before the change
func (s *adaptSystem) measure(ctx context.Context, m *model.Model, c change, r *study.Row) error {
	settle := time.Duration(settleFor * m.Horizon * float64(time.Second))
	calm, after := coverage{}, coverage{}
	changed := s.robot()
	c.make(&changed)
	return serving(ctx, m, func(st *rig) {
		st.startPlanner(st.url())
		f := &adaptFlight{rig: st, nc: st.link(st.url(), "robot"), answers: st.planner.report(), rate: s.rate, due: map[uint64][]awaited{}, flagged: -1}
		// The factor needs its time in calm flight too.
		f.fly(s.robot(), adaptCalm, settle, calm)
		r.Put("flag_before", f.flagged >= 0)
		f.flagged = -1
		st.clock.pass(2 * time.Second) // another robot begins: nothing of the last one is awaited
		clear(f.due)
		f.fly(changed, adaptAfter, settle, after)
		r.Put("system", s.plant.Name).Put("change", c.name).Put("horizon_s", m.Horizon).Put("settled_s", settle.Seconds()).Put("flag_s", f.flagged)
		raw, again, _ := calm.shares()
		r.Put("raw_before", raw).Put("recalibrated_before", again)
		raw, again, worst := after.shares()
		r.Put("raw_after", raw).Put("recalibrated_after", again).Put("worst_after", worst)
		r.Put("ok", follows(r))
	})
}

// awaited is a published interval whose time will come.
type awaited struct {
	series           int
	mean, std, again float64
}

// adaptFlight is robot and planner in one, in lock step with the estimator.
type adaptFlight struct {
	*rig
	nc      *nats.Conn
	answers <-chan uint64
	rate    float64 // states a second, Hz
	seq     uint64
	due     map[uint64][]awaited // by the state with which an interval is compared
	flagged float64              // s since the flight began, −1 = not
}

// fly flies a robot, and counts from a time after the start on.
func (f *adaptFlight) fly(cfg robot.Config, lasts, from time.Duration, count coverage) {
	cfg.Seed = 7
	r := robot.New(cfg)
	r.Start(0, 0)
	var b []byte
	period := time.Duration(float64(time.Second) / f.rate)
	for at := time.Duration(0); at < lasts; at += period {
		x, ok := r.Sample()
		f.require(ok, "the robot is lost")
		f.clock.pass(period)
		f.seq++
		if at >= from {
			f.compare(x.X, count)
		}
		delete(f.due, f.seq)
		s := wire.State{Seq: f.seq, T: f.clock.unix(), X: x.X, U: x.U, Plan: x.Plan, PlanDt: cfg.PlanHorizon / float64(max(cfg.PlanRows, 1))}
		b = s.Append(b[:0])
		f.ask(f.nc, b, f.seq, f.answers)
		f.keep(at.Seconds())
		f.require(r.Step(), "the robot is lost")
	}
}

// compare counts what is due among intervals about a measurement. An angle is predicted
// without turns, and measured so by the simulator.
func (f *adaptFlight) compare(x []float64, count coverage) {
	for _, a := range f.due[f.seq] {
		e := math.Abs(x[a.series%len(x)] - a.mean)
		count.count(a.series, e <= 1.96*a.std, e <= 1.96*a.again*a.std)
	}
}

// keep keeps the flag of the last prediction, made at so many seconds of the flight, and its
// intervals whose times are those of states, at a tenth, a quarter, half and the whole of the
// horizon.
func (f *adaptFlight) keep(now float64) {
	f.planner.mu.Lock()
	defer f.planner.mu.Unlock()
	p, K := &f.planner.read, f.model.K
	if f.flagged < 0 && p.Flags&wire.Miscalibrated != 0 {
		f.flagged = now
	}
	last := p.Horizon[len(p.Horizon)-1]
	for b, part := range [...]float64{0.1, 0.25, 0.5, 1} {
		for i, h := range p.Horizon {
			steps := int(math.Round(h * f.rate))
			if h < part*last*(1-1e-9) || math.Abs(float64(steps)/f.rate-h) >= 1e-6 {
				continue
			}
			at := f.seq + uint64(steps)
			for k := range K {
				j := i*K + k
				f.due[at] = append(f.due[at], awaited{b*K + k, p.Mean[j], p.ObsStd[j], p.Factor[j]})
			}
			break
		}
	}
}

func share(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
