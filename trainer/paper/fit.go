package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/cores"
	"github.com/dgm-robotics/dgm/trainer/objective"
	"github.com/dgm-robotics/dgm/trainer/optimise"
	"github.com/dgm-robotics/dgm/trainer/posterior"
)

// Settings are the choices of one fit.
type Settings struct {
	Core     []int          // widths of the smoother's core; the activation of the last layer is CoreEnd
	Act      mlp.Activation // of the core
	CoreEnd  mlp.Activation // (optional) of the core's last layer; defaults to linear
	DynAct   mlp.Activation // of the dynamics
	Dynamics []int          // widths of the dynamics' hidden layers
	D        int            // smoother features per channel
	F        int            // random features per channel, even
	Exact    bool           // the exact kernel instead of random features

	Steps      int     // of the optimiser
	Rate, Last float64 // learning rate: highest, last
	WarmUp     int     // steps
	FineTune   int     // (optional) last steps, at rate Last, after all others at Rate; defaults to 0: a cosine from Rate to Last
	Sigma      float64 // noise at the start, standardised
	Lambda     float64 // weight of the matching term, times N/Ns
	From, To   float64 // shares of the steps between which matching and decay of the dynamics rise
	Decay      float64 // weight decay
	Support    int     // points per trajectory at which derivatives are matched; 0 = the observations

	// Anchor is the standard deviation, standardised, of every start as an observation at
	// time 0: x0 is known exactly. Where it is measured, its standard deviation counts if that
	// is larger. 0 leaves it out.
	Anchor float64
}

// DefaultSettings returns the settings of the default recipe.
func DefaultSettings() Settings {
	return Settings{
		Core: []int{20, 20, 10}, Act: mlp.Sigmoid, DynAct: mlp.Sigmoid, Dynamics: []int{20, 20},
		D: 3, F: 100,
		Steps: 1500, Rate: 0.05, Last: 0.0005, WarmUp: 30, Sigma: 0.13,
		Lambda: 1, From: 0.2, To: 0.5, Decay: 0.3, Support: 0, Anchor: 0.03,
	}
}

// String returns the settings on one line.
func (s Settings) String() string {
	return fmt.Sprintf("core %v %s, D %d, F %d, dynamics %v %s, %d steps %g to %g, "+
		"sigma %g, lambda %g from %g to %g, decay %g, support %d, anchor %g",
		s.Core, s.Act, s.D, s.F, s.Dynamics, s.DynAct, s.Steps, s.Rate, s.Last, s.Sigma, s.Lambda, s.From, s.To, s.Decay, s.Support, s.Anchor)
}

// rate returns the learning rate of each step.
func (s *Settings) rate() func(step int) float64 {
	if s.FineTune == 0 {
		return optimise.Cosine{From: s.Rate, To: s.Last, WarmUp: s.WarmUp, Steps: s.Steps}.At
	}
	return func(step int) float64 {
		if step < s.Steps-s.FineTune {
			return s.Rate
		}
		return s.Last
	}
}

// Fit is one trained smoother with its dynamics.
type Fit struct {
	Inputs   *feature.Inputs
	Params   *objective.Params
	Settings Settings
	Parts    objective.Parts // of the last evaluation
	Least    float64         // the lowest data term of any evaluation
	Rerun    int             // earlier starts that collapsed
	Seconds  [3]float64      // of the steps before matching begins, while it rises, and after

	batch *objective.Batch
	post  []*posterior.Sum // of each channel; none with the exact kernel
}

// noiseKnots is the number of noise levels per channel: that of the observations, which is
// learned, and that of the anchors, which is not.
const noiseKnots = 2

// Train fits smoother and dynamics. seed decides everything random. A fit that collapsed is
// run again from another start; the error reports that every start collapsed, why the numbers
// failed, or that ctx ended.
func Train(ctx context.Context, d *Data, set Settings, seed uint64) (*Fit, error) {
	for start := range uint64(reruns + 1) {
		f, err := trainOnce(ctx, d, set, seed, start)
		if err != nil {
			return nil, err
		}
		if f.Rerun = int(start); !f.collapsed() {
			return f, nil
		}
	}
	return nil, errCollapsed
}

