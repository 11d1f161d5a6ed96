package estimation

import (
	"errors"

	"gonum.org/v1/gonum/mat"

	"github.com/dgm-robotics/dgm/estimator/filter"
)

// smoothed returns the states (n each) of a trace, given all of its samples, by the smoother of Rauch, Tung and Striebel:
//
//	G = P Φᵀ (P⁻)⁻¹      x ← x + G (x⁺ − x⁻)
//
// with x⁺ the smoothed state of the sample after, x⁻, P⁻ what the filter predicted of it, and Φ its derivative by x. Unless it
// is nil, p (n×n each) becomes their covariances, P ← P + G (P⁺ − P⁻) Gᵀ.
func smoothed(t *filter.Trace, p []float64) []float64 {
	n, x := t.N, append([]float64(nil), t.X...)
	copy(p, t.P)
	square := func(v []float64, i int) *mat.Dense { return mat.NewDense(n, n, v[i*n*n:(i+1)*n*n]) }
	var chol mat.Cholesky
	var product, gain, more mat.Dense
	var step mat.VecDense
	ahead := mat.NewVecDense(n, nil)
	for i := len(t.Begins) - 2; i >= 0; i-- {
		next := i + 1
		if t.Begins[next] || !chol.Factorize(mat.NewSymDense(n, t.PriorP[next*n*n:(next+1)*n*n])) {
			continue // the filter's own estimate is what there is
		}
		product.Mul(square(t.Transition, next), square(t.P, i))
		var condition mat.Condition // of free channels, whose variances are large
		if err := chol.SolveTo(&gain, &product); err != nil && !errors.As(err, &condition) {
			continue
		}
		for j := range n {
			ahead.SetVec(j, x[next*n+j]-t.Prior[next*n+j])
		}
		step.MulVec(gain.T(), ahead)
		for j := range n {
			x[i*n+j] += step.AtVec(j)
		}
		if p != nil {
			at := square(p, i)
			more.Sub(square(p, next), square(t.PriorP, next))
			product.Mul(gain.T(), &more)
			more.Mul(&product, &gain)
			at.Add(at, &more)
		}
	}
	return x
}
