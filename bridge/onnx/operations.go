package onnx

import (
	"fmt"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/program"
)

// tensor is a register: batch × rows × columns.
type tensor struct {
	name string
	of   sources
}

// sources are the inputs on whose batch that of a tensor depends: tensors with the same sources have the same batch.
type sources uint8

// whole is the batch of the answer.
const whole sources = 255

// writer writes the operations of a program as nodes.
type writer struct {
	*graph
	p     *program.Program
	v     []tensor // by register
	batch string   // the shape [batch, 1, 1]
}

// program writes the nodes of a program and returns its registers.
func (w *writer) program(p *program.Program, inputs map[program.Reg]tensor) []tensor {
	w.p, w.v = p, make([]tensor, len(p.Registers))
	for r, t := range inputs {
		w.v[r] = t
	}
	for _, c := range p.Constants {
		s := p.Shape(c.Reg)
		w.v[c.Reg] = tensor{w.floats(c.Values, 1, s.Rows, s.Cols), 0}
	}
	for _, o := range p.Ops {
		w.operation(o)
	}
	return w.v
}

func (w *writer) operation(o program.Operation) {
	switch o := o.(type) {
	case *program.Affine:
		w.affine(o)
	case *program.Local:
		w.local(o)
	case *program.Products:
		w.products(o)
	case *program.Weigh:
		w.weigh(o)
	case *program.Columns:
		w.columns(o)
	case *program.Gather:
		w.gather(o)
	case *program.Function:
		w.function(o)
	case *program.Clamp:
		w.clamp(o)
	case *program.SinCos:
		x := w.v[o.X]
		w.set(o.Out, w.node("Concat", []string{w.node("Cos", []string{x.name}), w.node("Sin", []string{x.name})}, integer("axis", 1)), o.X)
	case *program.Largest:
		w.largest(o)
	case *program.Distances:
		w.distances(o)
	case *program.Repeat:
		if o.All {
			w.scan(o)
		} else {
			w.loop(o)
		}
	default:
		panic(fmt.Sprintf("onnx: an operation %T", o))
	}
}

// set names the tensor of a register that is computed from others, and widens it where none of them has its columns.
func (w *writer) set(out program.Reg, name string, from ...program.Reg) {
	s, columns := w.p.Shape(out), 1
	var of sources
	for _, r := range from {
		of |= w.v[r].of
		columns = max(columns, w.p.Shape(r).Cols)
	}
	if columns < s.Cols {
		name = w.node("Expand", []string{name, w.ints(1, s.Rows, s.Cols)})
	}
	w.v[out] = tensor{name, of}
}

// wide returns a tensor with the whole batch.
func (w *writer) wide(t tensor) tensor {
	if t.of == whole {
		return t
	}
	return tensor{w.node("Expand", []string{t.name, w.batch}), whole}
}

func (w *writer) affine(o *program.Affine) {
	rows, sum := w.p.Rows(o.Out), ""
	var from []program.Reg
	for i := range o.Parts {
		part := &o.Parts[i]
		from = append(from, part.X)
		y := w.node("MatMul", []string{w.floats(part.M, rows, w.p.Rows(part.X)), w.v[part.X].name})
		if sum != "" {
			y = w.node("Add", []string{sum, y})
		}
		sum = y
	}
	if len(o.C) > 0 {
		sum = w.node("Add", []string{sum, w.floats(o.C, rows, 1)})
	}
	w.set(o.Out, sum, from...)
}

// local multiplies a column as a matrix of one: batch × columns × rows × 1.
func (w *writer) local(o *program.Local) {
	s := w.p.Shape(o.Out)
	x := w.node("Unsqueeze", []string{w.node("Transpose", []string{w.v[o.X].name}, integers("perm", 0, 2, 1)), w.ints(3)})
	y := w.node("MatMul", []string{w.floats(o.M, s.Cols, s.Rows, w.p.Rows(o.X)), x})
	y = w.node("Transpose", []string{w.node("Squeeze", []string{y, w.ints(3)})}, integers("perm", 0, 2, 1))
	w.v[o.Out] = tensor{y, w.v[o.X].of}
}

