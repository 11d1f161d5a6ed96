package estimation

import (
	"math"
	"slices"

	fitted "github.com/dgm-robotics/dgm/estimator/priordynamics"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/window"
)

const (
	// rounds is how often smoother and dynamics alternate at most.
	rounds = 3
	// better is by how much a round must raise the mean log likelihood of a sample, nat.
	better = 0.005
)

// Learn alternates smoothing and matching: an equation of motion is fitted to the smoothed states, and takes the place of
// accelerations that wander in filter and smoother, as long as that makes the innovations of flights more likely that it was
// not fitted to. It returns the filter it was given where no equation does.
func Learn(flights []window.Flight, spec *model.Filter, task window.Task) (*model.Filter, error) {
	out, err := alternate(flights, spec, task)
	if err != nil {
		return nil, err
	}
	own := *out
	own.Chains = slices.Clone(out.Chains)
	return &own, settle(flights, &own, task.States)
}

// alternate is Learn without the limits of what has settled. The equation's shape is that of the best on flights that were left
// out; its noises are those of flights of the kind that it was fitted to.
func alternate(flights []window.Flight, spec *model.Filter, task window.Task) (*model.Filter, error) {
	folds := partsOf(flights, task)
	if len(folds) == 0 {
		return spec, nil
	}
	best, err := alternated(folds, spec, task)
	if err != nil || best.equations[0] == nil {
		return spec, err
	}
	shape, moved := shapeOf(best.equations[0]), integrated(best.equations[0], spec.Chains)
	if fit, judge := ends(flights); len(judge) > 0 && len(folds) > 1 {
		states, err := smooth(fit, best.of(0), task.States)
		if err != nil {
			return nil, err
		}
		if equations := regress([][]window.Flight{states}, task, shape, moved); equations != nil {
			last := []part{{fit, judge}}
			if found := withEquations(last, spec, equations, task, math.Inf(-1)); found.spec != nil {
				best = found.tuned(last, task)
			}
		}
	}
	whole := best.of(0)
	states, err := smooth(flights, whole, task.States)
	if err != nil {
		return nil, err
	}
	return equationOf(whole, states, task), nil
}

// alternated returns the best of the filters that smoothing and matching lead to, in turn.
func alternated(folds []part, spec *model.Filter, task window.Task) (judged, error) {
	best := judged{spec: spec, equations: make([]*fitted.Model, len(folds)), height: math.Inf(-1)}
	best = best.orBetter(best.with(folds, spec, task))
	for range rounds {
		states := make([][]window.Flight, len(folds))
		for i := range folds {
			var err error
			if states[i], err = smooth(folds[i].fit, best.of(i), task.States); err != nil {
				return best, err
			}
		}
		none := judged{height: math.Inf(-1)}
		found := none
		try := func(shape priordynamics.Shape, chains []model.FilterChain) {
			if equations := regress(states, task, shape, chains); equations != nil {
				found = found.orBetter(withEquations(folds, spec, equations, task, found.height))
			}
		}
		estimated := slices.DeleteFunc(slices.Clone(spec.Chains), func(c model.FilterChain) bool { return !task.States[c.Rate].Estimated })
		for _, shape := range shapes(states[0], task) {
			try(shape, spec.Chains)
		}
		if found.spec != nil && len(estimated) < len(spec.Chains) { // a measured rate may be that of another point or axis
			try(shapeOf(found.equations[0]), estimated)
		}
		integrals := found
		found = none
		for _, shape := range shapes(states[0], task) {
			try(shape, nil) // where a rate turns within a step, its mean is not what the position moves by
		}
		found = integrals.tuned(folds, task).orClearly(found.tuned(folds, task))
		if found.height < best.height+better {
			break
		}
		best = found
	}
	return best, nil
}

// judged is a filter with an equation from each part, none (nil) at first, and the mean log likelihood that the innovations have
// of what the parts leave out.
type judged struct {
	spec      *model.Filter
	equations []*fitted.Model
	height    float64
	noise     []noiseSums // K
}

