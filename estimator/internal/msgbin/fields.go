package msgbin

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// maxFields limits the pairs of a map, those of later versions included.
const maxFields = 256

// Fields appends a map of the fields, in their order.
func (w *Writer) Fields(list []Field) {
	w.Map(Written(list))
	w.Pairs(list)
}

// Written returns how many of the fields Pairs appends.
func Written(list []Field) int {
	n := 0
	for i := range list {
		if list[i].written() {
			n++
		}
	}
	return n
}

// Pairs appends the pairs of a map whose header the caller appended.
func (w *Writer) Pairs(list []Field) {
	for i := range list {
		if f := &list[i]; f.written() {
			w.String(f.Name)
			w.field(f)
		}
	}
}

// Elements appends an array of the fields' values.
func (w *Writer) Elements(list []Field) {
	w.Array(len(list))
	for i := range list {
		w.field(&list[i])
	}
}

func (w *Writer) field(f *Field) {
	if f.within != nil {
		w.maps(f)
		return
	}
	switch v := f.value.(type) {
	case *string:
		w.String(*v)
	case *int:
		w.Int(int64(*v))
	case *int64:
		w.Int(*v)
	case *uint64:
		w.Uint(*v)
	case *uint32:
		w.Uint(uint64(*v))
	case *float64:
		w.Float64(*v)
	case *bool:
		w.Bool(*v)
	case *[]byte:
		w.Bin(*v)
	case *[]float64:
		if f.short {
			w.Floats32(*v)
		} else {
			w.Floats(*v)
		}
	case *[]string:
		w.Strings(*v)
	case *Raw:
		w.Raw(v.Bytes)
	case int:
		w.Int(int64(v))
	default:
		panic(noType)
	}
}

const noType = "msgbin: a field has a value of another type"

func (f *Field) written() bool {
	if f.rule != omitZero {
		return true
	}
	v := reflect.ValueOf(f.value).Elem()
	if v.Kind() == reflect.Slice {
		return v.Len() > 0
	}
	return !v.IsZero()
}

// clear sets the value to zero, or empties a list, whose memory remains.
func (f *Field) clear() {
	if v := reflect.ValueOf(f.value).Elem(); v.Kind() == reflect.Slice {
		v.SetLen(0)
	} else {
		v.SetZero()
	}
}

// Fields reads a map whose keys may come in any order. Keys that are in no field
// are skipped. The error is a *FieldError; it wraps an *Error, or a
// *ConstantError for a constant that differs.
func (r *Reader) Fields(list []Field) error { return r.fields(list, false) }

// Unknown returns how many keys the last call of Fields skipped, and the first of them, in
// place.
func (r *Reader) Unknown() (keys int, first []byte) { return r.unknown, r.firstUnknown }

// OnlyFields is Fields of a map that must have no other keys. The error for one wraps
// ErrUnknown.
func (r *Reader) OnlyFields(list []Field) error { return r.fields(list, true) }

func (r *Reader) fields(list []Field, only bool) error {
	r.unknown, r.firstUnknown = 0, nil
	n, err := r.Map(maxFields)
	if err != nil {
		return &FieldError{Err: err}
	}
	var seen [maxFields / 64]uint64
	next := 0 // writers keep the order, mostly: the field after the last one comes first
	for range n {
		key, err := r.StringBytes(defaultMax)
		if err != nil {
			return &FieldError{Err: err}
		}
		i := find(list, key, next)
		if i < 0 && only {
			return &FieldError{string(key), ErrUnknown}
		}
		if i < 0 {
			if r.unknown++; r.unknown == 1 {
				r.firstUnknown = key
			}
			if err := r.Skip(); err != nil {
				return &FieldError{string(key), err}
			}
			continue
		}
		// Of a key that appears twice, two readers could use different values.
		if seen[i/64]&(1<<(i%64)) != 0 {
			return list[i].fail(errTwice)
		}
		seen[i/64] |= 1 << (i % 64)
		next = i + 1
		if err := r.field(&list[i]); err != nil {
			return list[i].fail(err)
		}
	}
	for i := range list {
		switch {
		case seen[i/64]&(1<<(i%64)) != 0:
		case list[i].rule == required:
			return list[i].fail(errMissing)
		default:
			list[i].clear()
		}
	}
	return nil
}

