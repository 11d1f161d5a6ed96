// Command closedloop-go plans in its own process on models that it has trained, and flies the
// planar quadrotor of safe-control-gym's attitude-tracking task by these plans: its figure of
// eight, and fields of obstacles with a promise of how many flights collide.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/examples/mpc-go/planning"
	"github.com/dgm-robotics/dgm/firmware-sim/record"
	"github.com/dgm-robotics/dgm/firmware-sim/robot"
	"github.com/dgm-robotics/dgm/trainer"
)

// Planners of figures, by what they plan on.
const (
	onLearned = "learned-model"
	byMPPI    = "learned-model-mppi"
	onLinear  = "linear-model"
	onHold    = "constant-velocity"
	onTruth   = "true-model"
)

// Planners of fields, all on a learned model.
const (
	plain             = "no-intervals"
	wide              = "margin-7cm"
	intervals         = "intervals"
	intervalsAdapting = "intervals-adapting"
)

func main() {
	numbers := []int{1, 200}
	for i, arg := range os.Args[1:] {
		n, err := strconv.Atoi(arg)
		if err != nil || n < 0 || i >= len(numbers) {
			log.Fatal("usage: closedloop-go [MODELS [FLIGHTS]]: models, each of another exploring flight, that fly the figures; flights through fields by each planner, on the first model")
		}
		numbers[i] = n
	}
	if err := run(context.Background(), os.Stdout, max(numbers[0], 1), numbers[1]); err != nil {
		log.Fatal(err)
	}
}

// run prints a table of figures and one of fields.
func run(ctx context.Context, out *os.File, seeds, flights int) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	var first *trained
	fmt.Fprint(table, "reference\tplans on\tseed\ttracking RMSE, m\tgeneralisation RMSE, m\tplan, ms\t\n")
	for seed := range uint64(seeds) {
		t, err := train(ctx, seed+1)
		if err != nil {
			return err
		}
		if first == nil {
			first = t
		}
		for _, flyable := range []bool{false, true} {
			for _, name := range []string{onLearned, byMPPI, onLinear, onHold, onTruth} {
				r, err := t.figure(name, flyable)
				if err != nil {
					return err
				}
				fmt.Fprintf(table, "%s\t%s\t%d\t%.4f\t%.4f\t%.2f\t\n", map[bool]string{false: "figure-8", true: "figure-8-flyable"}[flyable], name, t.seed, r.tracking, r.generalisation, r.plan.Seconds()*1e3)
			}
		}
	}
	if err := table.Flush(); err != nil || flights == 0 {
		return err
	}
	fmt.Fprintf(table, "\nfield\tplanner\tcollided\tpromised\tarrived\tseconds\tflights\tplan, ms\t\n")
	for _, loaded := range []bool{false, true} {
		for _, name := range []string{plain, wide, intervals, intervalsAdapting} {
			r, err := first.fields(name, flights, loaded)
			if err != nil {
				return err
			}
			fmt.Fprintf(table, "%s\t%s\t%.3f\t%g\t%.3f\t%.2f\t%d\t%.2f\t\n", map[bool]string{false: "obstacles", true: "obstacles-payload"}[loaded], name, r.collided, promised, r.arrived, r.seconds, flights, r.plan.Seconds()*1e3)
		}
	}
	return table.Flush()
}

// trained is what was made of an exploring flight.
type trained struct {
	seed  uint64
	log   *flightlog.Log
	model *model.Model
}

// explore records a flight of 660 samples.
func explore(ctx context.Context, seed uint64) (*flightlog.Log, error) {
	c := robot.Typical(vehicle)
	c.Seed = seed
	return record.Log(ctx, record.Options{Robot: c, Vehicle: vehicle.Name, Source: "closedloop-go", Samples: 660, Segments: 1})
}