// trainOnce is Train from one start, whether it collapses or not.
func trainOnce(ctx context.Context, d *Data, set Settings, seed, start uint64) (*Fit, error) {
	t := newTraining(scale(d), d, set, rand.New(rand.NewPCG(seed, 0x7061706572+start<<32)))
	if err := train(ctx, []*training{t}); err != nil {
		return nil, fmt.Errorf("the fit: %w", err)
	}
	return t.Fit, nil
}

// TrainSeparate fits a smoother of its own to every trajectory, and one dynamics to
// all of them: the baseline of joint smoothing. A smoother predicts its own
// trajectory only. Scalers are those of all data. Whether fits collapsed is not asked: one of
// few observations explains them all before derivatives are matched, and gives that up.
func TrainSeparate(ctx context.Context, d *Data, set Settings, seed uint64) ([]*Fit, error) {
	in := scale(d)
	all, fits := make([]*training, len(d.Trajectories)), make([]*Fit, len(d.Trajectories))
	for j := range all {
		one := d.of(d.Trajectories[j])
		all[j] = newTraining(in, one, set, rand.New(rand.NewPCG(seed, uint64(j)^0x736570)))
		fits[j] = all[j].Fit
	}
	if err := train(ctx, all); err != nil {
		return nil, fmt.Errorf("separate fits: %w", err)
	}
	return fits, nil
}

// training is a fit with the memory of its objective, gradient and optimiser.
type training struct {
	*Fit
	objective *objective.Objective
	grad      *objective.Params
	adam      *optimise.Adam
	parts     objective.Parts // of the last evaluation, whose step may be undone
}

func newTraining(in *feature.Inputs, d *Data, set Settings, rng *rand.Rand) *training {
	t := &training{Fit: &Fit{Inputs: in, Settings: set, Least: math.Inf(1)}}
	t.Params = t.draw(d, rng)
	support := t.fill(d)
	t.objective = objective.New(objective.Spec{Lift: in.Lift, Scale: in.Lift.Std, Exact: set.Exact}, t.Params, t.batch.Obs.N, support)
	t.grad, t.adam = t.Params.Like(), optimise.NewAdam(len(t.Params.Flat))
	t.adam.Beta2 = 0.999
	return t
}

// setWeights sets the weights of matching and decay, rise being between 0 and 1, for one
// of so many fits that share their dynamics.
func (t *training) setWeights(rise float64, sharing int) {
	set, b := &t.Settings, t.batch
	b.Match = set.Lambda * rise * float64(b.Obs.N) / float64(b.Sup.N)
	t.objective.SetDecay(set.Decay, set.Decay*rise/float64(sharing))
}

// train fits smoothers that share one dynamics, of the same settings.
func train(ctx context.Context, all []*training) error {
	set := all[0].Settings
	from, to := all[0].Params.Range("dynamics")
	loop := optimise.Loop{Steps: set.Steps, Rate: set.rate(), MaxFailures: 12}
	for _, t := range all {
		copy(t.Params.Flat[from:to], all[0].Params.Flat[from:to])
		loop.Groups = append(loop.Groups, optimise.Group{Params: t.Params.Flat, Grad: t.grad.Flat, Optimiser: t.adam})
	}
	rise := optimise.Ramp{From: set.From, To: set.To, Power: 0.8, Steps: set.Steps}
	finite, shared := make([]bool, len(all)), make([]float64, to-from)
	loop.Evaluate = func(step int) optimise.Outcome {
		cores.Each(len(all), func(j int) {
			t := all[j]
			t.setWeights(rise.At(step), len(all))
			t.parts, finite[j] = t.objective.Evaluate(t.grad, t.Params, t.batch)
			t.fixGradient()
			finite[j] = finite[j] && !slices.ContainsFunc(t.grad.Flat, math.IsNaN)
		})
		if slices.Contains(finite, false) {
			return optimise.Failed
		}
		// All have the same dynamics and move it by the same gradient.
		clear(shared)
		for _, t := range all {
			floats.Add(shared, t.grad.Flat[from:to])
		}
		for _, t := range all {
			copy(t.grad.Flat[from:to], shared)
		}
		return optimise.Descend
	}
	last := time.Now()
	loop.Moved = func(step int, _ float64) {
		now, phase := time.Now(), 0
		switch r := rise.At(step); {
		case r == 1:
			phase = 2
		case r > 0:
			phase = 1
		}
		for _, t := range all {
			t.Parts, t.Least = t.parts, math.Min(t.Least, t.parts.Data)
			t.Seconds[phase] += now.Sub(last).Seconds()
		}
		last = now
	}
	if _, err := loop.Run(ctx); err != nil {
		return err
	}
	for j, t := range all {
		if !set.Exact && !t.condition() {
			return fmt.Errorf("the posterior of smoother %d of %d cannot be conditioned after %d steps", j+1, len(all), set.Steps)
		}
	}
	return nil
}

