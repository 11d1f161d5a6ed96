package c99

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/program"
)

// clamp evaluates y_r = min(max(x_r, low_r), high_r); ẏ is 0 where a bound holds.
func (s *scope) clamp(o *program.Clamp) {
	x := s.get(o.X)
	y := s.set(o.Out, x)
	low, high := "0", "0"
	if !all(o.Low, math.Inf(-1)) {
		low = s.reals(o.Low)
	}
	if !all(o.High, math.Inf(1)) {
		high = s.reals(o.High)
	}
	s.call("clamp", s.columns, of(y), of(x), low, high, y.rows)
	if y.active {
		s.call("clamp_tangent", s.columns, tangent(y), tangent(x), of(x), low, high, y.rows)
	}
}

var _ = define(map[string]string{
	// NaN stays NaN; bounds that are null are none
	"clamp": `
static void clamp@(dgm_real *y, const dgm_real *x, const dgm_real *low, const dgm_real *high, int rows)
{
    for (int i = 0; i < rows * WIDTH; i++) {
        y[i] = x[i];
        if (low && x[i] < low[i / WIDTH])
            y[i] = low[i / WIDTH];
        else if (high && x[i] > high[i / WIDTH])
            y[i] = high[i / WIDTH];
    }
}
`,
	"clamp_tangent": `
static void clamp_tangent@(dgm_real *dy, const dgm_real *dx, const dgm_real *x, const dgm_real *low, const dgm_real *high, int rows)
{
    for (int i = 0; i < rows * WIDTH; i++) {
        const int outside = (low && x[i] < low[i / WIDTH]) || (high && x[i] > high[i / WIDTH]);
        dy[i] = outside ? 0 : dx[i];
    }
}
`,
})
