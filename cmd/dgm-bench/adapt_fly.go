package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/dgm-robotics/dgm/firmware-sim/record"
	"github.com/dgm-robotics/dgm/firmware-sim/robot"
	"github.com/dgm-robotics/dgm/trainer"
)

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
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// What flies is what a file holds.
	b, err := res.Model.Encode()
	if err != nil {
		return nil, err
	}
	return model.Decode(b)
}

// coverage counts measurements within intervals, by series.
type coverage struct {
	n, raw, again map[int]float64
}

func newCoverage() *coverage {
	return &coverage{map[int]float64{}, map[int]float64{}, map[int]float64{}}
}

// shares returns the shares over all series, and the recalibrated one farthest
// from 0.95.
func (c *coverage) shares() (raw, again, worst float64) {
	var n float64
	worst = 0.95
	for i, k := range c.n {
		n, raw, again = n+k, raw+c.raw[i], again+c.again[i]
		if s := c.again[i] / k; math.Abs(s-0.95) > math.Abs(worst-0.95) {
			worst = s
		}
	}
	return raw / n, again / n, worst
}

// awaited is a published interval whose time will come.
type awaited struct {
	series           int
	mean, std, again float64
}

// measure flies one change.
func (s *adaptSystem) measure(ctx context.Context, m *model.Model, c change) (row adaptRow, err error) {
	row = adaptRow{System: s.plant.Name, Change: c.name, Horizon: m.Horizon, Flag: -1, Settled: settleFor * m.Horizon}
	t, end, err := flying(m)
	defer end(&err)
	if err != nil {
		return row, err
	}
	nc, err := t.link(t.url(), "robot and planner")
	if err != nil {
		return row, err
	}
	f, err := newAdaptFlight(nc, t.clock, s.rate, m)
	if err != nil {
		return row, err
	}
	calm, after := newCoverage(), newCoverage()
	changed := s.robot()
	c.make(&changed)
	// The factor needs its time in calm flight too.
	if err := f.fly(ctx, s.robot(), adaptCalm, time.Duration(row.Settled*float64(time.Second)), calm); err != nil {
		return row, err
	}
	row.FalseFlag = f.flagged >= 0
	f.flagged = -1
	t.clock.pass(2 * time.Second) // another robot takes over: nothing of the last one is awaited
	clear(f.due)
	if err := f.fly(ctx, changed, adaptAfter, time.Duration(row.Settled*float64(time.Second)), after); err != nil {
		return row, err
	}
	row.Flag = f.flagged
	row.RawBefore, row.RecalibratedCalm, _ = calm.shares()
	row.RawAfter, row.RecalibratedAfter, row.WorstAfter = after.shares()
	return row, nil
}

// adaptFlight is robot and planner in one, in lock step with the estimator.
type adaptFlight struct {
	nc      *nats.Conn
	clock   *clock
	rate    float64 // states a second, Hz
	K       int
	sub     *nats.Subscription
	seq     uint64
	step    int
	due     map[int][]awaited // by step
	flagged float64           // s since the flight began, −1 = not
	read    wire.Prediction
}

func newAdaptFlight(nc *nats.Conn, c *clock, rate float64, m *model.Model) (*adaptFlight, error) {
	sub, err := nc.SubscribeSync(wire.PredictSubject(vehicle))
	if err != nil {
		return nil, err
	}
	return &adaptFlight{nc: nc, clock: c, rate: rate, K: m.K, sub: sub, due: map[int][]awaited{}, flagged: -1}, nil
}

// fly flies a robot, and counts from a time after the start on.
func (f *adaptFlight) fly(ctx context.Context, cfg robot.Config, lasts, from time.Duration, count *coverage) error {
	cfg.Seed = 7
	r := robot.New(cfg)
	r.Start(0, 0)
	var s wire.State
	var b []byte
	period := time.Duration(float64(time.Second) / f.rate)
	for at := time.Duration(0); at < lasts; at += period {
		x, ok := r.Sample()
		if !ok {
			return fmt.Errorf("the robot is lost")
		}
		f.clock.pass(period)
		f.seq++
		f.step++
		for _, a := range f.due[f.step] {
			if at >= from {
				// An angle is predicted without turns, and measured so by the simulator.
				e := math.Abs(x.X[a.series%f.K] - a.mean)
				count.n[a.series]++
				count.raw[a.series] += share(e <= 1.96*a.std)
				count.again[a.series] += share(e <= 1.96*a.again*a.std)
			}
		}
		delete(f.due, f.step)
		s = wire.State{Seq: f.seq, T: f.clock.unix(), X: x.X, U: x.U, Plan: x.Plan}
		b = s.Append(b[:0])
		if err := f.exchange(ctx, b); err != nil {
			return err
		}
		if f.flagged < 0 && f.read.Flags&wire.Miscalibrated != 0 {
			f.flagged = at.Seconds()
		}
		f.await()
		if !r.Step() {
			return fmt.Errorf("the robot is lost")
		}
	}
	return nil
}

// exchange sends a state until its prediction is there.
func (f *adaptFlight) exchange(ctx context.Context, state []byte) error {
	for end := time.Now().Add(goneFor); time.Now().Before(end); {
		if err := f.nc.Publish(wire.StateSubject(vehicle), state); err != nil {
			return err
		}
		wait := time.Second
		if f.seq == 1 {
			wait = 50 * time.Millisecond // it may not listen yet
		}
		for {
			m, err := f.sub.NextMsg(wait)
			if err != nil {
				break
			}
			if err := f.read.Decode(m.Data); err != nil {
				return err
			}
			if f.read.Seq == f.seq {
				return nil
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return fmt.Errorf("state %d was not answered", f.seq)
}

// await keeps the intervals of the prediction that was read whose times are those
// of states, at a tenth, a quarter, half and the whole of the horizon.
func (f *adaptFlight) await() {
	p := &f.read
	last := p.Horizon[len(p.Horizon)-1]
	for b, part := range [...]float64{0.1, 0.25, 0.5, 1} {
		for i, h := range p.Horizon {
			if h < part*last*(1-1e-9) {
				continue
			}
			steps := int(math.Round(h * f.rate))
			if math.Abs(float64(steps)/f.rate-h) < 1e-6 {
				for k := range f.K {
					j := i*f.K + k
					f.due[f.step+steps] = append(f.due[f.step+steps], awaited{b*f.K + k, p.Mean[j], p.ObsStd[j], p.Factor[j]})
				}
				break
			}
		}
	}
}

func share(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
