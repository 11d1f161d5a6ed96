package c99

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/program"
)

// file is the two files that are being written.
type file struct {
	*unit
	about                          *about
	names                          []string // of programs
	predict, jacobian, work        int      // numbers in the work area: of values, with tangents, the larger
	predictDeclared, predictCode   string
	jacobianDeclared, jacobianCode string
}

// value writes the function that evaluates a program, and returns the numbers that it needs.
//
//	void plan(const dgm_real *x, const dgm_real *history, const dgm_real *plan, dgm_real *mean, dgm_real *std)
func (f *file) value(name string, p *program.Program) int {
	p = only(p, outputMean, outputStd, outputOOD)
	b := &builder{unit: f.unit, list: &[]instruction{}}
	l := lower(b, p, f.inputs(b, p, false))
	K, T := len(f.about.states), len(f.about.times)
	for _, out := range p.Outputs {
		v := l.whole(out.Reg)
		switch out.Name {
		case outputMean:
			start := "x"
			if !f.about.displacement {
				start = f.reals(f.about.origin)
			}
			b.call("write_mean", 0, "mean", of(v), start, K, T)
		case outputStd:
			b.call("write_rows", 0, "std", of(v), K, T)
		default:
			b.statement(func() string { return fmt.Sprintf("dgm_score = (%v)[0];", of(v)) }, v)
		}
	}
	fmt.Fprintf(&f.code, "static void %s(const dgm_real *x, const dgm_real *history, const dgm_real *plan, dgm_real *mean, dgm_real *std)\n{\n", function(name)+"_value")
	return f.end(b, p)
}

// tangent writes the function that evaluates the mean of a program and its derivative along one number of its inputs, a state of
// the start or, after these, of a plan, row by row; it returns the numbers that it needs.
//
//	void plan_tangent(const dgm_real *x, const dgm_real *history, const dgm_real *plan, int seed, dgm_real *by, int columns)
func (f *file) tangent(name string, p *program.Program) int {
	p = only(p, outputMean)
	b := &builder{unit: f.unit, list: &[]instruction{}}
	l := lower(b, p, f.inputs(b, p, true))
	K, T := len(f.about.states), len(f.about.times)
	v := l.whole(p.Outputs[0].Reg)
	if v.active {
		b.call("write_columns", 0, "by", tangent(v), K, T, "columns")
	} else {
		b.call("clear_columns", 0, "by", K*T, "columns")
	}
	if f.about.displacement {
		b.statement(func() string {
			return fmt.Sprintf("for (int t = 0; t < %d && seed < %d; t++)\n    by[(t * %d + seed) * columns] += 1;", T, K, K)
		})
	}
	fmt.Fprintf(&f.code, "static void %s(const dgm_real *x, const dgm_real *history, const dgm_real *plan, int seed, dgm_real *by, int columns)\n{\n", function(name)+"_tangent")
	return f.end(b, p)
}

// only returns a program with some of its outputs.
func only(p *program.Program, names ...string) *program.Program {
	out := *p
	out.Ops, out.Constants = slices.Clone(p.Ops), slices.Clone(p.Constants)
	out.Outputs = slices.DeleteFunc(slices.Clone(p.Outputs), func(port program.Port) bool { return !slices.Contains(names, port.Name) })
	out.Prune()
	return &out
}

// function returns the name of a C function of a program.
func function(name string) string { return strings.ReplaceAll(name, "-", "_") }

// end writes the body of a function.
func (f *file) end(b *builder, p *program.Program) int {
	used := map[string]bool{}
	read := readBy(p)
	for _, in := range p.Inputs {
		if read[in.Reg] {
			used[in.Name] = true
		}
	}
	for _, in := range [][2]string{{inputPast, "history"}, {inputPlan, "plan"}} {
		if !used[in[0]] {
			fmt.Fprintf(&f.code, "    (void)%s;\n", in[1])
		}
	}
	size := b.write()
	f.code.WriteString("}\n\n")
	return size
}

// readBy returns the registers that operations read.
func readBy(p *program.Program) map[program.Reg]bool {
	read := map[program.Reg]bool{}
	for _, o := range p.Ops {
		for _, r := range program.Operands(o) {
			read[r] = true
		}
	}
	return read
}

// inputs returns the values of a program's inputs, and appends what reads them from the arguments x, history and plan, and
// where asked for what sets their tangents by the argument seed.
func (f *file) inputs(b *builder, p *program.Program, tangents bool) map[program.Reg]*value {
	read := readBy(p)
	K, P := len(f.about.states), len(f.about.inputs)
	known := map[program.Reg]*value{}
	for _, in := range p.Inputs {
		if !read[in.Reg] {
			continue
		}
		s := p.Shape(in.Reg)
		v := b.fresh(s.Rows, s.Cols)
		v.active = tangents
		known[in.Reg] = v
		seed := ""
		switch in.Name {
		case inputX:
			b.call("copy", 0, of(v), "x", K)
			seed = fmt.Sprintf("if (seed < %d)\n    (AT)[seed] = 1;", K)
		case inputPast:
			b.call("differences", 0, of(v), "history", "x", v.rows/(K+P), K, P)
			seed = fmt.Sprintf("for (int r = 0; r < %d && seed < %d; r++)\n    (AT)[r * %d + seed] = -1;", v.rows/(K+P), K, K+P)
		default:
			b.call("transposed", 0, of(v), "plan", s.Rows, s.Cols)
			seed = fmt.Sprintf("if (seed >= %d)\n    (AT)[(seed - %d) %% %d * %d + (seed - %d) / %d] = 1;", K, K, P, s.Cols, K, P)
		}
		if tangents {
			b.clear(tangent(v))
			b.statement(func() string { return strings.ReplaceAll(seed, "AT", tangent(v).String()) }, v)
		}
	}
	return known
}