func (w *writer) products(o *program.Products) {
	rows, n := w.p.Rows(o.Out), len(o.Terms)
	a, b, scale, sums := make([]int, n), make([]int, n), make([]float64, n), make([]float64, rows*n)
	plain, ones := n == rows, true
	for i, t := range o.Terms {
		a[i], b[i], scale[i] = t.A, t.B, t.S
		sums[t.Row*n+i] = t.S
		plain, ones = plain && t.Row == i, ones && t.S == 1
	}
	y := w.node("Mul", []string{w.rows(o.A, a), w.rows(o.B, b)})
	switch {
	case !plain:
		y = w.node("MatMul", []string{w.floats(sums, rows, n), y})
	case !ones:
		y = w.node("Mul", []string{y, w.floats(scale, n, 1)})
	}
	w.set(o.Out, y, o.A, o.B)
}

// rows returns rows of a register.
func (w *writer) rows(r program.Reg, places []int) string {
	t := w.v[r]
	if n := w.p.Rows(r); n == len(places) && slices.IsSorted(places) && places[0] == 0 && places[n-1] == n-1 && len(slices.Compact(slices.Clone(places))) == n {
		return t.name
	}
	return w.node("Gather", []string{t.name, w.ints(places...)}, integer("axis", 1))
}

func (w *writer) weigh(o *program.Weigh) {
	rows := w.p.Rows(o.Out)
	y := w.node("Mul", []string{w.v[o.X].name, w.floats(o.W, rows, len(o.W)/rows)})
	columns := len(o.W) / rows
	if len(o.C) > 0 {
		y = w.node("Add", []string{y, w.floats(o.C, rows, len(o.C)/rows)})
		columns = max(columns, len(o.C)/rows)
	}
	if columns == w.p.Shape(o.Out).Cols {
		w.v[o.Out] = tensor{y, w.v[o.X].of}
		return
	}
	w.set(o.Out, y, o.X)
}

func (w *writer) columns(o *program.Columns) {
	n, to := w.p.Shape(o.X).Cols, w.p.Shape(o.Out).Cols
	m := make([]float64, n*to)
	for _, e := range o.Entries {
		m[e.From*to+e.To] += e.W
	}
	w.v[o.Out] = tensor{w.node("MatMul", []string{w.v[o.X].name, w.floats(m, n, to)}), w.v[o.X].of}
}

func (w *writer) gather(o *program.Gather) {
	columns, of, mixed := w.p.Shape(o.Out).Cols, w.v[o.From[0].Reg].of, false
	for _, f := range o.From {
		mixed = mixed || w.v[f.Reg].of != of
	}
	var parts []string
	for i := 0; i < len(o.From); {
		r := o.From[i].Reg
		var places []int
		for ; i < len(o.From) && o.From[i].Reg == r; i++ {
			places = append(places, o.From[i].Row)
		}
		part := tensor{w.rows(r, places), w.v[r].of}
		if mixed {
			part = w.wide(part)
		}
		if w.p.Shape(r).Cols < columns {
			part.name = w.node("Expand", []string{part.name, w.ints(1, 1, columns)})
		}
		parts = append(parts, part.name)
	}
	if mixed {
		of = whole
	}
	name := parts[0]
	if len(parts) > 1 {
		name = w.node("Concat", parts, integer("axis", 1))
	}
	w.v[o.Out] = tensor{name, of}
}

func (w *writer) function(o *program.Function) {
	x := w.v[o.X].name
	var y string
	switch o.F {
	case program.Square:
		y = w.node("Mul", []string{x, x})
	default:
		y = w.node([...]string{
			program.Tanh: "Tanh", program.Sigmoid: "Sigmoid", program.Exp: "Exp", program.Log: "Log", program.Sqrt: "Sqrt",
			program.Reciprocal: "Reciprocal", program.Abs: "Abs", program.Floor: "Floor",
		}[o.F], []string{x})
	}
	w.v[o.Out] = tensor{y, w.v[o.X].of}
}

func (w *writer) clamp(o *program.Clamp) {
	n := len(o.Low)
	y := w.node("Max", []string{w.v[o.X].name, w.floats(o.Low, n, 1)})
	w.v[o.Out] = tensor{w.node("Min", []string{y, w.floats(o.High, n, 1)}), w.v[o.X].of}
}

func (w *writer) largest(o *program.Largest) {
	s := w.p.Shape(o.Out)
	x := w.node("Reshape", []string{w.v[o.X].name, w.ints(0, w.p.Rows(o.X)/s.Rows, s.Rows, s.Cols)})
	w.v[o.Out] = tensor{w.node("ReduceMax", []string{x, w.ints(1)}, integer("keepdims", 0)), w.v[o.X].of}
}

