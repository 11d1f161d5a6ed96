package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/dynamics"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// Model is a file.
type Model struct {
	Name string
	Data []byte
}

// Models returns the models of a document, one for each condition.
func Models(d *program.Document) (all []Model) {
	for i := range d.Programs {
		p := &d.Programs[i]
		all = append(all, Model{"dgm_model_" + p.Name + ".onnx", modelOf(d.About, p)})
	}
	return all
}

// modelOf returns the model of a condition.
func modelOf(about map[string]any, p *program.Named) []byte {
	states, inputs := about["states"].([]any), about["inputs"].([]any)
	K, P, T := len(states), len(inputs), len(about["times"].([]byte))/8
	w := &writer{graph: newGraph()}
	w.input("x", float, dim{name: "batch of x"}, dim{n: K})
	x := tensor{w.node("Unsqueeze", []string{"x", w.ints(2)}), 1}
	sizes := []string{w.size("x")}
	registers := map[program.Reg]tensor{}
	for _, in := range p.Inputs {
		switch in.Name {
		case dynamics.X:
			registers[in.Reg] = x
		case dynamics.Past:
			n := len(about["history"].([]byte)) / 8
			w.input("history", float, dim{name: "batch of history"}, dim{n: n}, dim{n: K + P})
			sizes = append(sizes, w.size("history"))
			registers[in.Reg] = tensor{w.past(n, K, P), 1 | 2}
		case dynamics.Plan:
			name := "plan"
			if strings.HasPrefix(p.Name, "hold") {
				name = "u"
				w.input(name, float, dim{name: "batch of u"}, dim{n: P})
				registers[in.Reg] = tensor{w.node("Unsqueeze", []string{name, w.ints(2)}), 4}
			} else {
				w.input(name, float, dim{name: "batch of plan"}, dim{n: p.Shape(in.Reg).Cols}, dim{n: P})
				registers[in.Reg] = tensor{w.node("Transpose", []string{name}, integers("perm", 0, 2, 1)), 4}
			}
			sizes = append(sizes, w.size(name))
		}
	}
	w.batch = w.node("Concat", []string{w.node("Max", sizes), w.ints(1, 1)}, integer("axis", 0))
	var given []string
	for _, in := range p.Inputs {
		given = append(given, registers[in.Reg].name)
	}
	unknown := w.zeroOf(given...)
	v := w.program(p.Program, registers)
	for _, out := range p.Outputs {
		t := w.node("Add", []string{w.wide(v[out.Reg]).name, unknown})
		batch := dim{name: "batch"}
		switch out.Name {
		case dynamics.OOD:
			w.nodeTo("Squeeze", []string{"ood"}, []string{w.guarded(t, w.wide(v[displacementOf(p)]).name), w.ints(1, 2)})
			w.output("ood", float, batch)
			continue
		case dynamics.Displacement:
			start := x.name
			if origin, ok := about["origin"].([]byte); ok {
				start = w.floats(decoded(origin), K, 1)
			}
			w.nodeTo("Transpose", []string{"mean"}, []string{w.node("Add", []string{t, start})}, integers("perm", 0, 2, 1))
			w.output("mean", float, batch, dim{n: T}, dim{n: K})
		default:
			w.nodeTo("Transpose", []string{out.Name}, []string{t}, integers("perm", 0, 2, 1))
			w.output(out.Name, float, batch, dim{n: T}, dim{n: K})
		}
	}
	text := fmt.Sprintf("Predictions of model %v of vehicle %v, condition %s. Left out: %v.", about["model"], about["vehicle"], p.Name, about["left_out"])
	return w.encodeModel("dgm_model", text, metadata(about, states, inputs))
}

// displacementOf returns the register of what the mean is made of.
func displacementOf(p *program.Named) program.Reg {
	return p.Outputs[slices.IndexFunc(p.Outputs, func(o program.Port) bool { return o.Name == dynamics.Displacement })].Reg
}

// guarded returns a score, batch×1×1, that is infinite where it, or a number of another tensor of the batch, is not finite.
func (w *writer) guarded(score, of string) string {
	sum := w.node("Add", []string{score, w.zeroOf(of)})
	return w.node("Where", []string{w.node("IsNaN", []string{sum}), w.floats([]float64{math.Inf(1)}, 1, 1), sum})
}

// zeroOf returns 0 for each row of a batch, ×1×1, and NaN where a number of tensors is not finite.
func (w *writer) zeroOf(tensors ...string) (zero string) {
	for i, t := range tensors {
		z := w.node("Mul", []string{w.node("ReduceSum", []string{t, w.ints(1, 2)}), w.floats([]float64{0}, 1, 1)})
		if i > 0 {
			z = w.node("Add", []string{zero, z})
		}
		zero = z
	}
	return zero
}

// size returns the first dimension of a tensor.
func (w *writer) size(name string) string {
	return w.node("Shape", []string{name}, integer("start", 0), integer("end", 1))
}

// past returns the rows of the history, states less the start, below one another.
func (w *writer) past(n, k, p int) string {
	pad := make([]float64, k*(k+p))
	for i := range k {
		pad[i*(k+p)+i] = 1
	}
	start := w.node("Unsqueeze", []string{w.node("MatMul", []string{"x", w.floats(pad, k, k+p)}), w.ints(1)})
	return w.node("Reshape", []string{w.node("Sub", []string{"history", start}), w.ints(-1, n*(k+p), 1)})
}

// metadata says what a person wants to know of a model.
func metadata(about map[string]any, states, inputs []any) [][2]string {
	list := func(channels []any, key string) string {
		var all []string
		for _, c := range channels {
			all = append(all, fmt.Sprint(c.(map[string]any)[key]))
		}
		return strings.Join(all, ",")
	}
	numbers := func(key string) string { return strings.Trim(fmt.Sprint(decoded(about[key].([]byte))), "[]") }
	return [][2]string{
		{"model", fmt.Sprint(about["model"])},
		{"vehicle", fmt.Sprint(about["vehicle"])},
		{"horizon", fmt.Sprint(about["horizon"])},
		{"times", numbers("times")},
		{"states", list(states, "name")},
		{"units", list(states, "unit")},
		{"inputs", list(inputs, "name")},
		{"input_units", list(inputs, "unit")},
		{"input_mean", numbers("input_mean")},
		{"left_out", fmt.Sprint(about["left_out"])},
	}
}

// decoded returns the numbers of little-endian float64.
func decoded(b []byte) []float64 {
	out := make([]float64, len(b)/8)
	for i := range out {
		out[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return out
}
