package cdr

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Reader picks numbers out of messages of one type.
type Reader struct {
	t    *Type
	root *node
	n    int
}

// node says what is wanted of a type.
type node struct {
	fields map[int]*pick // by field
	last   int           // the highest of them
}

// pick says what is wanted of a field: elements of numbers, or parts of types.
type pick struct {
	slots map[int][]int // by element: where its value goes
	types map[int]*node // by element
}

// NewReader returns a Reader of the fields at paths. The error says what is wrong
// with which path.
func NewReader(t *Type, paths []string) (*Reader, error) {
	r := &Reader{t: t, root: newNode(), n: len(paths)}
	for slot, path := range paths {
		steps, err := t.steps(path)
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
	errWString = errors.New("what stands behind a wstring is not read: its length on the wire is not defined")
)

// Read puts the wanted fields of a message into dst, in the order of the paths;
// NaN = not there. On an error those before it are set.
func (r *Reader) Read(dst []float64, msg []byte) error {
	if len(dst) != r.n {
		panic("cdr: dst must hold one value for each path")
	}
	for i := range dst {
		dst[i] = math.NaN()
	}
	if r.n == 0 {
		return nil
	}
	w := walker{dst: dst}
	if err := w.begin(msg); err != nil {
		return err
	}
	return w.read(r.t, r.root, r.root.last)
}

// walker walks through the bytes of one message.
type walker struct {
	b     []byte // behind the encapsulation header: alignment counts from here
	at    int
	order binary.ByteOrder
	wide  int // the widest alignment: 8, in version 2 4
	dst   []float64
}

// begin reads the encapsulation header (RTPS 2.3, 10.2; XTypes 1.3, 7.6.3.1.2).
func (w *walker) begin(msg []byte) error {
	if len(msg) < 4 {
		return errShort
	}
	w.b, w.wide = msg[4:], 8
	switch kind := binary.BigEndian.Uint16(msg); kind {
	case 0, 6:
		w.order = binary.BigEndian
	case 1, 7:
		w.order = binary.LittleEndian
	default:
		return fmt.Errorf("encapsulation %#04x is not read, only plain CDR is", kind)
	}
	if msg[1] >= 6 {
		w.wide = 4
	}
	return nil
}

// align goes on to a multiple of n bytes.
func (w *walker) align(n int) {
	n = min(n, w.wide)
	w.at = (w.at + n - 1) &^ (n - 1)
}

// pass goes on by n bytes that must be there.
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
	if w.at+4 > len(w.b) {
		return 0, errShort
	}
	n := w.order.Uint32(w.b[w.at:])
	w.at += 4
	if int64(n) > int64(len(w.b)-w.at) { // every element takes a byte or more
		return 0, errShort
	}
	return int(n), nil
}

// read walks through the fields of a type up to the one at last; those in n are
// kept.
func (w *walker) read(t *Type, n *node, last int) error {
	for i := 0; i <= last; i++ {
		var p *pick
		if n != nil {
			p = n.fields[i]
		}
		if err := w.field(&t.Fields[i], p); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) field(f *Field, p *pick) error {
	count := 1
	if f.Count > 0 {
		count = f.Count
	}
	if f.Sequence {
		var err error
		if count, err = w.length(); err != nil {
			return err
		}
	}
	switch {
	case count == 0:
		return nil
	case f.Kind.number():
		size := f.Kind.size()
		w.align(size)
		at := w.at
		if err := w.pass(count * size); err != nil {
			return err
		}
		if p != nil {
			for i, slots := range p.slots {
				if i < count {
					for _, s := range slots {
						w.dst[s] = w.number(f.Kind, at+i*size)
					}
				}
			}
		}
		return nil
	case f.Kind == String:
		for range count {
			n, err := w.length()
			if err != nil {
				return err
			}
			if err := w.pass(n); err != nil {
				return err
			}
		}
		return nil
	case f.Kind == WString:
		return errWString
	}
	for i := range count {
		var n *node
		if p != nil {
			n = p.types[i]
		}
		if err := w.read(f.Type, n, len(f.Type.Fields)-1); err != nil {
			return err
		}
	}
	return nil
}

// number reads one, which is there.
func (w *walker) number(k Kind, at int) float64 {
	b := w.b[at:]
	switch k {
	case Bool, U8:
		return float64(b[0])
	case I8:
		return float64(int8(b[0]))
	case I16:
		return float64(int16(w.order.Uint16(b)))
	case U16:
		return float64(w.order.Uint16(b))
	case I32:
		return float64(int32(w.order.Uint32(b)))
	case U32:
		return float64(w.order.Uint32(b))
	case I64:
		return float64(int64(w.order.Uint64(b)))
	case U64:
		return float64(w.order.Uint64(b))
	case F32:
		return float64(math.Float32frombits(w.order.Uint32(b)))
	default:
		return math.Float64frombits(w.order.Uint64(b))
	}
}

// Visit calls number and text with every value of a message, in its order, until
// one of them returns false. It returns what ended it early.
func (t *Type) Visit(msg []byte, number func(path string, v float64) bool, text func(path, s string) bool) error {
	var w walker
	if err := w.begin(msg); err != nil {
		return err
	}
	v := visitor{walker: w, number: number, text: text}
	_, err := v.visit(t, "")
	return err
}

type visitor struct {
	walker
	number func(string, float64) bool
	text   func(string, string) bool
}

func (v *visitor) visit(t *Type, prefix string) (more bool, err error) {
	for i := range t.Fields {
		f := &t.Fields[i]
		count := 1
		if f.Count > 0 {
			count = f.Count
		}
		if f.Sequence {
			if count, err = v.length(); err != nil {
				return false, err
			}
		}
		for k := range count {
			path := prefix + f.Name
			if f.Count > 0 || f.Sequence {
				path += "[" + strconv.Itoa(k) + "]"
			}
			switch {
			case f.Kind.number():
				size := f.Kind.size()
				v.align(size)
				at := v.at
				if err := v.pass(size); err != nil {
					return false, err
				}
				more = v.number(path, v.walker.number(f.Kind, at))
			case f.Kind == String:
				n, err := v.length()
				if err != nil {
					return false, err
				}
				at := v.at
				if err := v.pass(n); err != nil {
					return false, err
				}
				more = v.text(path, string(v.b[at:at+max(0, n-1)])) // a zero ends it
			case f.Kind == WString:
				return false, errWString
			default:
				if more, err = v.visit(f.Type, path+"."); err != nil {
					return false, err
				}
			}
			if !more {
				return false, nil
			}
		}
	}
	return true, nil
}