// Elements reads an array whose first elements are the fields. Elements after those
// are left unread. The error is a *FieldError, as of Fields.
func (r *Reader) Elements(list []Field) error {
	n, err := r.Array(maxFields)
	if err != nil {
		return &FieldError{Err: err}
	}
	for i := range list {
		f := &list[i]
		switch {
		case i < n:
			err = r.field(f)
		case f.rule == required:
			err = errMissing
		default:
			f.clear()
		}
		if err != nil {
			return f.fail(err)
		}
	}
	return nil
}

// ErrUnknown is that a map has a key that it must not have.
var ErrUnknown = errors.New("is not known")

var (
	errTwice   = errors.New("appears twice")
	errMissing = errors.New("is missing")
)

// fail returns the error of the field. The name is copied: if it escaped, all that
// fields point to would move to the heap with it.
func (f *Field) fail(err error) error { return Within(strings.Clone(f.Name), err) }

// find returns the index of the field of a key, from start on around the list, -1
// for none.
func find(list []Field, key []byte, start int) int {
	for i := start; i < len(list); i++ {
		if list[i].Name == string(key) {
			return i
		}
	}
	for i := range list[:start] {
		if list[i].Name == string(key) {
			return i
		}
	}
	return -1
}

func (r *Reader) field(f *Field) (err error) {
	if (f.rule != required || f.within != nil) && r.Nil() {
		f.clear()
		return nil
	}
	max := f.max
	if max == 0 && !f.exact {
		max = defaultMax
	}
	if f.within != nil {
		return r.maps(f, max)
	}
	switch v := f.value.(type) {
	case *string:
		var b []byte
		// Names repeat from message to message, and then nothing is allocated.
		if b, err = r.StringBytes(max); err == nil && *v != string(b) {
			*v = string(b)
		}
	case *[]byte:
		var b []byte
		b, err = r.Bin(max)
		*v = append((*v)[:0], b...)
	case *int:
		var i int64
		if i, err = r.Int64(); err == nil && int64(int(i)) != i {
			err = fmt.Errorf("%d is out of range", i)
		}
		*v = int(i)
	case *int64:
		*v, err = r.Int64()
	case *uint64:
		*v, err = r.Uint64()
	case *uint32:
		var u uint64
		u, err = r.Uint64()
		*v = uint32(u)
	case *float64:
		*v, err = r.Float64()
	case *bool:
		*v, err = r.Bool()
	case *[]float64:
		if f.exact {
			*v = Resize(*v, max)
			return r.Floats(*v)
		}
		*v, err = r.AppendFloats((*v)[:0], max)
	case *[]string:
		err = r.strings(v, max)
	case *Raw:
		if at := r.Offset(); f.max > 0 {
			if _, err := r.Array(f.max); err != nil {
				return err
			}
			r.move(at)
		}
		*v, err = r.Raw()
	case int:
		var got int64
		if got, err = r.Int64(); err == nil && got != int64(v) {
			err = &ConstantError{got, int64(v)}
		}
	default:
		panic(noType)
	}
	return err
}

// strings reads an array of strings into the memory of dst.
func (r *Reader) strings(dst *[]string, max int) error {
	n, err := r.Array(max)
	if err != nil {
		return err
	}
	*dst = Resize(*dst, n)
	for i := range *dst {
		b, err := r.StringBytes(defaultMax)
		if err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
		if (*dst)[i] != string(b) {
			(*dst)[i] = string(b)
		}
	}
	return nil
}

// mostWithin is how many fields of a struct within another one need no memory of the heap.
const mostWithin = 16

// maps appends structs as maps.
func (w *Writer) maps(f *Field) {
	var memory [mostWithin]Field
	n := f.structs()
	if n < 0 {
		w.Fields(f.of(memory[:0], n))
		return
	}
	w.Array(n)
	for i := range n {
		w.Fields(f.of(memory[:0], i))
	}
}

// maps reads structs into the memory that they have.
func (r *Reader) maps(f *Field, most int) error {
	unknown, first := r.unknown, r.firstUnknown // of the map around them
	defer func() { r.unknown, r.firstUnknown = unknown, first }()
	var memory [mostWithin]Field
	if f.structs() < 0 {
		return r.Fields(f.of(memory[:0], -1))
	}
	n, err := r.Array(most)
	if err != nil {
		return err
	}
	list := reflect.ValueOf(f.value).Elem()
	if n > list.Cap() {
		list.Grow(n - list.Len())
	}
	list.SetLen(n)
	for i := range n {
		if err := r.Fields(f.of(memory[:0], i)); err != nil {
			return Within(fmt.Sprintf("[%d]", i), err)
		}
	}
	return nil
}
