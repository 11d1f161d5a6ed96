package paper

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/cores"
)

// Distillation says how a smoother learns from what flows say.
type Distillation struct {
	Core []int          // widths of the smoother's core
	Act  mlp.Activation // of all its layers
	D, F int            // smoother features and random features a channel
	Regression
	Rounds int // steps of the covariance of the weights

	Starts, Times             int // at which the flows' mean is asked for; times a start
	SpreadStarts, SpreadTimes int // other starts, at which their variance is asked for too
}

// String tells the settings on one line.
func (t Distillation) String() string {
	return fmt.Sprintf("core %v %s, D %d, F %d, %d steps on batches of %d, %g to %g, from %d starts, %d times each, variances from %d and %d in %d rounds",
		t.Core, t.Act, t.D, t.F, t.Steps, t.Batch, t.Rate, t.Last, t.Starts, t.Times, t.SpreadStarts, t.SpreadTimes, t.Rounds)
}

var errFlow = errors.New("the refined dynamics cannot be integrated over the horizon")

// distil trains a smoother to say what the teacher says, so that predictions need no
// integration.
//
// There is no noise in what it learns from, and as much of it as it wants, so this is
// regression: a net learns means and logarithms of standard deviations together
// (regress.go); features of its last layer add to the means what it left, by least
// squares; and their weights get the covariance that makes the teacher's solutions
// likely, those that were not in the regression (spread.go). What the smoother says
// wrongly is part of its variance.
func distil(ctx context.Context, say teacher, in *feature.Inputs, d *Data, set Distillation, told func(what string), seed uint64) (*Smoother, error) {
	told("the smoother's lessons are integrated")
	rng := rand.New(rand.NewPCG(seed, 0x64697374696c))
	K, b := d.K, boxOf(d, in)
	all, ok := queryTeacher(say, in, b, d.End(), set.Starts, set.Times, false, rng)
	if !ok {
		return nil, errFlow
	}
	some, ok := queryTeacher(say, in, b, d.End(), set.SpreadStarts, set.SpreadTimes, true, rng)
	if !ok {
		return nil, errFlow
	}
	typical := some.typical(K)
	net := set.net(K, rng)
	x, y, w := targets(all, some, typical)
	done := func(step int) {
		if step%(1+set.Steps/20) == 0 {
			told(fmt.Sprintf("the smoother is taught, %d %%", 100*step/set.Steps))
		}
	}
	if !regress(ctx, net, x, y, w, set.Regression, done, rng) {
		return nil, errors.New("the smoother's regression failed numerically: a gradient is not finite")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	told("the smoother's variances are found")
	s := newSmoother(net, in, set.D, set.F, rng)
	s.Lost = all.lost + some.lost
	s.W, s.M = make([][]float64, K), make([][]float64, K)
	s.fitMeans(all.subsample(rng, mostRows))
	s.fitCovariances(some, set.Rounds)
	for k := range K {
		if s.W[k] == nil {
			return nil, errors.New("the smoother's weights cannot be found by least squares")
		}
		if s.M[k] == nil {
			return nil, errors.New("the covariance of the smoother's weights cannot be factorised")
		}
	}
	s.fold(b)
	return s, nil
}

// mostRows is how many rows the weights of the features are learned from.
const mostRows = 20000

// net draws a net of the core with means and logarithms of standard deviations.
func (t *Distillation) net(K int, rng *rand.Rand) *mlp.Net {
	widths := append([]int{1 + K}, t.Core...)
	acts := make([]mlp.Activation, len(t.Core)+1)
	for i := range t.Core {
		acts[i] = t.Act
	}
	net := mlp.New(append(widths, 2*K), acts)
	net.Glorot(rng)
	return &net
}

// targets returns inputs, targets and their weights for the net: means of one
// lesson, logarithms of standard deviations, relative to the channel's typical one,
// of the other. Errors of the mean count between equally, standardised, and by what
// the teacher is sure of.
func targets(means, spreads *distillationSet, typical []float64) (x, y, w []float64) {
	const sure, spread = 0.1, 0.1
	K, n := len(typical), means.n+spreads.n
	x = append(append(make([]float64, 0, n*(1+K)), means.x...), spreads.x...)
	y, w = make([]float64, n*2*K), make([]float64, n*2*K)
	for i := range means.n {
		for k := range K {
			y[i*2*K+k] = means.y[i*K+k]
			w[i*2*K+k] = sure / math.Sqrt(typical[k])
		}
	}
	for i := range spreads.n {
		at := (means.n+i)*2*K + K
		for k := range K {
			y[at+k] = 0.5 * math.Log(spreads.v[i*K+k]/typical[k])
			w[at+k] = spread
		}
	}
	return x, y, w
}

// fitMeans sets W by least squares.
func (s *Smoother) fitMeans(l *distillationSet) {
	const ridge = 1e-6 // of the rows
	K := s.Map.K
	s.channels(l.x, l.n, func(k int, mu, phi []float64) {
		r := make([]float64, l.n)
		for i := range r {
			r[i] = l.y[i*K+k] - mu[i]
		}
		s.W[k] = leastSquares(phi, r, l.n, s.Map.F, 1, ridge*float64(l.n))
	})
}

// fitCovariances sets M.
func (s *Smoother) fitCovariances(l *distillationSet, rounds int) {
	K, F := s.Map.K, s.Map.F
	phis, squares := make([][]float64, K), make([][]float64, K)
	s.channels(l.x, l.n, func(k int, mu, phi []float64) {
		phis[k], squares[k] = append([]float64(nil), phi...), make([]float64, l.n)
		for i := range squares[k] {
			e := l.y[i*K+k] - mu[i] - dot(s.W[k], phi[i*F:])
			squares[k][i] = l.v[i*K+k] + e*e
		}
	})
	cores.Each(K, func(k int) {
		e := newWeightCovariance(phis[k], squares[k])
		e.improve(rounds)
		s.M[k], phis[k] = e.factor(), nil
	})
}

// subsample returns at most so many rows, drawn from all.
func (l *distillationSet) subsample(rng *rand.Rand, most int) *distillationSet {
	if l.n <= most {
		return l
	}
	I, K := len(l.x)/l.n, len(l.y)/l.n
	out := &distillationSet{n: most}
	for _, i := range rng.Perm(l.n)[:most] {
		out.x = append(out.x, l.x[i*I:(i+1)*I]...)
		out.y = append(out.y, l.y[i*K:(i+1)*K]...)
	}
	return out
}
