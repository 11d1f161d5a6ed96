package cdr

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/dgm-robotics/dgm/bridge/internal/number"
)

// Reader picks numbers out of messages of one type.
type Reader struct {
	t    *Type
	root *node
	n    int
}

// node holds what is wanted of a type.
type node struct {
	fields map[int]*pick // by field
	last   int           // the highest of them
}

// pick holds what is wanted of a field: elements of numbers, or parts of types.
type pick struct {
	slots map[int][]int // by element: indexes of its value in dst
	types map[int]*node // by element
}

// NewReader returns a Reader of the fields at paths. The error names the path
// that is wrong, and why.
func NewReader(t *Type, paths []string) (*Reader, error) {
	return newReader(t, paths, numeric)
}

func newReader(t *Type, paths []string, want content) (*Reader, error) {
	r := &Reader{t: t, root: newNode(), n: len(paths)}
	for slot, path := range paths {
		steps, err := t.steps(path, want)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		at := r.root
		for i, s := range steps {
			p := at.fields[s.field]
			if p == nil {
				p = &pick{slots: map[int][]int{}, types: map[int]*node{}}
				at.fields[s.field] = p
				at.last = max(at.last, s.field)
			}
			if i == len(steps)-1 {
				p.slots[s.index] = append(p.slots[s.index], slot)
				break
			}
			if p.types[s.index] == nil {
				p.types[s.index] = newNode()
			}
			at = p.types[s.index]
		}
	}
	return r, nil
}

func newNode() *node { return &node{fields: map[int]*pick{}, last: -1} }

var (
	errShort   = errors.New("it ends before its last field")
	errWString = errors.New("what follows a wstring is not read: its length on the wire is not defined")
)

// Read puts the wanted fields of a message into dst, in the order of the paths;
// NaN = not there. On an error those before it are set.
func (r *Reader) Read(dst []float64, msg []byte) error { return r.ReadFrom(dst, msg, 0) }

// ReadFrom is Read where element 0 of an array that is a field of the message itself stands
// for element first.
func (r *Reader) ReadFrom(dst []float64, msg []byte, first int) error {
	if len(dst) != r.n {
		panic("cdr: dst must hold one value for each path")
	}
	for i := range dst {
		dst[i] = math.NaN()
	}
	if r.n == 0 {
		return nil
	}
	w := walker{dst: dst, first: first, root: r.root, packed: r.t.packed}
	if err := w.begin(msg); err != nil {
		return err
	}
	return w.read(r.t, r.root, 0, r.root.last)
}

// walker walks through the bytes of one message.
type walker struct {
	b    []byte // behind the encapsulation header: alignment counts from here
	at   int
	big  bool // the most significant byte of a number is the first
	wide int  // the widest alignment: 8, in version 2 4

	packed bool // nothing is aligned, as in ROS 1

	dst []float64

	root   *node // whose arrays begin with element first
	first  int
	onText func(path int, s []byte)
}

// begin reads the encapsulation header (RTPS 2.3, 10.2; XTypes 1.3, 7.6.3.1.2).
func (w *walker) begin(msg []byte) error {
	if w.packed {
		w.b, w.wide = msg, 1
		return nil
	}
	if len(msg) < 4 {
		return errShort
	}
	w.b, w.wide = msg[4:], 8
	switch kind := binary.BigEndian.Uint16(msg); kind {
	case 0, 6:
		w.big = true
	case 1, 7:
	default:
		return fmt.Errorf("encapsulation %#04x is not read, only plain CDR is", kind)
	}
	if msg[1] >= 6 {
		w.wide = 4
	}
	return nil
}

// align advances to a multiple of n bytes.
func (w *walker) align(n int) {
	n = min(n, w.wide)
	w.at = (w.at + n - 1) &^ (n - 1)
}

// pass advances by n bytes that must be there.
func (w *walker) pass(n int) error {
	if n < 0 || n > len(w.b)-w.at {
		return errShort
	}
	w.at += n
	return nil
}

// length reads the length of a sequence or a text.
func (w *walker) length() (int, error) {
	w.align(4)
	at := w.at
	if err := w.pass(4); err != nil {
		return 0, err
	}
	n := w.number(number.U32, at)
	if int64(n) > int64(len(w.b)-w.at) { // every element has a byte or more
		return 0, errShort
	}
	return int(n), nil
}

