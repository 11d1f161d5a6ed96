package paper

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/matching"
	"github.com/dgm-robotics/dgm/trainer/objective"
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

	matching.Schedule
	Sigma   float64 // noise at the start, standardised
	Support int     // points per trajectory at which derivatives are matched; 0 = the observations

	// Anchor is the standard deviation, standardised, of every start as an observation at
	// time 0: x0 is known exactly. 0 leaves it out.
	Anchor float64
}

// DefaultSettings returns the settings of the default recipe.
func DefaultSettings() Settings {
	return Settings{
		Core: []int{20, 20, 10}, Act: mlp.Sigmoid, DynAct: mlp.Sigmoid, Dynamics: []int{20, 20},
		D: 3, F: 100,
		Schedule: matching.Schedule{Steps: 1500, Rate: 0.05, Last: 0.0005, WarmUp: 30, Lambda: 1, From: 0.2, To: 0.5, DecayS: 0.3, DecayD: 0.3},
		Sigma:    0.13, Support: 0, Anchor: 0.03,
	}
}

// String returns the settings on one line.
func (s Settings) String() string {
	return fmt.Sprintf("core %v %s, D %d, F %d, dynamics %v %s, %d steps %g to %g, "+
		"sigma %g, lambda %g from %g to %g, decay %g, support %d, anchor %g",
		s.Core, s.Act, s.D, s.F, s.Dynamics, s.DynAct, s.Steps, s.Rate, s.Last, s.Sigma, s.Lambda, s.From, s.To, s.DecayD, s.Support, s.Anchor)
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
	if err := t.train(ctx); err != nil {
		return nil, fmt.Errorf("the fit: %w", err)
	}
	return t.Fit, nil
}

// training is a fit in training.
type training struct {
	*Fit
	inTraining *matching.Fit
}

func newTraining(in *feature.Inputs, d *Data, set Settings, rng *rand.Rand) *training {
	f := &Fit{Inputs: in, Settings: set, Least: math.Inf(1)}
	f.Params = f.draw(d, rng)
	support := f.fill(d)
	t := &training{f, matching.NewFit(objective.Spec{Lift: in.Lift, Scale: in.Lift.Std, Exact: set.Exact}, f.Params, f.batch, f.batch.Obs.N, support)}
	t.inTraining.Adam.Beta2 = 0.999
	t.inTraining.Fixed = fixGradient
	return t
}

// train takes all steps, and conditions the posterior of the weights.
func (t *training) train(ctx context.Context) error {
	run := matching.Training{Schedule: t.Settings.Schedule, Fits: []*matching.Fit{t.inTraining}}
	last := time.Now()
	run.Moved = func(_ int, _, rise float64) {
		now, phase := time.Now(), 0
		switch {
		case rise == 1:
			phase = 2
		case rise > 0:
			phase = 1
		}
		t.Parts = t.inTraining.Parts
		t.Least = math.Min(t.Least, t.Parts.Data)
		t.Seconds[phase] += now.Sub(last).Seconds()
		last = now
	}
	if err := run.Run(ctx); err != nil {
		return err
	}
	if !t.Settings.Exact && !t.condition() {
		return fmt.Errorf("the posterior of the smoother cannot be conditioned after %d steps", t.Settings.Steps)
	}
	return nil
}

// fixGradient clears the gradient by what is not learned: amplitudes, and the noise of the
// anchors.
func fixGradient(grad *objective.Params) {
	from, to := grad.Range("amplitude")
	clear(grad.Flat[from:to])
	for k := range grad.Map.K {
		grad.LogSigma[k*noiseKnots+1] = 0
	}
}

// draw returns the parameters that training starts from.
func (f *Fit) draw(d *Data, rng *rand.Rand) *objective.Params {
	set, k := &f.Settings, d.K
	shape := matching.Shape{
		Inputs: f.Inputs.Dim(), States: k, Core: set.Core, Act: set.Act, CoreEnd: set.CoreEnd, D: set.D, F: set.F, Exact: set.Exact,
		DynamicsInputs: k, Dynamics: set.Dynamics, DynAct: set.DynAct, NoiseKnots: noiseKnots,
	}
	p := shape.Draw(rng)
	for c := range k {
		p.LogSigma[c*noiseKnots] = math.Log(set.Sigma)
		if set.Anchor > 0 {
			p.LogSigma[c*noiseKnots+1] = math.Log(set.Anchor)
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

// Bounds by which a fit has collapsed. Matching has a trivial solution: a flat smoother under
// large noise, whose derivative every dynamics explains. A fit that falls into it gives up most
// of the likelihood that it had before: its data term is above the lowest on its way by more
// than collapse, nats per scalar measurement. One that was never out of it has noise of the
// standard deviation of the data: the mean over channels of its logarithm, standardised, is
// above −explained.
const (
	collapse  = 0.3
	explained = 0.05
)

// reruns is how often a fit that collapsed is run again from another start.
const reruns = 2

var errCollapsed = errors.New("the fit collapsed from every start: the smoother is flat and the noise explains the data; lower the weight of the matching (Lambda), begin it later (From), take more steps or give more data")

// collapsed reports whether the fit is the trivial solution.
func (f *Fit) collapsed() bool {
	b, K, n, noise := f.batch, f.Params.Map.K, 0.0, 0.0
	for _, y := range b.Y[:b.Obs.N*K] {
		if !math.IsNaN(y) {
			n++ // scalar measurements
		}
	}
	for k := range K {
		noise += f.Params.LogSigma[k*noiseKnots] / float64(K)
	}
	return f.Parts.Data > f.Least+collapse*n || noise > -explained
}
