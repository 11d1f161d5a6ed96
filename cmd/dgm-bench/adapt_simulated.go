package main

import (
	"context"
	"time"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/firmware-sim/disturb"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
	"github.com/dgm-robotics/dgm/firmware-sim/record"
	"github.com/dgm-robotics/dgm/firmware-sim/robot"
	"github.com/dgm-robotics/dgm/trainer"
	"github.com/dgm-robotics/dgm/trainer/estimation"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// adaptSystem is a robot that changes in flight.
type adaptSystem struct {
	plant    plant.Plant
	rate     float64 // states a second, Hz
	horizon  time.Duration
	points   int // of the horizon
	segments int // flights to train on, each
	length   int // so many seconds
	changes  []change
}

// change is something that happens to a robot, and the largest ratios to predictions without
// adaptation that are good.
type change struct {
	name        string
	make        func(c *robot.Config)
	rmse, width float64
	stays       bool // compared with a model of the changed robot
}

func adaptSystems() []adaptSystem {
	worn := func(loss float64) func(c *robot.Config) {
		return func(c *robot.Config) { c.Worn = []disturb.Wear{{Loss: loss, Inputs: []int{0}}} }
	}
	payload := func(mass float64) func(c *robot.Config) {
		return func(c *robot.Config) { c.Payload.Mass = mass }
	}
	gusts := func(std float64) func(c *robot.Config) {
		return func(c *robot.Config) { c.Gusts = disturb.Gusts{Std: std, Time: 0.5} }
	}
	none := change{name: "none", make: func(*robot.Config) {}, rmse: 1.01, width: 1.07}
	return []adaptSystem{
		{
			plant: plant.Pendulum(), rate: 50, horizon: time.Second, points: 25, segments: 6, length: 20,
			changes: []change{
				none, {"payload: half as heavy again", payload(0.5), 0.33, 1.5, true},
				{"worn bearing: twice the friction", func(c *robot.Config) { c.Params = c.Plant.Values(); c.Params[3] *= 2 }, 0.48, 1.5, false},
				{"gusts of 0.2 N m", gusts(0.2), 1.01, 5, false},
			},
		},
		{
			plant: plant.QuadrotorFlown(), rate: 100, horizon: 500 * time.Millisecond, points: 25, segments: 8, length: 20,
			changes: []change{
				none, {"worn propeller: a tenth lost", worn(0.1), 0.38, 1.1, false}, {"worn propeller: a fifth lost", worn(0.2), 0.26, 1.1, true},
				{"payload: a sixth heavier", payload(1. / 6), 0.80, 1.1, false}, {"payload: a third heavier", payload(1. / 3), 0.75, 1.1, true},
				{"gusts of 2 m/s²", gusts(2), 1.01, 2, false},
			},
		},
	}
}

// Times of flights, s.
const (
	adaptCalm    = 20 // before a change
	adaptChanged = 40
	adaptLearned = 5 // of it, after which what is left is compared
)

// follows reports whether a change is followed as is asked of it.
func (c *change) follows(r *study.Row) bool {
	coverage := r.Number("coverage")
	least := min(0.93, r.Number("factor_coverage")-0.01) // where nothing can be learned, as without adaptation
	return r.Number("rmse") <= c.rmse && r.Number("width") <= c.width && coverage >= least && coverage <= 0.98 && r.Number("reverted_rmse") <= 1.05 &&
		(!r.Has("trained_ratio") || r.Number("trained_ratio") <= 1.2)
}

// robot returns the robot as it is before any change, with its usual sensors.
func (s *adaptSystem) robot() robot.Config {
	c := robot.Typical(s.plant)
	c.Rate = s.rate
	return c
}

// changed returns the robot after a change.
func (s *adaptSystem) changed(c *change) robot.Config {
	r := s.robot()
	c.make(&r)
	return r
}

// train records flights of a robot, and trains a model on them.
func (s *adaptSystem) train(ctx context.Context, r robot.Config) (*model.Model, error) {
	o := record.Options{Robot: r, Vehicle: vehicle, Segments: s.segments, Samples: int(float64(s.length)*s.rate) + 1, Source: "dgm-bench adapt"}
	o.Robot.Seed = 1
	log, err := record.Log(ctx, o)
	if err != nil {
		return nil, err
	}
	cfg := trainer.Quick()
	cfg.Horizon, cfg.Points = trainer.Duration(s.horizon), s.points
	data, err := trainer.Load([]*flightlog.Log{log}, cfg)
	if err != nil {
		return nil, err
	}
	return trainServed(ctx, data, cfg)
}

// fly returns a flight of so many seconds.
func (s *adaptSystem) fly(cfg robot.Config, seed uint64, length int) []window.Flight {
	return s.flights(s.series(cfg, seed, length))
}

// series returns the samples of a flight.
func (s *adaptSystem) series(cfg robot.Config, seed uint64, length int) (out window.Series) {
	cfg.Seed = seed
	r := robot.New(cfg)
	r.Start(0, 0)
	for range int(float64(length) * s.rate) {
		x, _ := r.Sample()
		out.T, out.X, out.U = append(out.T, x.Stamp), append(out.X, x.X...), append(out.U, x.U...)
		if !r.Step() {
			break
		}
	}
	return out
}

// flights returns the flights of samples.
func (s *adaptSystem) flights(out window.Series) []window.Flight {
	all := s.plant.Channels()
	return window.Prepare(0, out, channel.Select(all, channel.State), len(s.plant.Inputs), window.Options{})
}

// measure flies one change and puts into the row, as ratios to no adaptation and no factor:
//
//	rmse, crps, width, coverage, worst  of the changed robot, from nothing learned on
//	before                              coverage without adaptation and factor
//	factor_…                            the same with the factor alone
//	recovered_s                         after a change in flight, see evaluate.Adapted.Recovered
//	held_rmse, held_crps, held_coverage  where the input over the horizon is not known
//	since_s, since_crps                 parts of that flight since the change, and their CRPS
//	reverted_rmse                       from 3 s after the changed robot became the old one
//	trained_ratio                       error over that of a model of the changed robot
//	learned_trained_ratio               the same from 5 s on
func (s *adaptSystem) measure(ctx context.Context, m *model.Model, c *change, ofChanged func() (*model.Model, error), seed uint64, r *study.Row, log *checkLog) error {
	changed, calm := s.fly(s.changed(c), 100+seed, adaptChanged), s.fly(s.robot(), 200+seed, adaptCalm)
	flight, _, err := estimation.As(m, changed)
	if err != nil {
		return err
	}
	if calm, _, err = estimation.As(m, calm); err != nil {
		return err
	}
	fresh, err := adaptOn(ctx, m, nil, flight)
	if err != nil {
		return err
	}
	inFlight, err := evaluate.Adapt(ctx, m, flight, log.options(m, calm, s.plant.Name, c.name))
	if err != nil {
		return err
	}
	reverted, err := evaluate.Adapt(ctx, m, calm, log.options(m, flight[:1], s.plant.Name, "after "+c.name))
	if err != nil {
		return err
	}
	late := 0.0
	for _, part := range reverted.Since {
		if part.From >= 3 {
			late = max(late, part.RMSE)
		}
	}
	putAdapted(r, fresh)
	if err := putHeld(ctx, m, flight, r); err != nil {
		return err
	}
	from, crps := inFlight.CRPSSince()
	r.Put("since_s", from).Put("since_crps", crps)
	r.Put("system", s.plant.Name).Put("change", c.name).Put("horizon_s", m.Horizon).Put("recovered_s", inFlight.Recovered()).Put("reverted_rmse", late)
	if c.stays {
		trained, err := ofChanged()
		if err != nil {
			return err
		}
		ofTrained, _, err := estimation.As(trained, changed)
		if err != nil {
			return err
		}
		if err := overTrained(ctx, "trained_ratio", fresh, trained, ofTrained, r); err != nil {
			return err
		}
		f := &flight[0]
		first := int(adaptLearned * s.rate)
		rest := []window.Flight{f.Following(first, f.N())}
		learned, err := adaptOn(ctx, m, []window.Flight{f.Slice(0, first)}, rest)
		if err != nil {
			return err
		}
		if err := overTrained(ctx, "learned_trained_ratio", learned, trained, []window.Flight{ofTrained[0].Following(first, f.N())}, r); err != nil {
			return err
		}
	}
	r.Put("ok", c.follows(r))
	return nil
}

// overTrained puts the error over that of a model of the changed robot into a row.
func overTrained(ctx context.Context, name string, a *evaluate.Adapted, trained *model.Model, flights []window.Flight, r *study.Row) error {
	table, err := evaluate.Run(ctx, trained, flights, adaptOptions(trained, nil))
	if err == nil {
		r.Put(name, a.Geo.Model/table.Geo.Model)
	}
	return err
}

// adaptOn runs flights through, each after a lead.
func adaptOn(ctx context.Context, m *model.Model, lead, flights []window.Flight) (*evaluate.Adapted, error) {
	return evaluate.Adapt(ctx, m, flights, adaptOptions(m, lead))
}

// putHeld puts the ratios of flights into a row whose predictions do not know the input over the horizon.
func putHeld(ctx context.Context, m *model.Model, flights []window.Flight, r *study.Row) error {
	o := adaptOptions(m, nil)
	o.Readout = estimator.Hold
	a, err := evaluate.Adapt(ctx, m, flights, o)
	if err == nil {
		r.Put("held_rmse", a.RMSE).Put("held_crps", a.CRPS).Put("held_coverage", a.Coverage95)
	}
	return err
}

// putAdapted puts the ratios of all flights into a row.
func putAdapted(r *study.Row, a *evaluate.Adapted) {
	before, n := 0.0, 0.0
	for _, part := range a.Since {
		before, n = before+part.Before*float64(part.N), n+float64(part.N)
	}
	r.Put("before", before/n)
	r.Put("rmse", a.RMSE).Put("crps", a.CRPS).Put("width", a.Width).Put("coverage", a.Coverage95).Put("worst", a.Worst)
	r.Put("factor_crps", a.Factor.CRPS).Put("factor_width", a.Factor.Width).Put("factor_coverage", a.Factor.Coverage95).Put("factor_worst", a.Factor.Worst)
}

// trainServed trains a model as it is served: as a file holds it.
func trainServed(ctx context.Context, data *trainer.Data, cfg trainer.Config) (*model.Model, error) {
	res, err := trainer.Train(ctx, data, cfg, func(trainer.Progress) {})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	b, err := res.Model.Encode()
	if err != nil {
		return nil, err
	}
	return model.Decode(b)
}
