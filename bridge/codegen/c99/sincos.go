package c99

import "github.com/dgm-robotics/dgm/estimator/program"

// sinCos evaluates the cosines of all rows, below them the sines; tangents are −sin x ẋ and cos x ẋ.
func (s *scope) sinCos(o *program.SinCos) {
	x := s.get(o.X)
	y := s.set(o.Out, x)
	s.call("cos_sin", 0, of(y), of(x), x.size())
	if y.active {
		s.call("cos_sin_tangent", 0, tangent(y), tangent(x), of(y), x.size())
	}
}

var _ = define(map[string]string{
	"cos_sin": `
static void cos_sin(dgm_real *y, const dgm_real *x, int n)
{
    for (int i = 0; i < n; i++) {
        y[i] = DGM_COS(x[i]);
        y[n + i] = DGM_SIN(x[i]);
    }
}
`,
	"cos_sin_tangent": `
static void cos_sin_tangent(dgm_real *dy, const dgm_real *dx, const dgm_real *y, int n)
{
    for (int i = 0; i < n; i++) {
        dy[i] = -y[n + i] * dx[i];
        dy[n + i] = y[i] * dx[i];
    }
}
`,
})
