package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/objective"
	"github.com/dgm-robotics/dgm/trainer/optimise"
)

// Fit is one trained smoother with its dynamics.
type Fit struct {
	Inputs   *feature.Inputs
	Params   *objective.Params
	Settings Settings
	Parts    objective.Parts // of the last evaluation
	Failures int             // steps that were taken back
	Seconds  [3]float64      // of the steps before matching begins, while it rises, and after

	batch *objective.Batch
	post  *posteriors
}

// noiseKnots is the number of noise levels a channel: that of the observations,
// which is learned, and that of the anchors, which is not.
const noiseKnots = 2

// most failures that a fit survives.
const maxFailures = 12

// Train fits smoother and dynamics. seed decides everything random. The error
// says why the numbers failed, or that ctx ended.
func Train(ctx context.Context, d *Data, set Settings, seed uint64) (*Fit, error) {
	rng := rand.New(rand.NewPCG(seed, 0x7061706572))
	f := &Fit{Inputs: scale(d), Settings: set}
	f.Params = f.draw(d.K, rng)
	ns := f.fill(d)
	p, b := f.Params, f.batch
	N := float64(b.Obs.N)
	o := objective.New(objective.Spec{Lift: f.Inputs.Lift, Scale: f.Inputs.Lift.Std, Exact: set.Exact}, p, b.Obs.N, ns)
	grad := p.Like()
	adam := optimise.NewAdam(len(p.Flat))
	adam.Beta2 = 0.999
	rise := optimise.Ramp{From: set.From, To: set.To, Power: 0.8, Steps: set.Steps}
	var parts objective.Parts
	from := time.Now()
	loop := optimise.Loop{
		Steps: set.Steps, Rate: set.rate(), MaxFailures: maxFailures, Groups: []optimise.Group{{Params: p.Flat, Grad: grad.Flat, Optimiser: adam}},
		Evaluate: func(step int) optimise.Outcome {
			b.Match = set.Lambda * rise.At(step) * N / float64(b.Sup.N)
			o.SetDecay(set.Decay, set.Decay*rise.At(step))
			var ok bool
			parts, ok = o.Evaluate(grad, p, b)
			fix(grad)
			if norm := optimise.Clip(grad.Flat, clipAt(set.Clip)); !ok || math.IsNaN(norm) {
				return optimise.Failed
			}
			return optimise.Descend
		},
		Moved: func(step int, _ float64) {
			f.Parts = parts
			now := time.Now()
			f.Seconds[set.phase(step)] += now.Sub(from).Seconds()
			from = now
		},
	}
	var err error
	if f.Failures, err = loop.Run(ctx); err != nil {
		return nil, fmt.Errorf("the fit: %w", err)
	}
	if set.Exact {
		return f, nil // predicts by Exact
	}
	f.post = f.condition()
	if f.post == nil {
		return nil, fmt.Errorf("the posterior cannot be conditioned after %d steps", set.Steps)
	}
	return f, nil
}

// fix clears the gradient by what is not learned: amplitudes, and the noise of the anchors.
func fix(grad *objective.Params) {
	from, to := grad.Range("amplitude")
	clear(grad.Flat[from:to])
	for k := range grad.Map.K {
		grad.LogSigma[k*noiseKnots+1] = 0
	}
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

// phase tells whether a step is before matching (0), while it rises (1) or after (2).
func (s *Settings) phase(step int) int {
	switch share := float64(step) / float64(s.Steps); {
	case share < s.From:
		return 0
	case share < s.To:
		return 1
	}
	return 2
}

func clipAt(most float64) float64 {
	if most > 0 {
		return most
	}
	return math.Inf(1)
}

// draw returns the parameters that training starts from.
func (f *Fit) draw(k int, rng *rand.Rand) *objective.Params {
	set := &f.Settings
	acts := make([]mlp.Activation, len(set.Core))
	for i := range acts[:len(acts)-1] {
		acts[i] = set.Act
	}
	acts[len(acts)-1] = set.CoreEnd
	F := set.F
	if set.Exact {
		F = 0
	}
	m := feature.NewMap(f.Inputs.Dim(), k, set.D, F, set.Core, acts, feature.Basis{}, false)
	m.Core.Glorot(rng)
	m.Head.Glorot(rng)
	m.DrawOmega(rng)
	widths := append(append([]int{k}, set.Dynamics...), 2*k)
	dacts := make([]mlp.Activation, len(widths)-1)
	for i := range dacts[:len(dacts)-1] {
		dacts[i] = set.DynAct
	}
	dyn := mlp.New(widths, dacts)
	dyn.Glorot(rng)
	p := objective.Bind(m, dyn, noiseKnots)
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
func (f *Fit) fill(d *Data) (ns int) {
	set, in, K := &f.Settings, f.Inputs, d.K
	n := d.Rows()
	if set.Anchor > 0 {
		n += len(d.Trajectories)
	}
	if set.Support > 0 {
		ns = set.Support * len(d.Trajectories)
	}
	b := objective.NewBatch(&f.Params.Map, in, noiseKnots, n, ns)
	b.Obs.N = n
	i := 0
	x0 := make([]float64, K)
	add := func(tr *Trajectory, t float64, y []float64, knot int) {
		in.Lift.Apply(x0, tr.X0)
		f.row(b.Obs, i, t, x0)
		for k := range K {
			b.Y[i*K+k] = (y[k] - in.Lift.Mean[k]) / in.Lift.Std[k]
		}
		b.Noise[i*noiseKnots+knot] = 1
		i++
	}
	for j := range d.Trajectories {
		tr := &d.Trajectories[j]
		for r, t := range tr.T {
			add(tr, t, tr.Y[r*K:(r+1)*K], 0)
		}
		if set.Anchor > 0 {
			add(tr, 0, tr.X0, 1)
		}
	}
	if ns > 0 {
		b.Sup.N = ns
		end := d.End()
		for j := range d.Trajectories {
			in.Lift.Apply(x0, d.Trajectories[j].X0)
			for s := range set.Support {
				t := end * float64(s) / float64(max(set.Support-1, 1))
				f.row(b.Sup, j*set.Support+s, t, x0)
			}
		}
	}
	for r := range b.Sup.N {
		copy(b.Origin[r*K:(r+1)*K], in.Lift.Mean)
	}
	f.batch = b
	return ns
}

// row writes row i of the smoother's input: time and standardised start.
func (f *Fit) row(r *feature.Rows, i int, t float64, x0 []float64) {
	I := f.Inputs.Dim()
	f.Inputs.Row(r.S[i*I:(i+1)*I], r.DS[i*I:(i+1)*I], t, x0, nil, nil)
	r.Fill(i, f.Inputs, false, feature.Basis{}, t)
}
