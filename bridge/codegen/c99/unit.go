package c99

import (
	_ "embed"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// width is the number of columns that are evaluated together: what a constant that is read once is multiplied with.
const width = 4

// unit is a C source that is being written: constants and functions that its programs have in common.
type unit struct {
	double   bool
	arrays   map[string]string // names by type and numbers
	kernels  map[string]bool
	declared strings.Builder // arrays, then functions, in the order in which they were first needed
	code     strings.Builder
	bytes    int // of the arrays
}

func newUnit(double bool) *unit {
	return &unit{double: double, arrays: map[string]string{}, kernels: map[string]bool{}}
}

// number returns a number as a literal.
func (u *unit) number(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "DGM_INFINITY"
	case math.IsInf(v, -1):
		return "-DGM_INFINITY"
	}
	bits, suffix := 32, "f"
	if u.double {
		bits, suffix = 64, ""
	}
	text := strconv.FormatFloat(v, 'g', -1, bits)
	if !u.double && math.IsInf(float64(float32(v)), 0) { // beyond the range of single precision
		return u.number(math.Inf(int(math.Copysign(1, v))))
	}
	if !u.double && math.Abs(v) < 1.1754944e-38 { // subnormal
		text = "0"
	}
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text + suffix
}

// reals returns the name of an array of numbers; "0" of none.
func (u *unit) reals(v []float64) string {
	text := make([]string, len(v))
	for i, x := range v {
		text[i] = u.number(x)
	}
	size := 4
	if u.double {
		size = 8
	}
	return u.array("dgm_real", size, text)
}

// places returns the name of an array of numbers of rows or columns.
func (u *unit) places(v []int) string {
	text := make([]string, len(v))
	for i, x := range v {
		text[i] = strconv.Itoa(x)
	}
	return u.array("unsigned short", 2, text)
}

// perLine is the number of constants in a line.
const perLine = 10

func (u *unit) array(kind string, size int, text []string) string {
	if len(text) == 0 {
		return "0"
	}
	var b strings.Builder
	for line := range slices.Chunk(text, perLine) {
		b.WriteString("    " + strings.Join(line, ", ") + ",\n")
	}
	key := kind + b.String()
	if name, ok := u.arrays[key]; ok {
		return name
	}
	name := fmt.Sprintf("c%d", len(u.arrays))
	u.arrays[key] = name
	u.bytes += size * len(text)
	fmt.Fprintf(&u.declared, "static const %s %s[%d] = {\n%s};\n\n", kind, name, len(text), b.String())
	return name
}

// kernel returns the name of a C function for values of so many columns, which it defines where it is new. Functions that
// do not ask for the number of columns have one name.
func (u *unit) kernel(name string, columns int) string {
	text, ok := kernels[name]
	if !ok {
		panic("c99: there is no function " + name)
	}
	full := name
	if strings.Contains(text, "@") {
		full = fmt.Sprintf("%s_%d", name, columns)
	}
	if !u.kernels[full] {
		u.kernels[full] = true
		text = strings.NewReplacer("@", fmt.Sprintf("_%d", columns), "WIDTH", strconv.Itoa(columns)).Replace(strings.TrimSpace(text))
		u.declared.WriteString("DGM_FUNCTION " + strings.TrimPrefix(text, "static ") + "\n\n")
	}
	return full
}

// take returns what was declared and written since the last call.
func (u *unit) take() (declared, code string) {
	declared, code = u.declared.String(), u.code.String()
	u.declared.Reset()
	u.code.Reset()
	return declared, code
}

//go:embed kernels/kernels.c
var kernelsFile string

// kernels are the C functions by name, of all operations.
var kernels = func() map[string]string {
	all := map[string]string{}
	for _, text := range strings.Split(kernelsFile, "\nstatic ")[1:] {
		text, _, _ = strings.Cut(text, "\n}\n") // a remark follows
		head, _, _ := strings.Cut(text, "(")
		name := strings.TrimSuffix(head[strings.Index(head, " ")+1:], "@")
		all[name] = "static " + text + "\n}"
	}
	return all
}()

// define adds C functions that are made of parts: name and text, as those of the file.
func define(all map[string]string) bool {
	maps.Copy(kernels, all)
	return true
}
