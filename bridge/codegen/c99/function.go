package c99

import "github.com/dgm-robotics/dgm/estimator/program"

// function evaluates y = f(x) and ẏ = f'(x) ẋ, number by number.
func (s *scope) function(o *program.Function) {
	x := s.get(o.X)
	y := s.set(o.Out, x)
	n := y.size()
	s.call("f_"+o.F.String(), 0, of(y), of(x), n)
	if y.active {
		s.call("d_"+o.F.String(), 0, tangent(y), tangent(x), of(x), of(y), n)
	}
}

// valueText and tangentText return C functions with the value and the derivative of a function.
func valueText(name, y string) string {
	return "static void f_" + name + "(dgm_real *y, const dgm_real *x, int n)\n{\n    for (int i = 0; i < n; i++)\n        y[i] = " + y + ";\n}\n"
}

func tangentText(name, unused, d string) string {
	return "static void d_" + name + "(dgm_real *dy, const dgm_real *dx, const dgm_real *x, const dgm_real *y, int n)\n{\n" + unused +
		"    for (int i = 0; i < n; i++)\n        dy[i] = " + d + ";\n}\n"
}

const (
	noX  = "    (void)x;\n"
	noY  = "    (void)y;\n"
	noXY = "    (void)x, (void)y;\n"
)

var _ = define(map[string]string{
	"f_tanh":       valueText("tanh", "DGM_TANH(x[i])"),
	"d_tanh":       tangentText("tanh", noX, "(1 - y[i] * y[i]) * dx[i]"),
	"f_sigmoid":    valueText("sigmoid", "1 / (1 + DGM_EXP(-x[i]))"),
	"d_sigmoid":    tangentText("sigmoid", noX, "y[i] * (1 - y[i]) * dx[i]"),
	"f_exp":        valueText("exp", "DGM_EXP(x[i])"),
	"d_exp":        tangentText("exp", noX, "y[i] * dx[i]"),
	"f_log":        valueText("log", "DGM_LOG(x[i])"),
	"d_log":        tangentText("log", noY, "dx[i] / x[i]"),
	"f_sqrt":       valueText("sqrt", "DGM_SQRT(x[i])"),
	"d_sqrt":       tangentText("sqrt", noX, "y[i] > 0 ? dx[i] / (2 * y[i]) : 0"),
	"f_square":     valueText("square", "x[i] * x[i]"),
	"d_square":     tangentText("square", noY, "2 * x[i] * dx[i]"),
	"f_reciprocal": valueText("reciprocal", "1 / x[i]"),
	"d_reciprocal": tangentText("reciprocal", noX, "-y[i] * y[i] * dx[i]"),
	"f_abs":        valueText("abs", "x[i] < 0 ? -x[i] : x[i]"),
	"d_abs":        tangentText("abs", noY, "x[i] < 0 ? -dx[i] : dx[i]"),
	"d_floor":      tangentText("floor", noXY+"    (void)dx;\n", "0"),
	"f_floor": `
static void f_floor(dgm_real *y, const dgm_real *x, int n)
{
    for (int i = 0; i < n; i++) {
        y[i] = x[i];
        if (x[i] > -1e6f && x[i] < 1e6f) {
            y[i] = (dgm_real)(int)x[i];
            if (y[i] > x[i])
                y[i] -= 1;
        }
    }
}
`,
})
