package cdr

import (
	"slices"

	"github.com/dgm-robotics/dgm/bridge/internal/number"
)

// Texts picks texts out of messages of one type.
type Texts struct{ r *Reader }

// NewTexts returns a reader of the texts at paths. The error names the path that is wrong,
// and why.
func NewTexts(t *Type, paths []string) (*Texts, error) {
	r, err := newReader(t, paths, text)
	return &Texts{r}, err
}

// Read calls f with each of the texts that is there, valid until it returns, and the number
// of its path. first is as in ReadFrom. It returns how many bytes of the message were read.
func (x *Texts) Read(msg []byte, first int, f func(path int, s []byte)) (n int, err error) {
	w := walker{first: first, root: x.r.root, onText: f, packed: x.r.t.packed}
	if err := w.begin(msg); err != nil {
		return 0, err
	}
	err = w.read(x.r.t, x.r.root, 0, x.r.root.last)
	return len(msg) - len(w.b) + w.at, err
}

// Names calls f with each text that a field holds: of one text or an array of texts, which is a field of the message itself or, if
// array is not empty, of the elements of that array, with the number of the element. It returns how many bytes of the message were read.
func (t *Type) Names(msg []byte, array, name string, f func(element int, s []byte)) (read int, err error) {
	w := walker{packed: t.packed}
	if err := w.begin(msg); err != nil {
		return 0, err
	}
	if array == "" {
		err = w.names(t, name, 0, f)
	} else if i := t.index(array); i >= 0 && t.fields[i].content == nested {
		of := &t.fields[i]
		n := 0
		if err = w.read(t, nil, 0, i-1); err == nil {
			n, err = w.count(of)
		}
		for k := 0; k < n && err == nil; k++ {
			if err = w.names(of.t, name, k, f); err == nil {
				err = w.read(of.t, nil, of.t.index(name)+1, len(of.t.fields)-1)
			}
		}
	}
	return len(msg) - len(w.b) + w.at, err
}

// names walks through the fields of a type up to the one with the names of an element.
func (w *walker) names(t *Type, name string, element int, f func(element int, s []byte)) error {
	last := t.index(name)
	if last < 0 || t.fields[last].content != text {
		return nil
	}
	if err := w.read(t, nil, 0, last-1); err != nil {
		return err
	}
	n, err := w.count(&t.fields[last])
	for ; n > 0 && err == nil; n-- {
		var s []byte
		if s, err = w.text(); err == nil {
			f(element, s)
		}
	}
	return err
}

// Named returns the arrays of messages of a type whose elements have a field with one of some names that is a text beside a real number
// or, if several, an array of texts, and these fields.
func (t *Type) Named(names []string, several bool) (arrays, fields []string) {
	for i := range t.fields {
		f := &t.fields[i]
		real := func(x field) bool { return x.content == numeric && (x.number == number.F64 || x.number == number.F32) }
		if f.content != nested || !f.array() || !several && !slices.ContainsFunc(f.t.fields, real) {
			continue
		}
		for k := range f.t.fields {
			if x := &f.t.fields[k]; x.content == text && x.array() == several && slices.Contains(names, x.name) {
				arrays, fields = append(arrays, f.name), append(fields, x.name)
			}
		}
	}
	return arrays, fields
}

// Stamped reports whether messages begin with a stamp of 8 bytes, so that nothing behind it
// moves with the time.
func (t *Type) Stamped() bool {
	return len(t.fields) > 0 && !t.packed && t.fields[0].content == nested && !t.fields[0].array() && len(t.fields[0].t.fields) > 0 &&
		t.fields[0].t.fields[0].content == nested && t.fields[0].t.fields[0].t.Name == "builtin_interfaces/Time"
}
