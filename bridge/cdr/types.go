package cdr

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/internal/number"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// content is what a field holds.
type content uint8

// A text ends with a zero; the length of a wide text on the wire is not defined.
const (
	numeric content = iota
	text
	wideText
	nested
)

// field is one field of a type.
type field struct {
	name     string
	content  content
	number   number.Kind // of numeric
	t        *Type       // of nested
	typeName string      // of nested, until the types are joined
	count    int         // elements of an array of fixed length, 0 = none
	sequence bool        // an array whose length precedes it
}

// array reports whether a field has elements.
func (f *field) array() bool { return f.count > 0 || f.sequence }

// builtin returns a field of a type that is in the language; ok is false for others.
func builtin(name string, numbers map[string]number.Kind) (f field, ok bool) {
	switch name {
	case "string":
		return field{content: text}, true
	case "wstring":
		return field{content: wideText}, true
	}
	k := numbers[name]
	return field{number: k}, k != number.None
}

// Type is a message or a part of one.
type Type struct {
	Name   string // such as nav_msgs/msg/Odometry
	fields []field

	state  uint8 // while types are joined: 1 = begun, 2 = done
	packed bool  // messages are those of ROS 1
}

// Limits of a schema.
const (
	maxTypes  = 2048
	maxFields = 4096
	maxDepth  = 32
	maxCount  = 1 << 24
	maxSchema = 4 << 20
)

// types are the types of a schema by their names, "package/Name".
type types struct {
	all    map[string]*Type
	size   int  // fields in all of them
	packed bool // of ROS 1
}

func newTypes() *types {
	ts := &types{all: map[string]*Type{}}
	for _, name := range []string{"builtin_interfaces/Time", "builtin_interfaces/Duration"} {
		ts.all[name] = &Type{Name: name, fields: []field{{name: "sec", number: number.I32}, {name: "nanosec", number: number.U32}}}
	}
	return ts
}

// short drops the middle of "package/msg/Name", which schemas write or not.
func short(name string) string {
	parts := strings.Split(name, "/")
	if len(parts) < 2 {
		return name
	}
	return parts[0] + "/" + parts[len(parts)-1]
}

func (ts *types) add(t *Type) error {
	if ts.size += len(t.fields); len(ts.all) >= maxTypes || ts.size > maxFields*4 {
		return errors.New("more types or fields than any message has")
	}
	ts.all[short(t.Name)] = t
	return nil
}

// root joins the types from the one with a name.
func (ts *types) root(name string) (*Type, error) {
	t := ts.all[short(name)]
	if t == nil {
		return nil, fmt.Errorf("type %s is not defined", name)
	}
	return t, ts.join(t, 0)
}

func (ts *types) join(t *Type, depth int) error {
	switch {
	case t.state == 2:
		return nil
	case t.state == 1:
		return fmt.Errorf("type %s contains itself", t.Name)
	case depth > maxDepth:
		return fmt.Errorf("types are nested more than %d deep", maxDepth)
	}
	t.state, t.packed = 1, ts.packed
	if len(t.fields) == 0 && !ts.packed {
		// A type of IDL cannot be empty: ROS 2 puts a byte there.
		t.fields = []field{{name: "structure_needs_at_least_one_member", number: number.U8}}
	}
	for i := range t.fields {
		f := &t.fields[i]
		if f.content != nested {
			continue
		}
		if f.t = ts.all[short(f.typeName)]; f.t == nil {
			return fmt.Errorf("%s.%s: type %s is not defined", t.Name, f.name, f.typeName)
		}
		if err := ts.join(f.t, depth+1); err != nil {
			return err
		}
	}
	t.state = 2
	return nil
}

// Check returns what is wrong with a path, or nil where it is that of a number.
func (t *Type) Check(path string) error {
	_, err := t.steps(path, numeric)
	return err
}

// CheckText returns what is wrong with a path, or nil where it is that of a text, or of an
// element of an array of texts.
func (t *Type) CheckText(path string) error {
	_, err := t.steps(path, text)
	return err
}

// step is one field of a path.
type step struct {
	field int
	index int // of an array, else 0
}

// steps returns the fields of a path that ends in a content.
func (t *Type) steps(path string, want content) ([]step, error) {
	var out []step
	for {
		part, rest, more := strings.Cut(path, ".")
		name, index := telemetry.SplitIndex(part)
		i := t.index(name)
		if i < 0 {
			return nil, fmt.Errorf("there is no %q in %s", name, t.Name)
		}
		f := &t.fields[i]
		count := f.count
		if f.sequence {
			count = -1
		}
		n, err := index.Of(name, count)
		if err != nil {
			return nil, err
		}
		out = append(out, step{i, n})
		switch {
		case f.content == nested && !more:
			return nil, fmt.Errorf("%s is not a number but a %s: name a field of it", name, f.t.Name)
		case f.content == nested:
			t, path = f.t, rest
		case more:
			return nil, fmt.Errorf("%s has no fields", name)
		case f.content != want && want == numeric:
			return nil, fmt.Errorf("%s is text", name)
		case f.content != want:
			return nil, fmt.Errorf("%s is no text", name)
		default:
			return out, nil
		}
	}
}

// index returns which field has a name, or −1.
func (t *Type) index(name string) int {
	return slices.IndexFunc(t.fields, func(f field) bool { return f.name == name })
}
