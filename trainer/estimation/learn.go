package estimation

import (
	"math"
	"slices"

	fitted "github.com/dgm-robotics/dgm/estimator/priordynamics"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/window"
)

const (
	// rounds is how often smoother and dynamics alternate at most.
	rounds = 3
	// better is by how much a round must raise the mean log likelihood of a sample, nat.
	better = 0.005
	// known is the part of each flight that equations are tried on; the rest judges them.
	known = 0.7
	// few samples are enough to compare filters.
	few = 3000
	// mostTerms bounds the monomials of an equation, which is evaluated at every sample on board.
	mostTerms = 200
)

// shapes of equations that are tried: steps, s, and degrees.
var (
	trialSteps   = []float64{0.01, 0.03}
	trialDegrees = []int{1, 2, 3}
)

// Learn alternates smoothing and matching: an equation of motion is fitted to the smoothed states, and takes the place of
// accelerations that wander in filter and smoother, as long as that makes the innovations of the part of each flight that
// it was not fitted to more likely. It returns the filter it was given where no equation does.
func Learn(flights []window.Flight, spec *model.Filter, task window.Task) (*model.Filter, error) {
	out, err := alternate(flights, spec, task)
	if err != nil {
		return nil, err
	}
	own := *out
	own.Chains = slices.Clone(out.Chains)
	return &own, settle(flights, &own, task.States)
}

// alternate is Learn without the limits of what has settled.
func alternate(flights []window.Flight, spec *model.Filter, task window.Task) (*model.Filter, error) {
	fit, judge := parts(flights)
	if len(fit) == 0 || len(judge) == 0 {
		return spec, nil
	}
	best, level := spec, likelihood(judge, spec, task.States)
	for range rounds {
		states, err := smooth(fit, best, task.States)
		if err != nil {
			return nil, err
		}
		found, height := best, level
		for _, shape := range shapes(states, task) {
			e, err := priordynamics.Regress(states, task, shape)
			if err != nil || e.Check(len(task.States), task.Inputs) != nil {
				continue // singular: too little moves
			}
			if f, h := withEquation(judge, spec, e, task); h > height {
				found, height = f, h
			}
		}
		if height < level+better {
			break
		}
		best, level = found, height
	}
	if best.Equation.Degree == 0 {
		return best, nil
	}
	states, err := smooth(flights, best, task.States)
	if err != nil {
		return nil, err
	}
	e, err := priordynamics.Regress(states, task, priordynamics.Shape{Step: best.Equation.Step, Degree: best.Equation.Degree, Ridge: ridge})
	if err != nil {
		return best, nil // that of the part is as good
	}
	whole := *best
	whole.Equation = *e
	return &whole, nil
}

// ridge of the regressions, relative to the number of rows.
const ridge = 1e-7

// parts cuts each flight in two; of the second ones as much as is compared.
func parts(flights []window.Flight) (fit, judge []window.Flight) {
	n := window.Samples(flights)
	share := math.Min(1-known, few/math.Max(1, float64(n)))
	for i := range flights {
		f := &flights[i]
		cut := int(known * float64(f.N()))
		end := min(f.N(), cut+int(math.Ceil(share*float64(f.N()))))
		if cut < 2*order*order || end-cut < 2*order*order {
			continue
		}
		fit, judge = append(fit, f.Slice(0, cut)), append(judge, f.Slice(cut, end))
	}
	return fit, judge
}

// shapes returns the equations to try on flights.
func shapes(flights []window.Flight, task window.Task) (out []priordynamics.Shape) {
	dt := window.Interval(flights)
	for _, degree := range trialDegrees {
		var taken []float64
		for _, step := range trialSteps {
			n := math.Max(1, math.Round(step/dt))
			trial := fitted.Model{Degree: degree, Lift: channel.NewLift(task.States), UMean: make([]float64, task.Inputs)}
			if slices.Contains(taken, n) || trial.Terms() > mostTerms {
				continue
			}
			taken = append(taken, n)
			out = append(out, priordynamics.Shape{Step: n * dt, Degree: degree, Ridge: ridge})
		}
	}
	return out
}

// withEquation returns the filter of an equation, with the intensity of the noise that makes the innovations of flights
// most likely, and their likelihood.
func withEquation(judge []window.Flight, spec *model.Filter, e *fitted.Model, task window.Task) (*model.Filter, float64) {
	out := *spec
	out.Equation, out.Start = *e, spec.Start[:len(task.States)]
	out.Chains = slices.Clone(spec.Chains)
	// Intensities in the proportion of those of the accelerations, at the scale of the step.
	base := make([]float64, len(out.Chains))
	for i, c := range spec.Chains {
		base[i] = c.Q * e.Step * e.Step
	}
	at := func(exponent float64) *model.Filter {
		f := out
		f.Chains = slices.Clone(out.Chains)
		for i := range f.Chains {
			f.Chains[i].Q = base[i] * math.Pow(10, exponent)
		}
		return &f
	}
	value := func(exponent float64) float64 { return likelihood(judge, at(exponent), task.States) }
	top, height := 0., math.Inf(-1)
	for exponent := -8.; exponent <= 2; exponent += 2 {
		if v := value(exponent); v > height {
			top, height = exponent, v
		}
	}
	for _, step := range []float64{1, 0.5, 0.25} {
		for _, exponent := range []float64{top - step, top + step} {
			if v := value(exponent); v > height {
				top, height = exponent, v
			}
		}
	}
	return at(top), height
}
