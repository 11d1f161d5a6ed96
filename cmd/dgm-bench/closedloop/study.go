// Package closedloop flies robots by plans that are made on models of them: the attitude-tracking
// task of safe-control-gym, fields of obstacles, and the swing-up of a pendulum.
package closedloop

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/planning"
	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer"
)

// Planners of references.
const (
	onLearned = "learned-model"
	byMPPI    = "learned-model-mppi"
	onLinear  = "linear-model"
	onHold    = "constant-velocity"
	onTruth   = "true-model"
)

// Scenarios.
const (
	figure8         = "figure-8"
	figure8Flyable  = "figure-8-flyable"
	obstacles       = "obstacles"
	obstaclesLoaded = "obstacles-payload"

	obstacles3D       = "obstacles-3d"
	obstacles3DLoaded = "obstacles-3d-payload"
)

// scenario is what is flown, and by which planners.
type scenario struct {
	name     string
	planners []string
	vehicle  *vehicle
	run      func(s *session, v *vehicle, seed int, planner string, r *study.Row) error
}

func scenarios() []scenario {
	tracking := []string{onLearned, byMPPI, onLinear, onHold, onTruth}
	inPlane, inSpace := planar(), flownQuadrotor()
	avoiding := []string{plain, narrow, wide, intervals, intervalsAdapting}
	return []scenario{
		{figure8, tracking, inPlane, (*session).figureEight},
		{figure8Flyable, tracking, inPlane, (*session).figureEight},
		{swingUp, []string{onLearned, onLinear, onTruth}, pendulum(), (*session).swingsUp},
		{obstacles, avoiding, inPlane, (*session).avoid},
		{obstaclesLoaded, avoiding, inPlane, (*session).avoid},
		{obstacles3D, []string{plain, wide, intervalsAdapting, onTruth}, inSpace, (*session).avoid},
		{obstacles3DLoaded, []string{plain, wide, intervalsAdapting, onTruth}, inSpace, (*session).avoid},
	}
}

// session is the study's memory: what was trained.
type session struct {
	flights int // through fields, and swing-ups; 0 = the vehicle's
	trained map[string]*trained
}

// trained is what was made for a vehicle and a seed.
type trained struct {
	log   *flightlog.Log
	model *model.Model
}

func (s *session) of(v *vehicle, seed int) *trained {
	key := fmt.Sprint(v.plant.Name, seed)
	if s.trained[key] == nil {
		s.trained[key] = new(trained)
	}
	return s.trained[key]
}

// Study returns the study.
func Study() *study.Study {
	s := &session{trained: map[string]*trained{}}
	seeds := 5
	var sets, planners []string // of the units
	for _, c := range scenarios() {
		sets = append(sets, c.name)
		for _, name := range c.planners {
			if !slices.Contains(planners, name) {
				planners = append(planners, name)
			}
		}
	}
	chosenSets, chosenPlanners := slices.Clone(sets), slices.Clone(planners)
	return &study.Study{
		Name: "closed-loop", Keys: []string{"tracking_rmse_m", "generalisation_rmse_m"}, Summary: []string{"tracking_rmse_m", "generalisation_rmse_m", "violations", "solve_p50_ms"}, Tables: tables,
		Short: "Plan on trained models in closed loop: a figure of eight, a swing-up, and fields of obstacles",
		Long: `closed-loop trains quick models of the planar quadrotor on 660 samples of an exploring flight each, and flies it by
plans of 0.4 s that are made 60 times a second, with the noise of safe-control-gym's attitude-tracking task on commands and
measurements. The same planner plans on a linear model of the same samples, on constant velocity, and on the true
model.

figure-8 is the task's reference, whose start no vehicle at rest can follow; figure-8-flyable is what the true model
without noise flies of it. Tracking is the root mean square distance of 11 s; generalisation that of the reference in
15 s, of the flyable one the larger of those in 9 and 15 s. A violation is a flight that leaves the task's bounds.

swing-up brings a pendulum up with two thirds of the torque that would hold it level; a violation is one that is not upright from
8 to 10 s.

obstacles are fields of eight gaps, each flight another; a violation is a collision, and planners with intervals promise
at most 5 % of flights. In obstacles-payload a tenth of the mass is put on in flight. obstacles-3d are cylinders for
quadrotor, by a model of 8 flights of 20 s with random signals on all rotors. Solve times are the processor's.`,
		Numbers: []study.Flag{
			{Name: "seeds", Usage: "models and flights of each figure", Value: &seeds, Least: 1, Most: 100},
			{Name: "flights", Usage: "flights through fields, and swing-ups, by each planner; 0 = 200, 20 swing-ups", Value: &s.flights, Least: 0, Most: 10000, Changes: true},
		},
		Flags: func(cmd *cobra.Command) {
			f := cmd.Flags()
			f.StringSliceVar(&chosenSets, "scenarios", sets, "what is flown, separated by commas")
			f.StringSliceVar(&chosenPlanners, "planners", planners, "who plans, separated by commas; each scenario has its own")
		},
		Check: func() (err error) {
			if chosenSets, err = study.Chosen("--scenarios", chosenSets, sets); err == nil {
				chosenPlanners, err = study.Chosen("--planners", chosenPlanners, planners)
			}
			return err
		},
		Units: func() ([]study.Work, error) { return s.units(chosenSets, chosenPlanners, seeds), nil },
	}
}

