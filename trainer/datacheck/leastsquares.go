package datacheck

import "gonum.org/v1/gonum/mat"

// leastSquares returns the weights w that minimise Σ (y_r − w·feat_r)² over the rows in
// use, by the normal equations with a small ridge, and their factorised matrix.
func leastSquares(feat [][]float64, y []float64, use []bool) (w []float64, chol *mat.Cholesky, rows int, ok bool) {
	m := len(feat[0])
	a := make([]float64, m*m)
	b := make([]float64, m)
	for r, f := range feat {
		if !use[r] {
			continue
		}
		rows++
		for i, v := range f {
			b[i] += v * y[r]
			row := a[i*m : i*m+m]
			for j, u := range f[:i+1] {
				row[j] += v * u
			}
		}
	}
	if rows < 2*m {
		return nil, nil, 0, false
	}
	for i := range m {
		a[i*m+i] *= 1 + ridge
		a[i*m+i] += ridge * float64(rows)
		for j := range i {
			a[j*m+i] = a[i*m+j]
		}
	}
	chol, w = new(mat.Cholesky), make([]float64, m)
	ok = chol.Factorize(mat.NewSymDense(m, a)) && solve(chol, mat.NewVecDense(m, w), mat.NewVecDense(m, b))
	return w, chol, rows, ok
}

// solve writes the solution of chol·x = b to x. A matrix that is nearly singular will do.
func solve(chol *mat.Cholesky, x, b *mat.VecDense) bool {
	err := chol.SolveVecTo(x, b)
	_, nearlySingular := err.(mat.Condition)
	return err == nil || nearlySingular
}
