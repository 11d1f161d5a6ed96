package cdr

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Kind is what a field holds.
type Kind uint8

// The kinds.
const (
	Bool Kind = iota + 1
	I8
	U8
	I16
	U16
	I32
	U32
	I64
	U64
	F32
	F64
	String
	WString
	Nested
)

// size of a number, bytes.
func (k Kind) size() int {
	switch k {
	case Bool, I8, U8:
		return 1
	case I16, U16:
		return 2
	case I32, U32, F32:
		return 4
	case I64, U64, F64:
		return 8
	}
	panic("cdr: not a number")
}

// number says whether a field holds a number.
func (k Kind) number() bool { return k >= Bool && k <= F64 }

// Field is one field of a type.
type Field struct {
	Name     string
	Kind     Kind
	Type     *Type  // of Nested
	typeName string // of Nested, until the types are put together
	Count    int    // elements of an array of fixed length, 0 = none
	Sequence bool   // an array whose length stands before it
}

// Type is a message or a part of one.
type Type struct {
	Name   string // such as nav_msgs/msg/Odometry
	Fields []Field

	state uint8 // while types are put together: 1 = at it, 2 = done
}

// What is accepted of a schema.
const (
	maxTypes  = 2048
	maxFields = 4096
	maxDepth  = 32
	maxCount  = 1 << 24
	maxSchema = 4 << 20
)

// types are the types of a schema by their names, "package/Name".
type types struct {
	all  map[string]*Type
	size int // fields in all of them
}

func newTypes() *types {
	ts := &types{all: map[string]*Type{}}
	for _, name := range []string{"builtin_interfaces/Time", "builtin_interfaces/Duration"} {
		ts.all[name] = &Type{Name: name, Fields: []Field{{Name: "sec", Kind: I32}, {Name: "nanosec", Kind: U32}}}
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
	if ts.size += len(t.Fields); len(ts.all) >= maxTypes || ts.size > maxFields*4 {
		return errors.New("more types or fields than any message has")
	}
	ts.all[short(t.Name)] = t
	return nil
}

// root puts the types together from the one with a name.
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
		return fmt.Errorf("type %s holds itself", t.Name)
	case depth > maxDepth:
		return fmt.Errorf("types stand within types more than %d deep", maxDepth)
	}
	t.state = 1
	if len(t.Fields) == 0 {
		// A type of IDL cannot be empty: ROS 2 puts a byte there.
		t.Fields = []Field{{Name: "structure_needs_at_least_one_member", Kind: U8}}
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Kind != Nested {
			continue
		}
		if f.Type = ts.all[short(f.typeName)]; f.Type == nil {
			return fmt.Errorf("%s.%s: type %s is not defined", t.Name, f.Name, f.typeName)
		}
		if err := ts.join(f.Type, depth+1); err != nil {
			return err
		}
	}
	t.state = 2
	return nil
}

// Parse reads a schema in an encoding of MCAP, ros2msg or ros2idl, and returns
// the type of a name.
func Parse(encoding, name string, schema []byte) (*Type, error) {
	if len(schema) > maxSchema {
		return nil, fmt.Errorf("a schema of %d bytes, the limit is %d", len(schema), maxSchema)
	}
	switch encoding {
	case "ros2msg":
		return parseMsg(name, string(schema))
	case "ros2idl":
		return parseIDL(name, string(schema))
	}
	return nil, fmt.Errorf("schemas of %q are not read, only ros2msg and ros2idl", encoding)
}

// Check says what is wrong with a path, or nil where a number stands there.
func (t *Type) Check(path string) error {
	_, err := t.steps(path)
	return err
}

// step is one field of a path.
type step struct {
	field int
	index int // of an array, else 0
}

// steps finds the fields of a path.
func (t *Type) steps(path string) ([]step, error) {
	var out []step
	for {
		part, rest, more := strings.Cut(path, ".")
		name, tail, indexed := strings.Cut(part, "[")
		i := t.field(name)
		if i < 0 {
			return nil, fmt.Errorf("there is no %q in %s", name, t.Name)
		}
		f := &t.Fields[i]
		s := step{field: i}
		switch {
		case (f.Count > 0 || f.Sequence) && !indexed:
			return nil, fmt.Errorf("%s is an array: write %s[0]", name, name)
		case f.Count == 0 && !f.Sequence && indexed:
			return nil, fmt.Errorf("%s is not an array", name)
		case indexed:
			n, err := strconv.ParseUint(strings.TrimSuffix(tail, "]"), 10, 24)
			if err != nil || !strings.HasSuffix(tail, "]") {
				return nil, fmt.Errorf("%q is not a name with an index, such as data[3]", part)
			}
			if f.Count > 0 && int(n) >= f.Count {
				return nil, fmt.Errorf("%s has %d elements, [0] to [%d]", name, f.Count, f.Count-1)
			}
			s.index = int(n)
		}
		out = append(out, s)
		switch {
		case f.Kind == Nested && !more:
			return nil, fmt.Errorf("%s is not a number but a %s: name a field of it", name, f.Type.Name)
		case f.Kind == Nested:
			t, path = f.Type, rest
		case more:
			return nil, fmt.Errorf("%s has no fields", name)
		case !f.Kind.number():
			return nil, fmt.Errorf("%s is text", name)
		default:
			return out, nil
		}
	}
}

// field returns the place of a name, or −1.
func (t *Type) field(name string) int {
	for i := range t.Fields {
		if t.Fields[i].Name == name {
			return i
		}
	}
	return -1
}