// units returns the units of the chosen scenarios and planners; fields have one seed.
func (s *session) units(sets, planners []string, seeds int) (units []study.Work) {
	for _, c := range scenarios() {
		if !slices.Contains(sets, c.name) {
			continue
		}
		if strings.HasPrefix(c.name, obstacles) {
			seeds = 1
		}
		for seed := 1; seed <= seeds; seed++ {
			for _, planner := range c.planners {
				if !slices.Contains(planners, planner) {
					continue
				}
				units = append(units, study.Work{
					Key: study.Key{Set: c.name, Variant: planner, Seed: seed},
					Run: func(ctx context.Context, u *study.Unit) error {
						if err := s.train(ctx, c.vehicle, planner, seed, u.Report); err != nil {
							return err
						}
						u.Put("scenario", c.name).Put("planner", planner)
						return c.run(s, c.vehicle, seed, planner, u.Row)
					},
				})
			}
		}
	}
	return units
}

// train records and trains for a seed what is not there yet and a planner needs.
func (s *session) train(ctx context.Context, v *vehicle, planner string, seed int, report func(string)) (err error) {
	t := s.of(v, seed)
	if t.model != nil || !trains(planner) {
		return nil
	}
	report("a model is trained")
	if t.log, err = explore(ctx, v, uint64(seed)); err != nil {
		return err
	}
	data, err := trainer.Load([]*flightlog.Log{t.log}, quick())
	if err != nil {
		return err
	}
	t.model, err = Train(ctx, data, quick())
	return err
}

// trains reports whether the model that a planner plans on is learned from samples.
func trains(planner string) bool { return planner != onTruth && planner != onHold }

// planner returns one of references.
func (s *session) planner(v *vehicle, name string, seed int) (*planner, error) {
	c := v.config(rows)
	m, err := s.predictor(v, name, seed)
	if err == nil && name == byMPPI {
		return newDraws(c, m.(*learned), uint64(seed))
	}
	return newDescent(c, m), err
}

// predictor returns what a planner of references plans on.
func (s *session) predictor(v *vehicle, name string, seed int) (predictor, error) {
	switch name {
	case onLinear:
		return linear(s.of(v, seed).log, v.plant)
	case onHold:
		return holdVelocity(v.plant), nil
	case onTruth:
		return truth(v), nil
	}
	return newLearned(s.of(v, seed).model, rows, false)
}

// figureEight flies references of three lengths.
func (s *session) figureEight(v *vehicle, seed int, name string, r *study.Row) error {
	rmse := map[float64]float64{}
	left := 0.
	var solves []time.Duration
	for _, length := range []float64{usualLength, 9, 15} {
		p, err := s.planner(v, name, seed)
		if err != nil {
			return err
		}
		reference := figureEight(length)
		if r.Set == figure8Flyable {
			reference = flyable(v, reference)
		}
		f, out := newFlight(v, uint64(seed)), false
		if rmse[length], out = track(f, p, reference); out {
			left += 1. / 3
		}
		solves = append(solves, f.solves...)
	}
	other := rmse[15]
	if r.Set == figure8Flyable {
		other = max(rmse[9], rmse[15])
	}
	r.Put("tracking_rmse_m", rmse[usualLength]).Put("generalisation_rmse_m", other).Put("rmse_9_m", rmse[9]).Put("rmse_15_m", rmse[15])
	r.Put("violations", left).Put("promised", 0)
	put(r, v, name, solves)
	return nil
}

