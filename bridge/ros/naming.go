package ros

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/cdr"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// naming is where messages of a type name the elements of their arrays.
type naming struct {
	names      string // an array of names, which those of all other arrays have in its order, or, with of, the field with the name; "" = none
	of         string // (optional) the array whose elements have a name each
	inner      string // (optional) an array of messages in which names have an array of their own,
	innerNames string // which is this one
}

// nameArrays are the fields that name the elements of the other arrays.
var nameArrays = []string{"name", "names", "joint_names"}

// innerArrays are the fields that do so within an element.
var innerArrays = []string{"name", "names", "interface_names"}

// namingOf finds where messages of a type have names.
func namingOf(t *cdr.Type) (n naming) {
	for _, a := range nameArrays {
		if t.CheckText(a+"[0]") == nil && n.names == "" {
			n.names = a
		}
	}
	if n.names != "" {
		if arrays, fields := t.Named(innerArrays, true); len(arrays) > 0 {
			n.inner, n.innerNames = arrays[0], fields[0]
		}
	} else if arrays, fields := t.Named([]string{"name"}, false); len(arrays) == 1 {
		n.of, n.names = arrays[0], fields[0]
	}
	return n
}

// part matches the part of a path that says which element is meant, by its number or by a name, such as [name=elbow].
var part = regexp.MustCompile(`\[(?:(\w+)=([^\]]*)|(\d+))\](?:$|[.\[])`)

// place is where a path says which element is meant: the array ahead, the element, and what follows.
type place struct {
	array       string
	names, name string // as in [name=elbow]
	at          int    // as in [2], with no names
	rest        string
}

// places splits a path at each of its elements.
func places(path string) (all []place) {
	for _, m := range part.FindAllStringSubmatchIndex(path, -1) {
		e := place{array: path[:m[0]]}
		if m[2] >= 0 {
			e.names, e.name, e.rest = path[m[2]:m[3]], path[m[4]:m[5]], path[m[5]+1:]
		} else {
			e.at, _ = strconv.Atoi(path[m[6]:m[7]])
			e.rest = path[m[7]+1:]
		}
		all = append(all, e)
	}
	return all
}

// named splits a path such as position[name=elbow] or pose[name=box].x at the first name.
func named(path string) (e place, ok bool) {
	all := places(path)
	if i := slices.IndexFunc(all, func(e place) bool { return e.names != "" }); i >= 0 {
		return all[i], true
	}
	return e, false
}

func index(i int) string { return "[" + strconv.Itoa(i) + "]" }

// check returns a path with names as one of first elements, or what is wrong with it.
func (n *naming) check(path string) (string, error) {
	e, ok := named(path)
	if !ok {
		return path, nil
	}
	if n == nil || n.names != e.names || n.of != "" && n.of != e.array {
		return path, fmt.Errorf("%q names no elements of %s", e.names, e.array)
	}
	if in, ok := named(e.rest); ok {
		if n.inner != e.array || n.innerNames != in.names {
			return path, fmt.Errorf("%q names no elements of %s%s", in.names, e.array, in.array)
		}
		e.rest = in.array + index(0) + in.rest
	}
	return e.array + index(0) + e.rest, nil
}

// absent is the index of an element that is in no message.
const absent = "[16777215]"

// among returns a path with the numbers that its names have among those of a message.
func among(path string, names []string, inner [][]string) string {
	e, ok := named(path)
	if !ok {
		return path
	}
	k := slices.Index(names, e.name)
	if k < 0 {
		return e.array + absent + e.rest
	}
	if in, ok := named(e.rest); ok {
		at := absent
		if k < len(inner) {
			if i := slices.Index(inner[k], in.name); i >= 0 {
				at = index(i)
			}
		}
		e.rest = in.array + at + in.rest
	}
	return e.array + index(k) + e.rest
}

// write sets the paths of fields by the names of a message, in arrays of as many elements as it has names.
func (n *naming) write(fields []telemetry.Field, names []string, inner [][]string) {
	if !distinct(names) {
		return
	}
	count := map[string]int{}
	for _, f := range fields {
		for _, e := range places(f.Path) {
			count[e.array] = max(count[e.array], e.at+1)
		}
	}
	for i, f := range fields {
		all := places(f.Path)
		k := slices.IndexFunc(all, func(e place) bool {
			return count[e.array] == len(names) && e.array != n.names && (n.of == "" || n.of == e.array)
		})
		if k < 0 {
			continue
		}
		e := all[k]
		if e.array == n.inner && e.at < len(inner) && distinct(inner[e.at]) && k+1 < len(all) && count[all[k+1].array] == len(inner[e.at]) {
			in := all[k+1]
			e.rest = strings.TrimPrefix(in.array, e.array+index(e.at)) + "[" + n.innerNames + "=" + inner[e.at][in.at] + "]" + in.rest
		}
		fields[i].Named = e.array + "[" + n.names + "=" + names[e.at] + "]" + e.rest
	}
}

// repeated returns a name that is there twice; "" = none is.
func repeated(names []string) string {
	for i, n := range names {
		if slices.Contains(names[:i], n) {
			return n
		}
	}
	return ""
}

// distinct reports whether names distinguish elements.
func distinct(names []string) bool {
	unusable := func(n string) bool { return n == "" || strings.ContainsAny(n, "[]") }
	return len(names) > 0 && !slices.ContainsFunc(names, unusable) && repeated(names) == ""
}