// count returns the number of elements of a field, 1 of one without.
func (w *walker) count(f *field) (int, error) {
	if f.sequence {
		return w.length()
	}
	return max(1, f.count), nil
}

// number returns the one at a place, which is there.
func (w *walker) number(k number.Kind, at int) float64 {
	if w.big {
		return k.Big(w.b[at:])
	}
	return k.Little(w.b[at:])
}

// numbers advances behind count numbers and returns the place of the first.
func (w *walker) numbers(k number.Kind, count int) (at int, err error) {
	w.align(k.Size())
	at = w.at
	return at, w.pass(count * k.Size())
}

// text advances behind a text and returns it, without the zero that ends it.
func (w *walker) text() ([]byte, error) {
	n, err := w.length()
	if err != nil {
		return nil, err
	}
	at := w.at
	err = w.pass(n)
	s := w.b[at:w.at]
	if !w.packed {
		s = s[:max(0, len(s)-1)]
	}
	return s, err
}

// read walks through the fields of a type from one to the one at last; those in n are
// kept.
func (w *walker) read(t *Type, n *node, from, last int) error {
	for i := from; i <= last; i++ {
		var p *pick
		if n != nil {
			p = n.fields[i]
		}
		f := &t.fields[i]
		count, err := w.count(f)
		if err == nil && count > 0 {
			first := 0
			if n == w.root && f.array() {
				first = w.first
			}
			err = w.field(f, p, count, first)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// field walks through count elements of a field, of which first counts as element 0.
func (w *walker) field(f *field, p *pick, count, first int) error {
	switch f.content {
	case numeric:
		at, err := w.numbers(f.number, count)
		if err == nil && p != nil {
			w.keep(f.number, at, count, p)
		}
		return err
	case text:
		for i := range count {
			s, err := w.text()
			if err != nil {
				return err
			}
			if p != nil && w.onText != nil {
				for _, slot := range p.slots[i] {
					w.onText(slot, s)
				}
			}
		}
		return nil
	case wideText:
		return errWString
	}
	for i := range count {
		var n *node
		if p != nil {
			n = p.types[i-first]
		}
		if err := w.read(f.t, n, 0, len(f.t.fields)-1); err != nil {
			return err
		}
	}
	return nil
}

// keep puts the wanted ones of count numbers from a place on into dst.
func (w *walker) keep(k number.Kind, at, count int, p *pick) {
	for i, slots := range p.slots {
		if i >= count {
			continue
		}
		for _, s := range slots {
			w.dst[s] = w.number(k, at+i*k.Size())
		}
	}
}

// Visit calls number and text with every value of a message, in its order, until
// one of them returns false. It returns what ended it early.
func (t *Type) Visit(msg []byte, number func(path string, v float64) bool, text func(path, s string) bool) error {
	w := walker{packed: t.packed}
	if err := w.begin(msg); err != nil {
		return err
	}
	v := visitor{walker: w, onNumber: number, onText: text}
	_, err := v.visit(t, "")
	return err
}

type visitor struct {
	walker
	onNumber func(string, float64) bool
	onText   func(string, string) bool
}

// visit visits the fields of a type. more is false where a function ended it.
func (v *visitor) visit(t *Type, prefix string) (more bool, err error) {
	for i := range t.fields {
		f := &t.fields[i]
		count, err := v.count(f)
		if err != nil {
			return false, err
		}
		for k := range count {
			path := prefix + f.name
			if f.array() {
				path += "[" + strconv.Itoa(k) + "]"
			}
			if more, err := v.element(f, path); err != nil || !more {
				return false, err
			}
		}
	}
	return true, nil
}

// element visits one element of a field.
func (v *visitor) element(f *field, path string) (more bool, err error) {
	switch f.content {
	case numeric:
		at, err := v.numbers(f.number, 1)
		if err != nil {
			return false, err
		}
		return v.onNumber(path, v.number(f.number, at)), nil
	case text:
		s, err := v.text()
		if err != nil {
			return false, err
		}
		return v.onText(path, string(s)), nil
	case wideText:
		return false, errWString
	}
	return v.visit(f.t, path+".")
}
