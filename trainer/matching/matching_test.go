package matching

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/objective"
)

// The published schedule has a constant rate, a last phase at a hundredth, and matching that
// rises from the first step to the end of the transition.
func TestPublishedSchedule(t *testing.T) {
	s := Published(1000, 500, 0.05, 0.5)
	rate, rise := s.rate(), s.rise()
	if s.Steps != 2500 || rate(0) != 0.05 || rate(1499) != 0.05 || rate(1500) != 0.01 || rate(2499) != 0.01 {
		t.Errorf("%d steps, rates %v %v %v", s.Steps, rate(0), rate(1499), rate(1500))
	}
	if rise.At(0) != 0 || !(rise.At(1) > 0) || !(rise.At(999) < 1) || rise.At(1000) != 1 {
		t.Errorf("matching rises by %v %v %v %v", rise.At(0), rise.At(1), rise.At(999), rise.At(1000))
	}
}

// fit returns a smoother of one state, in training on a sine.
func fit(seed uint64) *Fit {
	in := &feature.Inputs{TimeMean: 0, TimeStd: 1, Lift: channel.Identity(1)}
	in.Lift.Mean, in.Lift.Std = []float64{0}, []float64{1}
	shape := Shape{
		Inputs: in.Dim(), States: 1, Core: []int{6, 4}, Act: mlp.Tanh, CoreEnd: mlp.Linear, D: 2, F: 12,
		DynamicsInputs: 1, Dynamics: []int{5}, DynAct: mlp.Tanh, NoiseKnots: 1,
	}
	p := shape.Draw(rand.New(rand.NewPCG(seed, 1)))
	p.LogSigma[0] = -1
	const n = 20
	b := objective.NewBatch(&p.Map, in, 1, n, 0)
	b.Obs.N = n
	for i := range n {
		at := float64(i)/5 - 2
		in.Row(b.Obs.S[i*2:(i+1)*2], b.Obs.DS[i*2:(i+1)*2], at, []float64{0.5}, nil, nil)
		b.Obs.Fill(i, in, false, feature.Basis{}, at)
		b.Y[i], b.Noise[i] = math.Sin(at), 1
	}
	return NewFit(objective.Spec{Lift: in.Lift, Scale: in.Lift.Std}, p, b, n, 0)
}

// Fits that are trained together keep one dynamics and smoothers of their own, and descend.
func TestFitsShareTheirDynamics(t *testing.T) {
	a, b := fit(1), fit(2)
	first := 0.0
	training := Training{
		Schedule: Schedule{Steps: 80, Rate: 0.02, Last: 0.001, WarmUp: 5, Lambda: 1, From: 0.2, To: 0.5, DecayS: 0.1, DecayD: 0.1},
		Fits:     []*Fit{a, b},
		Moved: func(step int, _, rise float64) {
			if step == 0 {
				first = a.Parts.Data
			}
			if (rise == 0) != (step <= 16) {
				t.Errorf("matching has the weight %v at step %d", rise, step)
			}
		},
	}
	if err := training.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	from, to := a.Params.Range("dynamics")
	for i, v := range a.Params.Flat {
		if same := v == b.Params.Flat[i]; same != (i >= from && i < to) && v != 0 {
			t.Fatalf("parameter %d of %d to %d: %v and %v", i, from, to, v, b.Params.Flat[i])
		}
	}
	if !(a.Parts.Data < first-5) {
		t.Errorf("the data term goes from %v to %v", first, a.Parts.Data)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := training.Run(ctx); err != context.Canceled {
		t.Error(err)
	}
}
