package c99

import (
	"fmt"
	"slices"
	"strings"
)

// body returns the source file.
func (f *file) body() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "/* Model %s, see %s. */\n#include <math.h>\n\n#include %q\n\n", f.about.model, HeaderFile, HeaderFile)
	suffix := "f"
	if f.double {
		suffix = ""
	}
	for _, name := range []string{"sin", "cos", "exp", "log", "sqrt", "tanh"} {
		fmt.Fprintf(&b, "#define DGM_%s %s%s\n", strings.ToUpper(name), name, suffix)
	}
	fmt.Fprintf(&b, "#define DGM_INFINITY ((dgm_real)INFINITY)\n\n")
	fmt.Fprintf(&b, "#ifndef DGM_NO_JACOBIAN\n#define DGM_WORK %d\n#else\n#define DGM_WORK %d\n#endif\n\n", f.work, max(f.predict, 1))
	b.WriteString(`/* Functions are called from many places: copies of them would fill the flash, and take minutes to compile. */
#if defined(__clang__)
#define DGM_FUNCTION static __attribute__((noinline))
#elif defined(__GNUC__)
#define DGM_FUNCTION static __attribute__((noinline, noclone))
#else
#define DGM_FUNCTION static
#endif

`)
	b.WriteString(`/* Where there is no vector unit, sums of a few columns belong in registers. */
#if defined(__GNUC__) && !defined(__clang__) && !defined(__SSE2__) && !defined(__ARM_NEON)
#define DGM_UNROLL _Pragma("GCC unroll 4")
#else
#define DGM_UNROLL
#endif

`)
	b.WriteString("static dgm_real dgm_work[DGM_WORK];\nstatic dgm_real dgm_score;\n\n")
	fmt.Fprintf(&b, "const dgm_real dgm_times[DGM_T] = {\n    %s\n};\n\n", f.list(f.about.times))
	if len(f.about.inputs) > 0 {
		fmt.Fprintf(&b, "static const dgm_real input_mean[DGM_P] = {\n    %s\n};\n\n", f.list(f.about.inputMean))
	}
	b.WriteString(f.predictDeclared)
	b.WriteString(f.predictCode)
	b.WriteString(`/* whether n numbers are finite; null is */
static int finite_numbers(const dgm_real *v, int n)
{
    for (int i = 0; v && i < n; i++)
        if (!(v[i] - v[i] == 0))
            return 0;
    return 1;
}

static int finite_inputs(const dgm_real *x, const dgm_real *history, const dgm_real *u, const dgm_real *plan)
{
    return x && finite_numbers(x, DGM_K) && finite_numbers(history, DGM_HISTORY_ROWS * (DGM_K + DGM_P)) && (plan || finite_numbers(u, DGM_P)) &&
           finite_numbers(plan, DGM_PLAN_ROWS * DGM_P);
}

int dgm_predict(const dgm_real *x, const dgm_real *history, const dgm_real *u, const dgm_real *plan, dgm_real *mean, dgm_real *std)
{
    dgm_score = (dgm_real)HUGE_VAL;
    if (!mean || !std || !finite_inputs(x, history, u, plan))
        return DGM_INPUT;
`)
	f.dispatch(&b, "    ", "value", "mean, std")
	b.WriteString(`    if (!finite_numbers(mean, DGM_T * DGM_K) || !finite_numbers(std, DGM_T * DGM_K) || !finite_numbers(&dgm_score, 1))
        return DGM_OUTPUT;
    return DGM_OK;
}

dgm_real dgm_ood(void)
{
    return dgm_score;
}

#ifndef DGM_NO_JACOBIAN
`)
	b.WriteString(f.jacobianDeclared)
	b.WriteString(f.jacobianCode)
	b.WriteString(`/* the derivative along number seed of x and plan, to a column of by */
static void along(const dgm_real *x, const dgm_real *history, const dgm_real *u, const dgm_real *plan, int seed, dgm_real *by, int columns)
{
`)
	f.dispatch(&b, "    ", "tangent", "seed, by, columns")
	b.WriteString(`}

int dgm_jacobian(const dgm_real *x, const dgm_real *history, const dgm_real *u, const dgm_real *plan, dgm_real *by_x, dgm_real *by_input)
{
    const int inputs = plan && DGM_P > 0 ? DGM_PLAN_ROWS * DGM_P : DGM_P;
    if (!finite_inputs(x, history, u, plan))
        return DGM_INPUT;
    for (int i = 0; by_x && i < DGM_K; i++)
        along(x, history, u, plan, i, by_x + i, DGM_K);
    for (int i = 0; by_input && i < inputs; i++)
        along(x, history, u, plan, DGM_K + i, by_input + i, inputs);
    if (!finite_numbers(by_x, DGM_T * DGM_K * DGM_K) || !finite_numbers(by_input, DGM_T * DGM_K * inputs))
        return DGM_OUTPUT;
    return DGM_OK;
}
#endif
`)
	return []byte(b.String())
}

// dispatch writes the call of the program that answers what is asked.
func (f *file) dispatch(b *strings.Builder, indent, suffix, rest string) {
	call := func(name, input string) string {
		return fmt.Sprintf("%s_%s(x, history, %s, %s);", function(name), suffix, input, rest)
	}
	either := func(name, input string) string {
		without := name + "-without-history"
		if !slices.Contains(f.names, without) {
			return indent + "    " + call(name, input) + "\n"
		}
		return fmt.Sprintf("%s    if (history)\n%s        %s\n%s    else\n%s        %s\n", indent, indent, call(name, input), indent, indent, call(without, input))
	}
	if len(f.about.inputs) == 0 {
		fmt.Fprintf(b, "%s(void)u;\n%s{\n%s%s}\n", indent, indent, either("plan", "plan"), indent)
		return
	}
	fmt.Fprintf(b, "%sif (plan) {\n%s%s} else {\n%s%s}\n", indent, either("plan", "plan"), indent, either("hold", "u ? u : input_mean"), indent)
}

// list returns numbers with commas, some in a line.
func (f *file) list(v []float64) string {
	var lines []string
	for row := range slices.Chunk(v, perLine) {
		var text []string
		for _, x := range row {
			text = append(text, f.number(x))
		}
		lines = append(lines, strings.Join(text, ", "))
	}
	return strings.Join(lines, ",\n    ")
}
