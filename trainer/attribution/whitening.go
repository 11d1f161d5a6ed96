package attribution

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
	"github.com/dgm-robotics/dgm/trainer/leastsquares"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// penalties of the regression; the last one leaves the past aside.
var penalties = [...]float64{1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 1e6}

// leastVariance is added to the variances of what is left, of predicted ones: a channel may not vary.
const leastVariance = 0.01

// whitening makes innovations of what moments leave: what the past does not predict, all of the same variance, and
// independent of each other. It is linear, so that what it makes of a fault's signature is the
// signature in them.
type whitening struct {
	weights []float64 // K × spans·K
	offset  []float64 // K
	inverse []float64 // K×K, of the Cholesky factor of the covariance of what is left
	left    []float64 // K scratch
}

// innovations writes those of values at a moment to dst (K), which may be the same, and adds the values to the past (spans·K): exponential
// means, which the weights are of. Of what was not measured the innovation is that of the rest.
func (w *whitening) innovations(dst, past, values, offset []float64, m *moment) {
	K := len(dst)
	matmul.Dots(w.left, matmul.Matrix(K, len(past), w.weights), matmul.Matrix(1, len(past), past))
	for k, z := range m.z {
		if w.left[k] = values[k] - offset[k] - w.left[k]; math.IsNaN(z) {
			w.left[k] = 0
		}
	}
	m.remember(past, values)
	for k := range dst {
		dst[k] = floats.Dot(w.inverse[k*K:k*K+k+1], w.left[:k+1])
	}
}

// remember adds values to the past.
func (m *moment) remember(past, values []float64) {
	K := len(values)
	for i, keep := range m.keep {
		mean := past[i*K : (i+1)*K]
		for k, z := range m.z {
			if !math.IsNaN(z) {
				mean[k] = values[k] + keep*(mean[k]-values[k])
			}
		}
	}
}

// whitenings returns that of each half of the flights without a fault and that of both. The weights have the penalty with which those of
// either half leave the least of the other. Where no moment has all measured, values stay as they are.
func whitenings(ctx context.Context, m *model.Model, flights [2][]window.Flight) (each [2]*whitening, both *whitening, err error) {
	var halves [2][][]moment
	for i := range flights {
		for f := range flights[i] {
			var part []moment
			for one, err := range moments(ctx, m, nil, &flights[i][f]) {
				if err != nil {
					return each, nil, err
				}
				part = append(part, *one)
			}
			halves[i] = append(halves[i], part)
		}
	}
	return fit(halves, m.K)
}

// fit is whitenings for moments.
func fit(halves [2][][]moment, K int) (each [2]*whitening, both *whitening, err error) {
	V := len(spans) * K
	whole, parts := leastsquares.New(V, K, make([]float64, V+K)), [2]*leastsquares.Gram{}
	for i := range halves {
		parts[i] = leastsquares.New(V, K, whole.Centre())
		for _, part := range halves[i] {
			gather(parts[i], part)
		}
		whole.Merge(parts[i])
	}
	penalty := choose(parts)
	for i := range halves {
		if each[i], err = newWhitening(parts[i], penalty, halves[i]); err != nil {
			return each, nil, err
		}
	}
	both, err = newWhitening(whole, penalty, slices.Concat(halves[0], halves[1]))
	return each, both, err
}

// gather adds the moments of a part of a flight in which all was measured, each after its past.
func gather(g *leastsquares.Gram, part []moment) {
	past := make([]float64, g.V)
	for i := range part {
		if m := &part[i]; !floats.HasNaN(m.z) {
			g.Add(append(past[:g.V:g.V], m.z...))
		}
		part[i].remember(past, part[i].z)
	}
}

// choose returns the penalty for which weights of either half leave the least of the other.
func choose(parts [2]*leastsquares.Gram) (best float64) {
	least := math.Inf(1)
	for _, penalty := range penalties {
		sum := 0.0
		for i, g := range parts {
			weights, offset, ok := g.Solve(g.V, penalty)
			if !ok {
				return penalty
			}
			for _, v := range parts[1-i].Scorer().MeanSquare(g.V, weights, offset) {
				sum += math.Log(v)
			}
		}
		if sum < least {
			best, least = penalty, sum
		}
	}
	return best
}

// newWhitening returns the whitening by the products of parts of flights.
func newWhitening(g *leastsquares.Gram, penalty float64, parts [][]moment) (*whitening, error) {
	K := g.Y
	w := &whitening{weights: make([]float64, K*g.V), offset: make([]float64, K), inverse: make([]float64, K*K), left: make([]float64, K)}
	for k := range K {
		w.inverse[k*K+k] = 1
	}
	if g.N() == 0 {
		return w, nil
	}
	var ok bool
	if w.weights, w.offset, ok = g.Solve(g.V, penalty); !ok {
		return nil, fmt.Errorf("what predictions leave of %d moments without a fault is not finite", g.N())
	}
	covariance, left := mat.NewSymDense(K, nil), mat.NewVecDense(K, nil)
	for k := range K {
		covariance.SetSym(k, k, leastVariance)
	}
	for _, part := range parts {
		past := make([]float64, g.V)
		for i := range part {
			w.innovations(left.RawVector().Data, past, part[i].z, w.offset, &part[i])
			if !floats.HasNaN(part[i].z) {
				covariance.SymRankOne(covariance, 1/float64(g.N()), left)
			}
		}
	}
	var factor mat.Cholesky
	var lower, inverse mat.TriDense
	if !factor.Factorize(covariance) {
		return nil, fmt.Errorf("what predictions leave of %d moments without a fault has no covariance", g.N())
	}
	factor.LTo(&lower)
	if err := inverse.InverseTri(&lower); err != nil {
		return nil, err
	}
	for i := range K {
		for j := range i + 1 {
			w.inverse[i*K+j] = inverse.At(i, j)
		}
	}
	return w, nil
}
