package c99

import "github.com/dgm-robotics/dgm/estimator/program"

// largest evaluates y_r, the largest of the rows r, R + r, … of x; ẏ is that of the first of these.
func (s *scope) largest(o *program.Largest) {
	x := s.get(o.X)
	y := s.set(o.Out, x)
	n := y.size()
	s.call("largest", 0, of(y), of(x), n, x.rows/y.rows)
	if y.active {
		s.call("largest_tangent", 0, tangent(y), tangent(x), of(x), of(y), n, x.rows/y.rows)
	}
}

var _ = define(map[string]string{
	"largest": `
static void largest(dgm_real *y, const dgm_real *x, int n, int groups)
{
    for (int i = 0; i < n; i++) {
        y[i] = x[i];
        for (int g = 1; g < groups; g++)
            if (x[g * n + i] > y[i] || x[g * n + i] != x[g * n + i])
                y[i] = x[g * n + i];
    }
}
`,
	"largest_tangent": `
static void largest_tangent(dgm_real *dy, const dgm_real *dx, const dgm_real *x, const dgm_real *y, int n, int groups)
{
    for (int i = 0; i < n; i++) {
        int g = 0;
        while (g < groups - 1 && x[g * n + i] < y[i])
            g++;
        dy[i] = dx[g * n + i];
    }
}
`,
})
