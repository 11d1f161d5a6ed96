package motion

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/motion"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/priordynamics/paths"
	"github.com/dgm-robotics/dgm/trainer/window"
)

const (
	few        = 64 // windows by which kinds are compared
	mostNodes  = 60 // of a roll-out
	iterations = 12 // of each stage of a fit
	least      = 20 // and without so many windows there is no fit
)

// ErrTooFew is where flights are too short for an equation of motion.
var ErrTooFew = errors.New("too few windows for an equation of motion")

// Settings of the roll-outs.
type Settings struct {
	Step    float64 // s, of a fit: inputs that change within it are averaged, which biases parameters
	Nodes   int
	Predict float64 // s, of predictions

	windows  int  // at most
	reported bool // parameters have intervals
}

// SettingsOf returns steps of one sample in a fit, where these are no more than mostNodes, and of about a 25th of the horizon in
// predictions, but as in a fit where servos are proposed, whose joints are stiff. It fits to so many windows at most.
func SettingsOf(flights []window.Flight, task window.Task, windows int, proposed []motion.Equation) Settings {
	dt := window.ShortestInterval(flights)
	samples := func(parts float64) float64 { return math.Max(1, math.Round(task.Horizon/parts/dt)) * dt }
	s := Settings{Step: math.Max(samples(mostNodes), dt), Predict: samples(25), windows: windows, reported: true}
	s.Nodes = max(1, int(task.Horizon/s.Step+1e-9))
	if slices.ContainsFunc(proposed, func(e motion.Equation) bool { return strings.HasSuffix(e.Kind, "servo joints") }) {
		s.Predict = s.Step
	}
	return s
}

// Coarse returns settings with the steps of predictions and half the windows, for fits whose parameters are not reported.
func (s Settings) Coarse(task window.Task) Settings {
	return Settings{Step: s.Predict, Nodes: max(1, int(task.Horizon/s.Predict+1e-9)), Predict: s.Predict, windows: max(s.windows/2, few)}
}

// Choose fits the proposed equation that fits a few windows best. It returns nil where none is proposed, or none can be fitted.
func Choose(ctx context.Context, flights []window.Flight, task window.Task, proposed []motion.Equation, set Settings) (best *motion.Equation, objective float64, err error) {
	leader := []float64{math.Inf(1), math.Inf(1)}
	for _, e := range proposed {
		f, objectives, err := screen(ctx, flights, task, e, set, leader)
		if err != nil {
			return nil, 0, err
		}
		if f.objective < leader[1] {
			best, leader = f.e, objectives
		}
	}
	if best == nil {
		return nil, 0, nil
	}
	return Fit(ctx, flights, task, *best, set, values(best))
}

// screen fits an equation to few windows, as far as it can be better than the leader, and returns the objectives of both stages.
func screen(ctx context.Context, flights []window.Flight, task window.Task, e motion.Equation, set Settings, leader []float64) (*problem, []float64, error) {
	set = set.Coarse(task)
	set.windows = few
	f, objectives, err := fit(ctx, flights, task, e, set, nil, leader)
	if err != nil {
		return nil, nil, err
	}
	f.report(set)
	return f, objectives, nil
}

func values(e *motion.Equation) (out []float64) {
	for _, p := range e.Parameters {
		out = append(out, p.Value)
	}
	return out
}

// Fit fits an equation to flights, from the parameters start, and returns it with the objective that it reaches: the mean
// logarithm of its error over that of holding.
func Fit(ctx context.Context, flights []window.Flight, task window.Task, e motion.Equation, set Settings, start []float64) (*motion.Equation, float64, error) {
	f, _, err := fit(ctx, flights, task, e, set, start, []float64{math.Inf(1)})
	if err != nil {
		return nil, 0, err
	}
	f.shrink()
	f.report(set)
	return f.e, f.alone(), nil
}

