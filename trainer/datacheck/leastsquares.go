package datacheck

import (
	"gonum.org/v1/gonum/mat"
)

// ridge keeps features that say the same from having large opposite weights.
const ridge = 1e-6

// leastSquares returns the weights w that minimise Σ (y_r − w·feat_r)² over the
// rows in use, by the normal equations with a small ridge.
func leastSquares(feat [][]float64, y []float64, use []bool) (w []float64, chol *mat.Cholesky, rows int, ok bool) {
	m := len(feat[0])
	a := make([]float64, m*m)
	b := make([]float64, m)
	n := 0
	for r, f := range feat {
		if !use[r] {
			continue
		}
		n++
		for i, v := range f {
			b[i] += v * y[r]
			row := a[i*m : i*m+m]
			for j, u := range f[:i+1] {
				row[j] += v * u
			}
		}
	}
	if n < 2*m {
		return nil, nil, 0, false
	}
	for i := range m {
		a[i*m+i] *= 1 + ridge
		a[i*m+i] += ridge * float64(n)
		for j := range i {
			a[j*m+i] = a[i*m+j]
		}
	}
	chol = new(mat.Cholesky)
	if !chol.Factorize(mat.NewSymDense(m, a)) {
		return nil, nil, 0, false
	}
	w = make([]float64, m)
	out := mat.NewVecDense(m, w)
	if err := chol.SolveVecTo(out, mat.NewVecDense(m, b)); err != nil {
		if _, bad := err.(mat.Condition); !bad {
			return nil, nil, 0, false
		}
	}
	return w, chol, n, true
}
