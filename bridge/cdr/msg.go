package cdr

import (
	"fmt"
	"strconv"
	"strings"
)

// msgKinds are the built-in types of .msg files
// (https://docs.ros.org/en/rolling/Concepts/Basic/About-Interfaces.html).
var msgKinds = map[string]Kind{
	"bool": Bool, "byte": U8, "char": U8, "int8": I8, "uint8": U8, "int16": I16, "uint16": U16, "int32": I32, "uint32": U32,
	"int64": I64, "uint64": U64, "float32": F32, "float64": F64, "string": String, "wstring": WString,
}

// parseMsg reads a .msg file followed by those it depends on, each after a line
// of equal signs and one "MSG: package/Name".
func parseMsg(name, text string) (*Type, error) {
	ts := newTypes()
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
			if len(t.Fields) >= maxFields {
				return nil, fmt.Errorf("%s: more than %d fields", t.Name, maxFields)
			}
			t.Fields = append(t.Fields, f)
		}
	}
	if err := finish(); err != nil {
		return nil, err
	}
	return ts.root(name)
}

// parseField reads "type name", "type[3] name default", "type[<=5] name". ok is
// false for a constant, a comment and an empty line.
func parseField(line, owner string) (f Field, ok bool, err error) {
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
		return f, false, fmt.Errorf("%q is not a type and a name", clip(line))
	}
	// NAME=value, or NAME = value; a default value has no equal sign outside of
	// quotes before it.
	if strings.Contains(words[1], "=") || len(words) > 2 && strings.HasPrefix(words[2], "=") {
		return f, false, nil
	}
	f.Name = words[1]
	if base, dims, array := strings.Cut(kind, "["); array {
		bound, closed := strings.CutSuffix(dims, "]")
		switch {
		case !closed:
			return f, false, fmt.Errorf("%q is not a type", clip(kind))
		case bound == "" || strings.HasPrefix(bound, "<="):
			f.Sequence = true
		default:
			n, err := strconv.Atoi(bound)
			if err != nil || n < 1 || n > maxCount {
				return f, false, fmt.Errorf("%q is not an array of 1 to %d", clip(kind), maxCount)
			}
			f.Count = n
		}
		kind = base
	}
	kind, _, _ = strings.Cut(kind, "<=") // the bound of a text
	if f.Kind = msgKinds[kind]; f.Kind == 0 {
		f.Kind = Nested
		f.typeName = kind
		switch {
		case kind == "time" || kind == "duration": // as in ROS 1
			f.typeName = "builtin_interfaces/" + strings.ToUpper(kind[:1]) + kind[1:]
		case !strings.Contains(kind, "/"):
			f.typeName = strings.Split(owner, "/")[0] + "/" + kind
		}
	}
	return f, true, nil
}

// clip shortens what is shown in a message.
func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "…"
	}
	return s
}
