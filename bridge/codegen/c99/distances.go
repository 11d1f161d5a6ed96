package c99

import "github.com/dgm-robotics/dgm/estimator/program"

// distances evaluates y_j = ‖x − p_j‖², and ẏ_j = 2 (x − p_j)ᵀ ẋ.
func (s *scope) distances(o *program.Distances) {
	x := s.get(o.X)
	y := s.set(o.Out, x)
	points := s.reals(o.Points)
	s.call("distances", s.columns, of(y), of(x), points, y.rows, x.rows)
	if y.active {
		s.call("distances_tangent", s.columns, tangent(y), tangent(x), of(x), points, y.rows, x.rows)
	}
}

var _ = define(map[string]string{
	"distances": `
static void distances@(dgm_real *y, const dgm_real *x, const dgm_real *points, int rows, int coordinates)
{
    for (int r = 0; r < rows; r++, points += coordinates)
        for (int j = 0; j < WIDTH; j++) {
            dgm_real s = 0;
            for (int k = 0; k < coordinates; k++) {
                const dgm_real d = x[k * WIDTH + j] - points[k];
                s += d * d;
            }
            y[r * WIDTH + j] = s;
        }
}
`,
	"distances_tangent": `
static void distances_tangent@(dgm_real *dy, const dgm_real *dx, const dgm_real *x, const dgm_real *points, int rows, int coordinates)
{
    for (int r = 0; r < rows; r++, points += coordinates)
        for (int j = 0; j < WIDTH; j++) {
            dgm_real s = 0;
            for (int k = 0; k < coordinates; k++)
                s += (x[k * WIDTH + j] - points[k]) * dx[k * WIDTH + j];
            dy[r * WIDTH + j] = 2 * s;
        }
}
`,
})
