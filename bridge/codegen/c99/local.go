package c99

import (
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/program"
)

// local evaluates y(:,j) = M_j x(:,j), and the same of ẋ.
func (s *scope) local(o *program.Local) {
	x := s.get(o.X)
	y := s.set(o.Out, x)
	if s.p.Shape(o.Out).Cols == 1 { // one matrix
		s.clear(of(y))
		s.multiply(of(y), of(x), o.M)
		if y.active {
			s.clear(tangent(y))
			s.multiply(tangent(y), tangent(x), o.M)
		}
		return
	}
	m := fmt.Sprintf("%s + %s * %d", s.reals(o.M), s.first, y.rows*x.rows)
	s.call("local", s.columns, of(y), m, of(x), y.rows, x.rows)
	if y.active {
		s.call("local", s.columns, tangent(y), m, tangent(x), y.rows, x.rows)
	}
}

var _ = define(map[string]string{
	// y = m x, with a matrix for every column
	"local": `
static void local@(dgm_real *y, const dgm_real *m, const dgm_real *x, int rows, int cols)
{
    for (int j = 0; j < WIDTH; j++)
        for (int r = 0; r < rows; r++) {
            dgm_real s = 0;
            for (int k = 0; k < cols; k++)
                s += *m++ * x[k * WIDTH + j];
            y[r * WIDTH + j] = s;
        }
}
`,
})