func (w *writer) distances(o *program.Distances) {
	n := w.p.Rows(o.X)
	d := w.node("Sub", []string{w.node("Unsqueeze", []string{w.v[o.X].name, w.ints(1)}), w.floats(o.Points, w.p.Rows(o.Out), n, 1)})
	w.v[o.Out] = tensor{w.node("ReduceSum", []string{w.node("Mul", []string{d, d}), w.ints(2)}, integer("keepdims", 0)), w.v[o.X].of}
}

// scan writes a repetition with the state after every step, along the columns.
func (w *writer) scan(o *program.Repeat) {
	body := &writer{graph: w.body(), batch: w.batch}
	inputs := map[program.Reg]tensor{}
	var initial, each, states, after []string
	for _, c := range o.Carried {
		initial = append(initial, w.wide(w.v[c.Initial]).name)
		in := body.fresh()
		body.input(in, float)
		inputs[c.In] = tensor{in, whole}
	}
	for _, b := range o.Each {
		each = append(each, w.v[b.Outer].name)
		in := body.fresh()
		body.input(in, float)
		inputs[b.In] = tensor{body.node("Unsqueeze", []string{in, body.ints(2)}), w.v[b.Outer].of}
	}
	for _, b := range o.Fixed {
		inputs[b.In] = w.v[b.Outer]
	}
	v := body.program(o.Body, inputs)
	for _, c := range o.Carried {
		next := body.node("Identity", []string{body.wide(v[c.Next]).name})
		states = append(states, next)
		after = append(after, body.node("Squeeze", []string{next, body.ints(2)}))
	}
	n := len(o.Carried)
	for i, name := range slices.Concat(states, after) {
		shape := []dim{{name: "batch"}, {n: w.p.Rows(o.Carried[i%n].Out)}, {n: 1}}
		body.output(name, float, shape[:3-i/n]...)
	}
	if len(each) == 0 { // a Scan has something to scan
		each = []string{w.floats(make([]float64, o.Times), 1, 1, o.Times)}
		body.input(body.fresh(), float)
	}
	out := w.nodeOf("Scan", 2*n, slices.Concat(initial, each), subgraph("body", body.graph), integer("num_scan_inputs", int64(len(each))),
		integers("scan_input_axes", slices.Repeat([]int64{2}, len(each))...), integers("scan_output_axes", slices.Repeat([]int64{2}, n)...))
	for i, c := range o.Carried {
		w.v[c.Out] = tensor{out[n+i], whole}
	}
}

// loop writes a repetition of which the last state counts, of all columns at once. It ends where no column of the batch
// has steps left.
func (w *writer) loop(o *program.Repeat) {
	body := &writer{graph: w.body(), batch: w.batch}
	inputs := map[program.Reg]tensor{}
	columns := w.p.Shape(o.Carried[0].Out).Cols
	step := body.fresh()
	body.input(step, int64s, scalar...)
	body.input(body.fresh(), truth, scalar...)
	arguments := []string{w.int(o.Times), w.yes()}
	for _, c := range o.Carried {
		initial := w.wide(w.v[c.Initial]).name
		if w.p.Shape(c.Initial).Cols < columns {
			initial = w.node("Expand", []string{initial, w.ints(1, 1, columns)})
		}
		arguments = append(arguments, initial)
		in := body.fresh()
		body.input(in, float)
		inputs[c.In] = tensor{in, whole}
	}
	for _, b := range o.Fixed {
		inputs[b.In] = w.v[b.Outer]
	}
	more := body.node("Identity", []string{w.yes()})
	if o.Count != program.None {
		done := body.node("Cast", []string{body.node("Add", []string{step, body.int(1)})}, integer("to", float))
		more = body.node("Less", []string{done, w.node("ReduceMax", []string{w.v[o.Count].name}, integer("keepdims", 0))})
	}
	body.output(more, truth, scalar...)
	v := body.program(o.Body, inputs)
	for _, c := range o.Carried {
		next := body.node("Identity", []string{body.wide(v[c.Next]).name})
		body.output(next, float, dim{name: "batch"}, dim{n: w.p.Rows(c.Out)}, dim{n: columns})
	}
	for i, name := range w.nodeOf("Loop", len(o.Carried), arguments, subgraph("body", body.graph)) {
		w.v[o.Carried[i].Out] = tensor{name, whole}
	}
}
