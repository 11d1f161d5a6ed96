package paper

import (
	"context"
	"errors"
	"fmt"
	"github.com/dgm-robotics/dgm/trainer/matching"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/cores"
)

// Distillation holds the settings by which a smoother is distilled from flows.
type Distillation struct {
	Core []int          // widths of the smoother's core
	Act  mlp.Activation // of all its layers
	D, F int            // smoother features and random features per channel
	Regression
	Rounds int // steps of the covariance of the weights

	Starts, Times             int // at which the flows' mean is queried; times per start
	SpreadStarts, SpreadTimes int // other starts, at which their variance is queried too
}

// String returns the settings on one line.
func (t Distillation) String() string {
	return fmt.Sprintf("core %v %s, D %d, F %d, %d steps on batches of %d, %g to %g, "+
		"from %d starts, %d times each, variances from %d and %d in %d rounds",
		t.Core, t.Act, t.D, t.F, t.Steps, t.Batch, t.Rate, t.Last, t.Starts, t.Times, t.SpreadStarts, t.SpreadTimes, t.Rounds)
}

var errFlow = errors.New("the refined dynamics cannot be integrated over the horizon")

// distil trains a smoother to predict as the teacher does, so that predictions need no
// integration.
//
// Its targets are without noise and as many as wanted, so this is regression: a net learns
// means and logarithms of standard deviations together (regress.go); features of its last
// layer add to the means the residual, by least squares; and their weights get the
// covariance that makes the teacher's predictions likely, those that were not in the
// regression (weight_covariance.go). The smoother's residual error is part of its variance.
func distil(
	ctx context.Context, teacher predictor, in *feature.Inputs, d *Data, set Distillation, progress func(what string), seed uint64,
) (*Smoother, error) {
	progress("the smoother's targets are integrated")
	rng := rand.New(rand.NewPCG(seed, 0x64697374696c))
	K, b := d.K, boxOf(d, in)
	means, ok := queryTeacher(teacher, in, b, d.End(), set.Starts, set.Times, false, rng)
	if !ok {
		return nil, errFlow
	}
	spreads, ok := queryTeacher(teacher, in, b, d.End(), set.SpreadStarts, set.SpreadTimes, true, rng)
	if !ok {
		return nil, errFlow
	}
	typical := spreads.typical(K)
	net := matching.NewNet(1+K, set.Core, 2*K, set.Act, rng) // means, then logarithms of standard deviations
	x, y, w := targets(means, spreads, typical)
	done := func(step int) {
		if step%(1+set.Steps/20) == 0 {
			progress(fmt.Sprintf("the smoother is distilled, %d %%", 100*step/set.Steps))
		}
	}
	if !regress(ctx, &net, x, y, w, set.Regression, done, rng) {
		return nil, errors.New("the smoother's regression failed numerically: a gradient is not finite")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	progress("the smoother's variances are fitted")
	s := newSmoother(&net, in, &set, rng)
	s.Lost = means.lost + spreads.lost
	const mostRows = 20000 // that the weights of the features are fitted to
	if !s.fitMeans(means.subsample(rng, mostRows)) {
		return nil, errors.New("the smoother's weights cannot be found by least squares")
	}
	if !s.fitCovariances(spreads, set.Rounds) {
		return nil, errors.New("the covariance of the smoother's weights cannot be factorised")
	}
	s.fold(b)
	return s, nil
}

// targets returns inputs, targets and their weights for the net: means of one set,
// logarithms of standard deviations, relative to the channel's typical one, of the other.
// Errors of the mean are weighted between equally, standardised, and by the teacher's
// precision.
func targets(means, spreads *distillationSet, typical []float64) (x, y, w []float64) {
	const precise, spread = 0.1, 0.1
	K, n := len(typical), means.n+spreads.n
	x = append(append(make([]float64, 0, n*(1+K)), means.x...), spreads.x...)
	y, w = make([]float64, n*2*K), make([]float64, n*2*K)
	for i, mean := range means.y {
		row, k := i/K*2*K, i%K
		y[row+k], w[row+k] = mean, precise/math.Sqrt(typical[k])
	}
	for i, v := range spreads.v {
		row, k := (means.n+i/K)*2*K+K, i%K
		y[row+k], w[row+k] = 0.5*math.Log(v/typical[k]), spread
	}
	return x, y, w
}

// fitMeans sets W by least squares; ok is false where it cannot.
func (s *Smoother) fitMeans(l *distillationSet) (ok bool) {
	const ridge = 1e-6 // of the rows
	K := s.Map.K
	ok = true
	s.channels(l.x, l.n, func(k int, mu, phi []float64) {
		r := make([]float64, l.n)
		for i := range r {
			r[i] = l.y[i*K+k] - mu[i]
		}
		s.W[k] = leastSquares(phi, r, l.n, s.Map.F, 1, ridge*float64(l.n))
		ok = ok && s.W[k] != nil
	})
	return ok
}

// fitCovariances sets M; ok is false where it cannot.
func (s *Smoother) fitCovariances(l *distillationSet, rounds int) (ok bool) {
	K, F := s.Map.K, s.Map.F
	covariances := make([]*weightCovariance, K)
	s.channels(l.x, l.n, func(k int, mu, phi []float64) {
		squares := make([]float64, l.n)
		for i := range squares {
			e := l.y[i*K+k] - mu[i] - dot(s.W[k], phi[i*F:])
			squares[i] = l.v[i*K+k] + e*e
		}
		covariances[k] = newWeightCovariance(slices.Clone(phi), squares)
	})
	cores.Each(K, func(k int) {
		covariances[k].improve(rounds)
		s.M[k], covariances[k] = covariances[k].factor(), nil
	})
	return !slices.ContainsFunc(s.M, func(m []float64) bool { return m == nil })
}