// train trains a quick model on an exploring flight.
func train(ctx context.Context, seed uint64) (*trained, error) {
	all, err := explore(ctx, seed)
	if err != nil {
		return nil, err
	}
	c := trainer.Quick()
	c.Horizon, c.Points, c.Holdout = trainer.Duration(400*time.Millisecond), ticks, 0
	data, err := trainer.Load([]*flightlog.Log{all}, c)
	if err != nil {
		return nil, err
	}
	res, err := trainer.Train(ctx, data, c, func(trainer.Progress) {})
	if err != nil {
		return nil, err
	}
	b, err := res.Model.Encode()
	if err != nil {
		return nil, err
	}
	m, err := model.Decode(b) // as it is served
	return &trained{seed, all, m}, err
}

// tracked is how references were followed.
type tracked struct {
	tracking, generalisation float64       // m
	plan                     time.Duration // the median
}

// figure flies references of three lengths: the one that was trained for, and others.
func (t *trained) figure(name string, within bool) (*tracked, error) {
	rmse := map[float64]float64{}
	var solves []time.Duration
	for _, length := range []float64{usualLength, 9, 15} {
		p, err := t.planner(name)
		if err != nil {
			return nil, err
		}
		reference := figureEight(length)
		if within {
			reference = flyable(reference)
		}
		f := newFlight(t.seed)
		rmse[length] = track(f, p, reference)
		solves = append(solves, f.solves...)
	}
	other := rmse[15]
	if within {
		other = max(rmse[9], rmse[15])
	}
	return &tracked{rmse[usualLength], other, median(solves)}, nil
}

// planner returns one of figures.
func (t *trained) planner(name string) (*planner, error) {
	c := config(rows)
	switch name {
	case onLinear:
		m, err := linear(t.log)
		return newDescent(c, m), err
	case onHold:
		return newDescent(c, holdVelocity()), nil
	case onTruth:
		return newDescent(c, truth()), nil
	}
	m, err := newLearned(t.model, rows, false)
	if err == nil && name == byMPPI {
		return newDraws(c, m, t.seed)
	}
	return newDescent(c, m), err
}

// passed is how flights through fields went: shares of them, and the mean time of those that arrived, s.
type passed struct {
	collided, arrived, seconds float64
	plan                       time.Duration // the median
}

// fields flies so many fields, each another; loaded puts a payload on in flight.
func (t *trained) fields(name string, flights int, loaded bool) (*passed, error) {
	out := &passed{}
	var solves []time.Duration
	for i := range flights {
		all := field(uint64(i))
		p, err := t.avoider(name, all)
		if err != nil {
			return nil, err
		}
		loadAt := -1.
		if loaded {
			loadAt = 0.5 + 0.3*float64(i%10)
		}
		one := through(all, p, uint64(i), loadAt)
		solves = append(solves, one.solves...)
		if one.collided {
			out.collided += 1 / float64(flights)
		}
		if one.arrived {
			out.arrived += 1 / float64(flights)
			out.seconds += one.seconds / float64(flights)
		}
	}
	if out.arrived > 0 {
		out.seconds /= out.arrived
	}
	out.plan = median(solves)
	return out, nil
}

// avoider returns a planner of a field: on a learned model, with a constant margin or with one of
// so many standard deviations that the promise is kept.
func (t *trained) avoider(name string, field []planning.Obstacle) (*planner, error) {
	m, err := newLearned(t.model, rows, name == intervalsAdapting)
	if err != nil {
		return nil, err
	}
	margin, deviations := slack, 0.0
	switch {
	case name == wide:
		margin += 0.07
	case strings.HasPrefix(name, intervals):
		deviations = factor
	}
	return newDescent(avoiding(field, margin, deviations), m), nil
}

// avoiding returns what is planned in a field where a margin, m, and so many standard deviations are kept free.
func avoiding(field []planning.Obstacle, margin, deviations float64) planning.Config {
	c := config(rows)
	c.Steps, c.Penalty, c.Most = 2, 1e5, 1.2
	c.Obstacles = slices.Clone(field)
	for i := range c.Obstacles {
		c.Obstacles[i].Margin, c.Obstacles[i].Factor, c.Obstacles[i].Widest = margin, deviations, narrowest
	}
	return c
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
