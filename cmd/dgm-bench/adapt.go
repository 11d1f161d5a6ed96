package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/firmware-sim/disturb"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
	"github.com/dgm-robotics/dgm/firmware-sim/record"
	"github.com/dgm-robotics/dgm/firmware-sim/robot"
	"github.com/dgm-robotics/dgm/trainer"
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
	none := change{"none", func(*robot.Config) {}, 1.01, 1.07}
	return []adaptSystem{
		{
			plant: plant.Pendulum(), rate: 50, horizon: time.Second, points: 25, segments: 6, length: 20,
			changes: []change{
				none, {"payload: half as heavy again", payload(0.5), 0.33, 1.5},
				{"worn bearing: twice the friction", func(c *robot.Config) { c.Params = c.Plant.Values(); c.Params[3] *= 2 }, 0.48, 1.5},
				{"gusts of 0.2 N m", gusts(0.2), 1.01, 5},
			},
		},
		{
			plant: plant.QuadrotorFlown(), rate: 100, horizon: 500 * time.Millisecond, points: 25, segments: 8, length: 20,
			changes: []change{
				none, {"worn propeller: a tenth lost", worn(0.1), 0.38, 1.1}, {"worn propeller: a fifth lost", worn(0.2), 0.26, 1.1},
				{"payload: a sixth heavier", payload(1. / 6), 0.80, 1.1}, {"payload: a third heavier", payload(1. / 3), 0.75, 1.1},
				{"gusts of 2 m/s²", gusts(2), 1.01, 2},
			},
		},
	}
}

// Times of flights, s.
const (
	adaptCalm    = 20 // before a change
	adaptChanged = 40
)

func adaptStudy() *study.Study {
	var file string
	seeds := 3
	return &study.Study{
		Name: "adapt", Summary: []string{"ok", "rmse", "coverage", "width", "recovered_s"}, Tables: adaptTables,
		Short: "How adaptation and live calibration follow a payload, wear and gusts that the model never saw",
		Long: `adapt trains small models of a simulated pendulum and a simulated quadrotor, and runs flights of a robot that has
changed through them causally: from nothing learned on, after 20 s of the robot as it was, and the robot as it
was after 20 s of the changed one. Ratios are those of dgm-eval --adapt: to the predictions without adaptation and
without the factor of live trust, intervals with that factor.

A change is ok if error and width have the ratios that are asked of it, 93 to 98 % are within the intervals of 95 %,
and 3 s after the change reverts the error is at most 1.05 times that without adaptation. The exit code is 1 if
one is not.`,
		Flags: func(cmd *cobra.Command) {
			f := cmd.Flags()
			f.StringVar(&file, "model", "", "model of the pendulum or the quadrotor to fly, instead of those trained now")
			f.IntVar(&seeds, "seeds", seeds, "flights of each change")
		},
		Units: func() ([]study.Work, error) {
			if seeds < 1 {
				return nil, cli.Usage("--seeds is %d, and must be 1 or more", seeds)
			}
			return adaptUnits(file, seeds)
		},
		Failed: notOK("adaptation does not follow %d of %d changes"),
	}
}

// adaptUnits returns the changes of all systems, or of those that the model in a file fits.
func adaptUnits(file string, seeds int) (units []study.Work, err error) {
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
			for seed := range seeds {
				units = append(units, study.Work{Key: study.Key{Set: strings.TrimSpace(s.plant.Name + " " + file), Variant: c.name, Seed: seed + 1}, Run: func(ctx context.Context, u *study.Unit) (err error) {
					if m == nil {
						u.Report("a model is trained")
						if m, err = s.train(ctx); err != nil {
							return err
						}
					}
					return s.measure(ctx, m, &c, uint64(seed), u.Row)
				}})
			}
		}
	}
	if len(units) == 0 {
		return nil, cli.Usage("--model %s has %d states and %d inputs; a pendulum has 2 and 1, a quadrotor 12 and 4", file, given.K, given.P)
	}
	return units, nil
}

// follows reports whether a change is followed as is asked of it.
func (c *change) follows(r *study.Row) bool {
	coverage := r.Number("coverage")
	least := min(0.93, r.Number("factor_coverage")-0.01) // where nothing can be learned, as without adaptation
	return r.Number("rmse") <= c.rmse && r.Number("width") <= c.width && coverage >= least && coverage <= 0.98 && r.Number("reverted_rmse") <= 1.05
}