// report sets the parameters of the equation, with their intervals where settings ask for them.
func (f *problem) report(set Settings) {
	for i, v := range f.theta {
		p := &f.e.Parameters[i]
		p.Value, p.Low, p.High = v, v, v
	}
	if set.reported {
		f.intervals()
	}
}

// behind is by how much the objective of a short roll-out exceeds the leader's for a longer one not to be tried.
const behind = 0.2

// fit is Fit without what follows the descent, by roll-outs of a few nodes, then of all, and of all only from given parameters. It ends where
// the equation cannot be better than the leader, by whose objectives of these stages it is judged, and returns its own.
func fit(ctx context.Context, flights []window.Flight, task window.Task, e motion.Equation, set Settings, start, leader []float64) (f *problem, objectives []float64, err error) {
	K := len(task.States)
	e.Parameters = slices.Clone(e.Parameters)
	e.Bound = bounds(flights, K, task.Inputs, &e)
	theta, noise := make([]float64, len(e.Parameters)), noises(flights, K)
	copy(theta, start)
	stages, tolerance := []int{max(3, set.Nodes/6), set.Nodes}, rough
	if start != nil {
		stages, tolerance = stages[1:], fine
	}
	for i, nodes := range stages {
		nodes = min(nodes, set.Nodes)
		s := paths.Gather(&priordynamics.Body{}, flights, task, set.Step, nodes, set.windows)
		if s.N < least {
			return nil, nil, ErrTooFew
		}
		f = newProblem(&e, s, noise)
		f.theta = theta
		last := i == len(stages)-1
		if last {
			f.descend(ctx, tolerance, leader[i])
		} else {
			f.descend(ctx, tolerance, math.Inf(1))
		}
		objectives = append(objectives, f.objective)
		if !last && f.objective > leader[i]+behind {
			f.objective = math.Inf(1)
			break
		}
	}
	return f, objectives, nil
}

// alone returns the objective of the measured starts.
func (f *problem) alone() float64 {
	_, objective := f.errors(f.theta, make([]float64, len(f.delta)))
	return objective
}

// noises returns the variances of the states' noise (K), from third differences of samples that follow one another: what is
// white in them. Of a filtered signal that is little.
func noises(flights []window.Flight, K int) []float64 {
	sum, n := make([]float64, K), make([]float64, K)
	for i := range flights {
		f := &flights[i]
		for j := 3; j < f.N(); j++ {
			for k := range K {
				at := func(back int) float64 { return f.X[(j-back)*K+k] }
				if d := at(0) - 3*at(1) + 3*at(2) - at(3); !math.IsNaN(d) {
					sum[k] += d * d / 20
					n[k]++
				}
			}
		}
	}
	for k := range sum {
		sum[k] /= math.Max(n[k], 1)
	}
	return sum
}

// slack is how far beyond the largest value of the data a rate or an input is let.
const slack = 3

// joint reports whether a role is the angle of a joint that does not turn on.
func joint(r motion.Role) bool { return strings.HasPrefix(r.Name, "angle ") && !r.Turns }

// bounds returns what states and inputs are clamped to: velocities, rates, angles that a joint's stiffness acts on, and inputs, by their
// largest values.
func bounds(flights []window.Flight, K, P int, e *motion.Equation) []float64 {
	out := slices.Repeat([]float64{math.MaxFloat32}, K+P)
	largest := make([]float64, K+P)
	for i := range flights {
		f := &flights[i]
		for j := range f.N() {
			for c, v := range slices.Concat(f.State(j), f.Input(j)) {
				if !math.IsNaN(v) {
					largest[c] = math.Max(largest[c], math.Abs(v))
				}
			}
		}
	}
	for _, r := range e.Roles {
		if d := dimension(r.Name); d == "m/s" || d == "rad/s" || joint(r) {
			out[r.State] = slack*largest[r.State] + 1e-9
		}
	}
	for p := range P {
		out[K+p] = slack*largest[K+p] + 1e-9
	}
	return out
}
