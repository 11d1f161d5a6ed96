package crazyflie

import (
	"fmt"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/internal/number"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// kinds of variables by the letters of their types.
var kinds = map[byte]number.Kind{'b': number.I8, 'B': number.U8, '?': number.U8, 'c': number.U8, 'h': number.I16, 'H': number.U16, 'e': number.F16,
	'i': number.I32, 'I': number.U32, 'l': number.I32, 'L': number.U32, 'f': number.F32, 'q': number.I64, 'Q': number.U64, 'd': number.F64}

// variable is one value of an event.
type variable struct {
	name string
	kind number.Kind
	at   int // bytes from the start of the values
}

// event is a kind of event.
type event struct {
	name      string
	variables []variable
	size      int // bytes of its values
	topic     *telemetry.Topic
	wanted    []int // variables
	values    []float64
}

// parseVariable reads "name(f)".
func parseVariable(text string) (v variable, err error) {
	name, kind, ok := strings.Cut(text, "(")
	if !ok || len(kind) != 2 || kind[1] != ')' || name == "" {
		return v, fmt.Errorf("%q is not a name and a type, as gyro.x(f)", telemetry.Clip(text))
	}
	if v = (variable{name: name, kind: kinds[kind[0]]}); v.kind == number.None {
		return v, fmt.Errorf("%q has a type that is not known", telemetry.Clip(text))
	}
	return v, nil
}

// find returns which variable has a name, or what is wrong with it.
func (e *event) find(path string) (int, error) {
	for i := range e.variables {
		if e.variables[i].name == path {
			return i, nil
		}
	}
	return 0, fmt.Errorf("there is no %q", path)
}

func (e *event) list() (out []telemetry.Field) {
	for i := range e.variables[:min(len(e.variables), telemetry.MaxFields)] {
		out = append(out, telemetry.Field{Path: e.variables[i].name})
	}
	return out
}

// read returns the value in those of an event.
func (v *variable) read(b []byte) float64 { return v.kind.Little(b[v.at:]) }