func adaptTables(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
	return []study.Table{{
		Name: "adapt", Title: "Changes of the robot", Groups: study.GroupBy(rows, study.BySet),
		Columns: []study.Column{
			study.TextOf("simulated robot", "system"), study.TextOf("change", "change"), study.RangeOf("error ×", "rmse"), study.RangeOf("CRPS ×", "crps"), study.RangeOf("width ×", "width"),
			study.MeanOf("in 95 %, before", "before", 3), study.RangeOf("after", "coverage"), study.LeastOf("worst", "worst"), study.MeanOf("recovered, s", "recovered_s", 1),
			study.RangeOf("error × after it reverts", "reverted_rmse"), study.RangeOf("factor alone: CRPS ×", "factor_crps"), study.RangeOf("width ×", "factor_width"),
			study.RangeOf("in 95 %", "factor_coverage"), measured,
		},
	}}, nil
}

// robot returns the robot as it is before any change, with its usual sensors.
func (s *adaptSystem) robot() robot.Config {
	c := robot.Typical(s.plant)
	c.Rate = s.rate
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

// fly returns a flight of so many seconds.
func (s *adaptSystem) fly(cfg robot.Config, seed uint64, length int) []window.Flight {
	cfg.Seed = seed
	r := robot.New(cfg)
	r.Start(0, 0)
	var out window.Series
	for range int(float64(length) * s.rate) {
		x, _ := r.Sample()
		out.T, out.X, out.U = append(out.T, x.Stamp), append(out.X, x.X...), append(out.U, x.U...)
		if !r.Step() {
			break
		}
	}
	all := s.plant.Channels()
	return window.Prepare(0, out, channel.Select(all, channel.State), len(s.plant.Inputs), window.Options{})
}

// measure flies one change and puts into the row, as ratios to no adaptation and no factor:
//
//	rmse, crps, width, coverage, worst  of the changed robot, from nothing learned on
//	before                              coverage without adaptation and factor
//	factor_…                            the same with the factor alone
//	recovered_s                         after a change in flight, see evaluate.Adapted.Recovered
//	reverted_rmse                       from 3 s after the changed robot became the old one
func (s *adaptSystem) measure(ctx context.Context, m *model.Model, c *change, seed uint64, r *study.Row) error {
	changed := s.robot()
	c.make(&changed)
	flight, calm := s.fly(changed, 100+seed, adaptChanged), s.fly(s.robot(), 200+seed, adaptCalm)
	run := func(lead, flights []window.Flight) (*evaluate.Adapted, error) {
		opt := evaluate.Options{Lead: lead}
		for _, part := range []float64{0.04, 0.1, 0.24, 0.4, 0.68, 1} {
			opt.Horizons = append(opt.Horizons, part*m.Horizon)
		}
		return evaluate.Adapt(ctx, m, flights, opt)
	}
	fresh, err := run(nil, flight)
	if err != nil {
		return err
	}
	inFlight, err := run(calm, flight)
	if err != nil {
		return err
	}
	reverted, err := run(flight[:1], calm)
	if err != nil {
		return err
	}
	before, n, late := 0.0, 0.0, 0.0
	for _, part := range fresh.Since {
		before, n = before+part.Before*float64(part.N), n+float64(part.N)
	}
	for _, part := range reverted.Since {
		if part.From >= 3 {
			late = max(late, part.RMSE)
		}
	}
	r.Put("system", s.plant.Name).Put("change", c.name).Put("horizon_s", m.Horizon).Put("before", before/n).Put("recovered_s", inFlight.Recovered()).Put("reverted_rmse", late)
	r.Put("rmse", fresh.RMSE).Put("crps", fresh.CRPS).Put("width", fresh.Width).Put("coverage", fresh.Coverage95).Put("worst", fresh.Worst)
	r.Put("factor_crps", fresh.Factor.CRPS).Put("factor_width", fresh.Factor.Width).Put("factor_coverage", fresh.Factor.Coverage95)
	r.Put("ok", c.follows(r))
	return nil
}
