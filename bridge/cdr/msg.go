package cdr

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/internal/number"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// msgNumbers are the built-in numbers of .msg files
// (https://docs.ros.org/en/rolling/Concepts/Basic/About-Interfaces.html).
var msgNumbers = map[string]number.Kind{
	"bool": number.U8, "byte": number.U8, "char": number.U8, "int8": number.I8, "uint8": number.U8, "int16": number.I16, "uint16": number.U16,
	"int32": number.I32, "uint32": number.U32, "int64": number.I64, "uint64": number.U64, "float32": number.F32, "float64": number.F64,
}

// parseMsg reads a .msg file followed by those it depends on, each after a line
// of equal signs and one "MSG: package/Name". packed: of ROS 1.
func parseMsg(name, text string, packed bool) (*Type, error) {
	ts := newTypes()
	ts.packed = packed
	t := &Type{Name: name}
	finish := func() error { return ts.add(t) }
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		if strings.HasPrefix(line, "===") && strings.Trim(line, "=") == "" {
			if err := finish(); err != nil {
				return nil, err
			}
			if i++; i >= len(lines) || !strings.HasPrefix(strings.TrimSpace(lines[i]), "MSG:") {
				return nil, fmt.Errorf("line %d: a line of equal signs is not followed by MSG: and a name", i+1)
			}
			t = &Type{Name: strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(lines[i]), "MSG:"))}
			continue
		}
		f, ok, err := parseField(line, t.Name)
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", t.Name, i+1, err)
		}
		if ok {
			if len(t.fields) >= maxFields {
				return nil, fmt.Errorf("%s: more than %d fields", t.Name, maxFields)
			}
			t.fields = append(t.fields, f)
		}
	}
	if err := finish(); err != nil {
		return nil, err
	}
	return ts.root(name)
}

// parseField reads "type name", "type[3] name default", "type[<=5] name". ok is
// false for a constant, a comment and an empty line.
func parseField(line, owner string) (f field, ok bool, err error) {
	code := line
	if i := strings.IndexByte(line, '#'); i >= 0 {
		code = line[:i] // a # in a default text only cuts the text
	}
	words := strings.Fields(code)
	if len(words) == 0 {
		return f, false, nil
	}
	kind := words[0]
	if len(words) < 2 {
		return f, false, fmt.Errorf("%q is not a type and a name", telemetry.Clip(line))
	}
	// NAME=value, or NAME = value; a default value has no equal sign outside of
	// quotes before it.
	if strings.Contains(words[1], "=") || len(words) > 2 && strings.HasPrefix(words[2], "=") {
		return f, false, nil
	}
	base, dims, array := strings.Cut(kind, "[")
	base, _, _ = strings.Cut(base, "<=") // the bound of a text
	f = msgType(base, owner)
	f.name = words[1]
	if !array {
		return f, true, nil
	}
	bound, closed := strings.CutSuffix(dims, "]")
	switch {
	case !closed:
		return f, false, fmt.Errorf("%q is not a type", telemetry.Clip(kind))
	case bound == "" || strings.HasPrefix(bound, "<="):
		f.sequence = true
	default:
		n, err := strconv.Atoi(bound)
		if err != nil || n < 1 || n > maxCount {
			return f, false, fmt.Errorf("%q is not an array of 1 to %d", telemetry.Clip(kind), maxCount)
		}
		f.count = n
	}
	return f, true, nil
}

func msgType(name, owner string) field {
	if f, ok := builtin(name, msgNumbers); ok {
		return f
	}
	switch {
	case name == "time" || name == "duration": // as in ROS 1
		name = "builtin_interfaces/" + strings.ToUpper(name[:1]) + name[1:]
	case name == "Header": // as in ROS 1
		name = "std_msgs/Header"
	case !strings.Contains(name, "/"):
		name = strings.Split(owner, "/")[0] + "/" + name
	}
	return field{content: nested, typeName: name}
}
