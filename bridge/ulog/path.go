package ulog

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/internal/number"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// accessor is the place of a number in a message.
type accessor struct {
	at, end int // bytes from the start of the content
	kind    number.Kind
}

// read returns the number in the content of a message. NaN where the message is
// too short to hold it.
func (a accessor) read(b []byte) float64 {
	if a.end > len(b) {
		return nan
	}
	return a.kind.Little(b[a.at:])
}

var nan = math.NaN()

// find returns the place of the field with a path such as "esc[0].voltage" in
// type name, or what is wrong with the path.
func (fs formats) find(name, path string) (accessor, error) {
	at := 0
	for depth := 0; ; depth++ {
		f := fs[name]
		if f == nil || depth > maxDepth {
			return accessor{}, fmt.Errorf("type %q is not defined", telemetry.Clip(name))
		}
		step, rest, more := strings.Cut(path, ".")
		step, index := telemetry.SplitIndex(step)
		i, skip, err := fs.locate(f, step)
		if err != nil {
			return accessor{}, err
		}
		fl := &f.fields[i]
		size, err := fs.element(fl, depth)
		if err != nil {
			return accessor{}, err
		}
		n, err := index.Of(step, fl.count)
		if err != nil {
			return accessor{}, err
		}
		at += skip + n*size
		switch {
		case fl.kind != number.None && more:
			return accessor{}, fmt.Errorf("%s is a number and has no fields", step)
		case fl.kind != number.None:
			return accessor{at, at + fl.kind.Size(), fl.kind}, nil
		case !more:
			return accessor{}, fmt.Errorf("%s is not a number but a %s: name a field of it", step, telemetry.Clip(fl.nested))
		}
		name, path = fl.nested, rest
	}
}

// locate returns which field of f has a name, and the bytes before it.
func (fs formats) locate(f *format, name string) (i, skip int, err error) {
	for i := range f.fields {
		if f.fields[i].name == name {
			return i, skip, nil
		}
		n, err := fs.fieldSize(&f.fields[i], 0)
		if err != nil {
			return 0, 0, err
		}
		skip += n
	}
	return 0, 0, fmt.Errorf("there is no %q", name)
}

// list returns the numbers of a type in their order, no more than
// telemetry.MaxFields, without padding.
func (fs formats) list(name string) []telemetry.Field {
	var out []telemetry.Field
	fs.walk(name, "", 0, &out)
	return out
}

func (fs formats) walk(name, prefix string, depth int, out *[]telemetry.Field) {
	f := fs[name]
	if f == nil || depth > maxDepth {
		return
	}
	for i := range f.fields {
		fl := &f.fields[i]
		if fl.padding() {
			continue
		}
		for k := range max(1, fl.count) {
			if len(*out) >= telemetry.MaxFields {
				return
			}
			path := prefix + fl.name
			if fl.count > 0 {
				path += "[" + strconv.Itoa(k) + "]"
			}
			if fl.kind != number.None {
				*out = append(*out, telemetry.Field{Path: path})
			} else {
				fs.walk(fl.nested, path+".", depth+1, out)
			}
		}
	}
}
