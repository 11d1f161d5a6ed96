package c99

import (
	"fmt"
	"strings"
)

// header returns the header file.
func (f *file) header() []byte {
	a := f.about
	var b strings.Builder
	K, P, T := len(a.states), len(a.inputs), len(a.times)
	kind, size := "float", 4
	if f.double {
		kind, size = "double", 8
	}
	fmt.Fprintf(&b, `/*
 * Model %s of vehicle %q: mean and standard deviation of its states over the next %g s.
 * Written by dgm-bridge export c. The numbers are those of the model file; do not edit.
 *
 * Left out: %s.
 *
 * Not reentrant: all functions share one static work area of %d bytes, %d bytes with
 * DGM_NO_JACOBIAN. Nothing is allocated, and nothing but <math.h> is needed: sin, cos, exp, log, sqrt and tanh.
 * Do not compile with -ffast-math: numbers that are not finite would no longer be found.
 */
#ifndef DGM_MODEL_H
#define DGM_MODEL_H

#ifdef __cplusplus
extern "C" {
#endif

typedef %s dgm_real;

#define DGM_MODEL_ID %q
#define DGM_K %d /* states */
#define DGM_P %d /* inputs */
#define DGM_T %d /* times of a prediction */
#define DGM_PLAN_ROWS %d /* rows of a plan */
#define DGM_HISTORY_ROWS %d /* rows of a history */
#define DGM_HORIZON ((dgm_real)%s) /* s */

`, a.model, plain(a.vehicle), a.horizon, a.leftOut, size*f.work, size*max(f.predict, 1), kind, a.model, K, P, T, a.planRows, len(a.history), f.number(a.horizon))
	list := func(title string, channels []channel) {
		if len(channels) == 0 {
			return
		}
		fmt.Fprintf(&b, "/*\n * %s\n", title)
		for i, c := range channels {
			fmt.Fprintf(&b, " *   %2d  %s", i, plain(c.name))
			if c.unit != "" {
				fmt.Fprintf(&b, ", %s", plain(c.unit))
			}
			switch {
			case c.period > 0 && a.displacement:
				fmt.Fprintf(&b, ", period %.6g: any turn goes in, what comes out is continuous from x on", c.period)
			case c.period > 0:
				fmt.Fprintf(&b, ", period %.6g: any turn goes in, what comes out is as in the training data", c.period)
			}
			b.WriteString("\n")
		}
		b.WriteString(" */\n\n")
	}
	list("States, in this order:", a.states)
	list("Inputs, in this order:", a.inputs)
	b.WriteString(`/* Times of a prediction, s after the start. */
extern const dgm_real dgm_times[DGM_T];

/* What the functions return. */
#define DGM_OK 0
#define DGM_INPUT 1 /* an input is not finite, x is null, or an output is */
#define DGM_OUTPUT 2 /* an output is not finite: do not use it */

/*
 * Predicts from state x.
 *
 *   x        K numbers, the state now
`)
	if n := len(a.history); n > 0 {
		fmt.Fprintf(&b, ` *   history  DGM_HISTORY_ROWS x (K + P) numbers, row by row, the newest first: states (as x, not differences), then
 *            inputs. A row is the mean over a time before now, in s:%s. null: none
`, historyText(a.history))
	} else {
		b.WriteString(" *   history  is not read: null\n")
	}
	if P > 0 {
		fmt.Fprintf(&b, ` *   u        P numbers, the input that is held where plan is null; null: the mean input of the training data
 *   plan     DGM_PLAN_ROWS x P numbers, row by row: row r is the input from r * %g s on. With a plan u is not
 *            read; null: u is held
`, a.horizon/float64(max(a.planRows, 1)))
	} else {
		b.WriteString(" *   u, plan  are not read: null\n")
	}
	b.WriteString(` *   mean     T x K numbers, row by row: the state at dgm_times
 *   std      T x K numbers: its standard deviation
 *
 * Outputs must not overlap inputs.
 */
int dgm_predict(const dgm_real *x, const dgm_real *history, const dgm_real *u, const dgm_real *plan, dgm_real *mean, dgm_real *std);

/* Out-of-distribution score of the last prediction: above 1 do not plan on it. Infinite after DGM_INPUT. */
dgm_real dgm_ood(void);

#ifndef DGM_NO_JACOBIAN
/*
 * Derivatives of the mean, by forward tangents: one evaluation of the mean for every number that is differentiated by.
 *
 *   by_x      T x K x K numbers: that of state k at time t by x[i] is by_x[(t * K + k) * K + i]. The history is held
 *             fixed. null: not computed
 *   by_input  with a plan T x K x (DGM_PLAN_ROWS * P) numbers, by the plan's in their order; else T x K x P, by u.
 *             null: not computed
 */
int dgm_jacobian(const dgm_real *x, const dgm_real *history, const dgm_real *u, const dgm_real *plan, dgm_real *by_x, dgm_real *by_input);
#endif

#ifdef __cplusplus
}
#endif

#endif
`)
	return []byte(b.String())
}

// plain returns text that neither ends a comment nor begins one.
func plain(text string) string {
	return strings.NewReplacer("*/", "* /", "/*", "/ *").Replace(strings.Join(strings.Fields(text), " "))
}

func historyText(edges []float64) string {
	var b strings.Builder
	from := 0.0
	for _, to := range edges {
		fmt.Fprintf(&b, " %g-%g", from, to)
		from = to
	}
	return b.String()
}
