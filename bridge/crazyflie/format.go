package crazyflie

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/internal/binary16"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// sizes of variables by the letters of their types, bytes.
var sizes = map[byte]int{'b': 1, 'B': 1, '?': 1, 'c': 1, 'h': 2, 'H': 2, 'e': 2, 'i': 4, 'I': 4, 'l': 4, 'L': 4, 'f': 4, 'q': 8, 'Q': 8, 'd': 8}

// variable is one value of an event.
type variable struct {
	name string
	kind byte // letter of its type
	at   int  // bytes from the start of the values
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
		return v, fmt.Errorf("%q is not a name and a type, as gyro.x(f)", clip(text))
	}
	if sizes[kind[0]] == 0 {
		return v, fmt.Errorf("%q has a type that is not known", clip(text))
	}
	return variable{name: name, kind: kind[0]}, nil
}

// clip shortens what is shown in a message.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
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

// list returns the variables of an event.
func (e *event) list() (out []telemetry.Field) {
	for i := range e.variables[:min(len(e.variables), telemetry.MaxFields)] {
		out = append(out, telemetry.Field{Path: e.variables[i].name})
	}
	return out
}

// read returns the value in those of an event.
func (v *variable) read(b []byte) float64 {
	b = b[v.at:]
	switch v.kind {
	case 'f':
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case 'd':
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	case 'e':
		return binary16.Float64(binary.LittleEndian.Uint16(b))
	case 'h':
		return float64(int16(binary.LittleEndian.Uint16(b)))
	case 'H':
		return float64(binary.LittleEndian.Uint16(b))
	case 'i', 'l':
		return float64(int32(binary.LittleEndian.Uint32(b)))
	case 'I', 'L':
		return float64(binary.LittleEndian.Uint32(b))
	case 'q':
		return float64(int64(binary.LittleEndian.Uint64(b)))
	case 'Q':
		return float64(binary.LittleEndian.Uint64(b))
	case 'b':
		return float64(int8(b[0]))
	default:
		return float64(b[0])
	}
}