// of returns the filter with the equation of a part.
func (j judged) of(part int) *model.Filter {
	out := *j.spec
	if e := j.equations[part]; e != nil {
		out.Equation = *e
	}
	return &out
}

// with returns the filter with other noises.
func (j judged) with(parts []part, spec *model.Filter, task window.Task) judged {
	out, n := judged{spec: spec, equations: j.equations, noise: make([]noiseSums, len(task.States))}, 0.
	for i := range parts {
		sum, samples := likelihood(parts[i].judge, out.of(i), task.States, out.noise)
		out.height, n = out.height+sum, n+samples
	}
	if out.height /= n; math.IsNaN(out.height) {
		out.height = math.Inf(-1)
	}
	return out
}

// orClearly returns another where there is none, or that is clearly better.
func (j judged) orClearly(o judged) judged {
	if j.spec == nil || o.height >= j.height+better {
		return o
	}
	return j
}

func (j judged) orBetter(o judged) judged {
	if o.height > j.height {
		return o
	}
	return j
}

// scaled returns a copy of a filter whose chain i has its intensity times q; i < 0 = all.
func scaled(spec *model.Filter, i int, q float64) *model.Filter {
	out := *spec
	out.Chains = slices.Clone(spec.Chains)
	for j := range out.Chains {
		if i < 0 || i == j {
			out.Chains[j].Q *= q
		}
	}
	return &out
}

// tuned returns the filter, if there is one, with intensities, all and then chain by chain, and noises of sensors that are more likely.
func (j judged) tuned(parts []part, task window.Task) judged {
	if j.spec == nil {
		return j
	}
	try := func(i int, q float64) { j = j.orBetter(j.with(parts, scaled(j.spec, i, q), task)) }
	for _, factor := range []float64{math.Sqrt(10), 1 / math.Sqrt(10)} {
		try(-1, factor)
	}
	j = j.sensed(parts, task)
	for i := range j.spec.Chains {
		for _, factor := range []float64{4, 0.25, 1.5, 0.67} {
			try(i, factor)
		}
	}
	return j.sensed(parts, task)
}

const (
	// sensorRounds is how often the noises of sensors are estimated anew at most.
	sensorRounds = 4
	// mostChange is the factor by which a variance changes in a round at most.
	mostChange = 2
)

// sensed returns the filter with the noise of each sensor where the likelihood of its innovations has no slope, as far as that makes them more likely.
func (j judged) sensed(parts []part, task window.Task) judged {
	for range sensorRounds {
		spec := *j.spec
		spec.R = slices.Clone(spec.R)
		for k, n := range j.noise {
			if n.expected > 0 {
				spec.R[k] *= math.Min(math.Max(n.measured/n.expected, 1./mostChange), mostChange)
			}
		}
		found := j.with(parts, &spec, task)
		if !(found.height > j.height) {
			break
		}
		j = found
	}
	return j
}

// withEquations returns the filter of equations, with the intensity of the noise that makes the innovations most likely: to a
// power of 100, and where that comes near the best so far to half a power of 10.
func withEquations(parts []part, spec *model.Filter, equations []*fitted.Model, task window.Task, soFar float64) judged {
	start := *spec
	start.Start, start.Chains = spec.Start[:len(task.States)], slices.Clone(spec.Chains)
	for i := range start.Chains { // what an acceleration does in a step, at first
		start.Chains[i].Q *= equations[0].Step * equations[0].Step
	}
	best, power := judged{equations: equations, height: math.Inf(-1)}, 0.
	try := func(exponent float64) bool {
		trial := best.with(parts, scaled(&start, -1, math.Pow(10, exponent)), task)
		better := trial.height > best.height
		if better {
			best, power = trial, exponent
		}
		return better
	}
	for exponent := 0.; exponent >= -8 && try(exponent); exponent -= 2 { // it has one maximum
	}
	for _, half := range []float64{1, 0.5} {
		if at := power; best.height > soFar-near {
			try(at + half)
			try(at - half)
		}
	}
	return best
}

// near is how far behind the best a filter may be whose intensity is known to a power of 100, nat.
const near = 0.5