// swingsUp flies a model's swing-ups.
func (s *session) swingsUp(v *vehicle, seed int, name string, r *study.Row) error {
	var seconds, held []float64
	var solves []time.Duration
	flights := cmp.Or(s.flights, v.flights)
	for i := range flights {
		m, err := s.predictor(v, name, seed)
		if err != nil {
			return err
		}
		late, off, times := swing(v, newDescent(v.config(rows), &swinging{predictor: m, plant: v.plant}), uint64(seed*flights+i))
		solves = append(solves, times...)
		if late <= swingTime-swingHeld {
			seconds, held = append(seconds, late), append(held, off)
		}
	}
	up := float64(len(seconds)) / float64(flights)
	r.Put("violations", 1-up).Put("promised", 0).Put("upright", up).Put("swings", flights)
	if up > 0 {
		r.Put("seconds", study.Mean(seconds)).Put("held_rad", study.Mean(held))
	}
	put(r, v, name, solves)
	return nil
}

// Planners of fields, all on a learned model; that on the true model has the wide margin.
const (
	plain             = "no-intervals"
	narrow            = "margin-2cm"
	wide              = "margin-7cm"
	intervals         = "intervals"
	intervalsAdapting = "intervals-adapting"
)

// avoider returns a planner of a field, and how many standard deviations it keeps free.
func (s *session) avoider(v *vehicle, seed int, name string, field []planning.Obstacle) (p *planner, deviations float64, err error) {
	var m predictor = truth(v)
	if name != onTruth {
		l, err := newLearned(s.of(v, seed).model, rows, name == intervalsAdapting)
		if err != nil {
			return nil, 0, err
		}
		if name == intervals || name == intervalsAdapting {
			deviations = factor
		}
		m = l
	}
	margin := v.slack
	switch name {
	case narrow:
		margin += 0.02
	case wide, onTruth:
		margin += 0.07
	}
	c := v.config(rows)
	c.Steps, c.Penalty, c.Most, c.Blind = 2, v.penalty, 1.2, v.blind
	c.Obstacles = slices.Clone(field)
	for i := range c.Obstacles {
		c.Obstacles[i].Margin, c.Obstacles[i].Factor, c.Obstacles[i].Widest = margin, deviations, narrowest
	}
	return newDescent(c, m), deviations, nil
}

// avoid flies fields.
func (s *session) avoid(v *vehicle, seed int, name string, r *study.Row) error {
	collided, arrived, seconds := 0., 0., []float64(nil)
	var solves []time.Duration
	flights := cmp.Or(s.flights, v.flights)
	for i := range flights {
		all := field(v, uint64(i))
		p, deviations, err := s.avoider(v, seed, name, all)
		if err != nil {
			return err
		}
		if deviations > 0 {
			r.Put("factor", deviations)
		}
		loadAt := -1.
		if strings.HasSuffix(r.Set, "payload") {
			loadAt = 0.5 + 0.3*float64(i%10)
		}
		out := through(v, all, p, uint64(i), loadAt)
		solves = append(solves, out.solves...)
		if out.collided {
			collided++
		}
		if out.arrived {
			arrived++
			seconds = append(seconds, out.seconds)
		}
	}
	n := float64(flights)
	r.Put("violations", collided/n).Put("promised", promised).Put("allowed", promised+2*math.Sqrt(promised*(1-promised)/n))
	r.Put("flights", flights).Put("arrived", arrived/n).Put("seconds", study.Mean(seconds))
	put(r, v, name, solves)
	return nil
}

// put stores how long plans took and what the planner's model was trained on.
func put(r *study.Row, v *vehicle, name string, solves []time.Duration) {
	ms := make([]float64, len(solves))
	for i, d := range solves {
		ms[i] = d.Seconds() * 1e3
	}
	used := 0
	if trains(name) {
		used = v.segments * v.samples
	}
	r.Put("solve_p50_ms", study.Quantile(ms, 0.5)).Put("solve_p99_ms", study.Quantile(ms, 0.99)).Put("training_samples", used)
}
