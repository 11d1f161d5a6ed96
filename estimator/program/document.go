package program

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

// Document is programs as data for other languages, see PROGRAM-FORMAT.md. Arrays of constants are stored once, however
// often they are read.
type Document struct {
	About    map[string]any // what the programs are of; keys and values are those of the format
	Programs []Named
}

// Named is a program with a name.
type Named struct {
	Name string
	*Program
}

// The format's magic and version.
const (
	Magic   = "dgm-program"
	Version = 1
)

// Encode returns the document as msgpack.
func (d *Document) Encode() []byte {
	e := encoder{at: map[string]int{}}
	programs := make([]any, len(d.Programs))
	for i, p := range d.Programs {
		programs[i] = map[string]any{"name": p.Name, "program": e.program(p.Program)}
	}
	return msgbin.Append(nil, func(w *msgbin.Writer) {
		write(w, map[string]any{"magic": Magic, "version": Version, "about": d.About, "arrays": e.arrays, "programs": programs})
	})
}

// write writes a value: maps by ascending keys.
func write(w *msgbin.Writer, v any) {
	switch v := v.(type) {
	case map[string]any:
		w.Map(len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			w.String(key)
			write(w, v[key])
		}
	case []any:
		w.Array(len(v))
		for _, x := range v {
			write(w, x)
		}
	case []int:
		w.Array(len(v))
		for _, x := range v {
			w.Int(int64(x))
		}
	case string:
		w.String(v)
	case []byte:
		w.Bin(v)
	case bool:
		w.Bool(v)
	case int:
		w.Int(int64(v))
	case Reg:
		w.Int(int64(v))
	case float64:
		w.Float64(v)
	default:
		panic(fmt.Sprintf("program: a document has no %T", v))
	}
}

// encoder collects arrays.
type encoder struct {
	arrays []any // []byte each
	at     map[string]int
}

// array returns the place of an array; −1 of none.
func (e *encoder) array(v []float64) int {
	if len(v) == 0 {
		return -1
	}
	b := make([]byte, 8*len(v))
	for i, x := range v {
		binary.LittleEndian.PutUint64(b[8*i:], math.Float64bits(x))
	}
	i, ok := e.at[string(b)]
	if !ok {
		i = len(e.arrays)
		e.arrays, e.at[string(b)] = append(e.arrays, b), i
	}
	return i
}

func (e *encoder) program(p *Program) map[string]any {
	ports := func(all []Port) (out []any) {
		for _, port := range all {
			out = append(out, []any{port.Name, int(port.Reg)})
		}
		return out
	}
	var registers, constants, ops []any
	for _, s := range p.Registers {
		registers = append(registers, []int{s.Rows, s.Cols})
	}
	for _, c := range p.Constants {
		constants = append(constants, []int{int(c.Reg), e.array(c.Values)})
	}
	for _, o := range p.Ops {
		ops = append(ops, e.operation(o))
	}
	return map[string]any{"registers": registers, "inputs": ports(p.Inputs), "outputs": ports(p.Outputs), "constants": constants, "ops": ops}
}

// operation returns an operation as a map; keys and their meaning are those of the format.
func (e *encoder) operation(o Operation) map[string]any {
	switch o := o.(type) {
	case *Affine:
		var parts []any
		for _, part := range o.Parts {
			parts = append(parts, map[string]any{"x": part.X, "m": e.array(part.M), "lower": part.Lower})
		}
		return map[string]any{"op": "affine", "out": o.Out, "parts": parts, "c": e.array(o.C)}
	case *Local:
		return map[string]any{"op": "local", "out": o.Out, "x": o.X, "m": e.array(o.M)}
	case *Products:
		index, scale := make([]int, 0, 3*len(o.Terms)), make([]float64, len(o.Terms))
		for i, t := range o.Terms {
			index, scale[i] = append(index, t.Row, t.A, t.B), t.S
		}
		return map[string]any{"op": "products", "out": o.Out, "a": o.A, "b": o.B, "terms": index, "s": e.array(scale)}
	case *Weigh:
		return map[string]any{"op": "weigh", "out": o.Out, "x": o.X, "w": e.array(o.W), "c": e.array(o.C)}
	case *Columns:
		index, weights := make([]int, 0, 2*len(o.Entries)), make([]float64, len(o.Entries))
		for i, t := range o.Entries {
			index, weights[i] = append(index, t.To, t.From), t.W
		}
		return map[string]any{"op": "columns", "out": o.Out, "x": o.X, "entries": index, "w": e.array(weights)}
	case *Gather:
		index := make([]int, 0, 2*len(o.From))
		for _, f := range o.From {
			index = append(index, int(f.Reg), f.Row)
		}
		return map[string]any{"op": "gather", "out": o.Out, "from": index}
	case *Function:
		return map[string]any{"op": "function", "out": o.Out, "x": o.X, "f": o.F.String()}
	case *Clamp:
		return map[string]any{"op": "clamp", "out": o.Out, "x": o.X, "low": e.array(o.Low), "high": e.array(o.High)}
	case *SinCos:
		return map[string]any{"op": "sincos", "out": o.Out, "x": o.X}
	case *Largest:
		return map[string]any{"op": "largest", "out": o.Out, "x": o.X}
	case *Distances:
		return map[string]any{"op": "distances", "out": o.Out, "x": o.X, "points": e.array(o.Points)}
	case *Repeat:
		var carried []any
		for _, c := range o.Carried {
			carried = append(carried, []int{int(c.Out), int(c.Initial), int(c.In), int(c.Next)})
		}
		bound := func(all []Bound) (out []any) {
			for _, b := range all {
				out = append(out, []int{int(b.Outer), int(b.In)})
			}
			return out
		}
		return map[string]any{
			"op": "repeat", "times": o.Times, "all": o.All, "count": int(o.Count), "carried": carried,
			"each": bound(o.Each), "fixed": bound(o.Fixed), "body": e.program(o.Body),
		}
	}
	panic(errors.New("program: an operation of another package"))
}
