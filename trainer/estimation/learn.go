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
	few = 2000
	// mostTerms bounds the monomials of an equation, which is evaluated at every sample on board.
	mostTerms = 200
)

// shapes of equations that are tried: steps, s, and degrees.
var (
	trialSteps   = []float64{0, 0.01, 0.03} // a sample at least
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
	best := judged{spec, likelihood(judge, spec, task.States)}
	for range rounds {
		states, err := smooth(fit, best.spec, task.States)
		if err != nil {
			return nil, err
		}
		found := judged{height: math.Inf(-1)}
		for _, shape := range shapes(states, task) {
			e, err := priordynamics.Regress(states, task, shape)
			if err != nil || e.Check(len(task.States), task.Inputs) != nil {
				continue // singular: too little moves
			}
			found = found.orBetter(withEquation(judge, spec, e, task, found.height))
		}
		if found.spec == nil {
			break
		}
		if found = found.tuned(judge, task); found.height < best.height+better {
			break
		}
		best = found
	}
	if best.spec.Equation.Degree == 0 {
		return best.spec, nil
	}
	states, err := smooth(flights, best.spec, task.States)
	if err != nil {
		return nil, err
	}
	e, err := priordynamics.Regress(states, task, priordynamics.Shape{Step: best.spec.Equation.Step, Degree: best.spec.Equation.Degree, Ridge: ridge})
	if err != nil {
		return best.spec, nil // that of the part is as good
	}
	whole := *best.spec
	whole.Equation = *e
	return &whole, nil
}

// judged is a filter with the mean log likelihood that innovations have under it.
type judged struct {
	spec   *model.Filter
	height float64
}

func (j judged) orBetter(o judged) judged {
	if o.height > j.height {
		return o
	}
	return j
}

// with returns a copy of a filter whose chain i has its intensity times q and its sensors' variances times r; i < 0 = all.
func with(spec *model.Filter, i int, q, r float64) *model.Filter {
	out := *spec
	out.Chains, out.R = slices.Clone(spec.Chains), slices.Clone(spec.R)
	for j := range out.Chains {
		if c := &out.Chains[j]; i < 0 || i == j {
			c.Q *= q
			out.R[c.Position] *= r
			out.R[c.Rate] *= r
		}
	}
	return &out
}

// tuned returns the filter with intensities and noises, all and then chain by chain, that are more likely in flights.
func (j judged) tuned(flights []window.Flight, task window.Task) judged {
	try := func(i int, q, r float64) {
		spec := with(j.spec, i, q, r)
		j = j.orBetter(judged{spec, likelihood(flights, spec, task.States)})
	}
	for _, factor := range []float64{math.Sqrt(10), 1 / math.Sqrt(10)} {
		try(-1, factor, 1)
	}
	for i := range j.spec.Chains {
		for _, factor := range []float64{4, 0.25, 1.5, 0.67} {
			try(i, factor, 1)
			try(i, 1, factor)
		}
	}
	return j
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
	dt, lift := window.Interval(flights), channel.NewLift(task.States)
	if lift.Dim()+task.Inputs == 0 {
		return nil // nothing to read: all states are invariant
	}
	for _, degree := range trialDegrees {
		var taken []float64
		for _, step := range trialSteps {
			n := math.Max(1, math.Round(step/dt))
			trial := fitted.Model{Degree: degree, Lift: lift, UMean: make([]float64, task.Inputs)}
			if slices.Contains(taken, n) || trial.Terms() > mostTerms {
				continue
			}
			taken = append(taken, n)
			out = append(out, priordynamics.Shape{Step: n * dt, Degree: degree, Ridge: ridge})
		}
	}
	return out
}

// withEquation returns the filter of an equation, with the intensity of the noise that makes the innovations of flights most
// likely: to a power of 100, and where that comes near the best so far to half a power of 10.
func withEquation(flights []window.Flight, spec *model.Filter, e *fitted.Model, task window.Task, soFar float64) (best judged) {
	out := *spec
	out.Equation, out.Start, out.Chains = *e, spec.Start[:len(task.States)], slices.Clone(spec.Chains)
	for i := range out.Chains { // what an acceleration does in a step, at first
		out.Chains[i].Q *= e.Step * e.Step
	}
	best.height = math.Inf(-1)
	power := 0.
	try := func(exponent float64) bool {
		trial := with(&out, -1, math.Pow(10, exponent), 1)
		h := likelihood(flights, trial, task.States)
		better := h > best.height
		if better {
			best, power = judged{trial, h}, exponent
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