// fixGradient clears the gradient by what is not learned: amplitudes, and the noise of the
// anchors.
func (t *training) fixGradient() {
	from, to := t.grad.Range("amplitude")
	clear(t.grad.Flat[from:to])
	for k := range t.grad.Map.K {
		t.grad.LogSigma[k*noiseKnots+1] = 0
	}
}

// draw returns the parameters that training starts from.
func (f *Fit) draw(d *Data, rng *rand.Rand) *objective.Params {
	set, F, k := &f.Settings, f.Settings.F, d.K
	acts := slices.Repeat([]mlp.Activation{set.Act}, len(set.Core))
	acts[len(acts)-1] = set.CoreEnd
	if set.Exact {
		F = 0
	}
	m := feature.NewMap(f.Inputs.Dim(), k, set.D, F, set.Core, acts, feature.Basis{}, false)
	m.Core.Glorot(rng)
	m.Head.Glorot(rng)
	m.DrawOmega(rng)
	p := objective.Bind(m, newNet(k, set.Dynamics, 2*k, set.DynAct, rng), noiseKnots)
	for c := range k {
		p.LogSigma[c*noiseKnots] = math.Log(set.Sigma)
		if set.Anchor > 0 {
			p.LogSigma[c*noiseKnots+1] = math.Log(max(set.Anchor, d.startStd(c)/f.Inputs.Lift.Std[c]))
		}
	}
	return p
}

// fill makes the batch of all observations, anchors and support points, and
// returns the number of support points that are not observations.
func (f *Fit) fill(d *Data) (support int) {
	set, in, K := &f.Settings, f.Inputs, d.K
	n := d.Rows()
	if set.Anchor > 0 {
		n += len(d.Trajectories)
	}
	support = set.Support * len(d.Trajectories)
	b := objective.NewBatch(&f.Params.Map, in, noiseKnots, n, support)
	f.batch, b.Obs.N = b, n
	if support > 0 {
		b.Sup.N = support
	}
	i := 0
	x0 := make([]float64, K)
	add := func(t float64, y []float64, knot int) {
		setRow(b.Obs, in, i, t, x0)
		for k := range K {
			b.Y[i*K+k] = (y[k] - in.Lift.Mean[k]) / in.Lift.Std[k]
		}
		b.Noise[i*noiseKnots+knot] = 1
		i++
	}
	end := d.End()
	for j := range d.Trajectories {
		tr := &d.Trajectories[j]
		in.Lift.Apply(x0, tr.X0)
		for r, t := range tr.T {
			add(t, tr.Y[r*K:(r+1)*K], 0)
		}
		if set.Anchor > 0 {
			add(0, tr.X0, 1)
		}
		for s := range set.Support {
			setRow(b.Sup, in, j*set.Support+s, end*float64(s)/float64(max(set.Support-1, 1)), x0)
		}
	}
	for r := range b.Sup.N {
		copy(b.Origin[r*K:(r+1)*K], in.Lift.Mean)
	}
	return support
}
