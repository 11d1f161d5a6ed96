package msgbin

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Field is a key of a map and where its value is stored. One list of fields
// describes a map for both directions.
type Field struct {
	Name  string
	value any
	rule  rule
	max   int // 0 = defaultMax, of a Raw none
}

type rule uint8

const (
	required rule = iota // always written; a map without it is refused
	optional             // always written
	omitZero             // not written where it is zero or empty
)

// defaultMax is the limit of what a field holds, where Limit sets no other.
const defaultMax = 1024

// Required is a field that every map has. value is one of
//
//	*string, *[]byte          a string; of []byte it is read in place
//	*int64, *uint64, *float64, *bool
//	*uint32                   an integer, of which the low 32 bits are read
//	*[]float64, *[]string     lists, read into the memory they have
//	*Raw                      any value, encoded
//	int                       a constant that the map must agree with
func Required(name string, value any) Field { return Field{Name: name, value: value, rule: required} }

// Optional is a field that is always written. Where a map lacks it or has nil for
// it, its value becomes zero or empty. Values are as with Required.
func Optional(name string, value any) Field { return Field{Name: name, value: value, rule: optional} }

// OmitZero is an Optional field that is not written where it is zero or empty.
func OmitZero(name string, value any) Field { return Field{Name: name, value: value, rule: omitZero} }

// Limit returns the field with another limit than 1024 of the bytes of a string or
// the elements of a list. A Raw has no limit but this, on the elements of its array.
func (f Field) Limit(max int) Field {
	f.max = max
	return f
}

// maxFields limits the pairs of a map, those of later versions included.
const maxFields = 64

// Fields appends a map of the fields, in their order.
func (w *Writer) Fields(list []Field) {
	n := 0
	for i := range list {
		if list[i].written() {
			n++
		}
	}
	w.Map(n)
	w.Pairs(list)
}

// Pairs appends the pairs of a map whose header the caller appended.
func (w *Writer) Pairs(list []Field) {
	for i := range list {
		f := &list[i]
		if !f.written() {
			continue
		}
		w.String(f.Name)
		switch v := f.value.(type) {
		case *string:
			w.String(*v)
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
		case *[]float64:
			w.Floats(*v)
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
}

const noType = "msgbin: a field has a value of another type"

// written reports whether the field is written.
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
func (r *Reader) Fields(list []Field) error {
	n, err := r.Map(maxFields)
	if err != nil {
		return &FieldError{Err: err}
	}
	var seen uint64
	next := 0 // writers keep the order, mostly: the field after the last one comes first
	for range n {
		key, err := r.StringBytes(defaultMax)
		if err != nil {
			return &FieldError{Err: err}
		}
		i := find(list, key, next)
		if i < 0 {
			if err := r.Skip(); err != nil {
				return &FieldError{string(key), err}
			}
			continue
		}
		// Of a key that appears twice, two readers could use different values.
		if seen&(1<<i) != 0 {
			return list[i].fail(errTwice)
		}
		seen |= 1 << i
		next = i + 1
		if err := r.field(&list[i]); err != nil {
			return list[i].fail(err)
		}
	}
	for i := range list {
		switch {
		case seen&(1<<i) != 0:
		case list[i].rule == required:
			return list[i].fail(errMissing)
		default:
			list[i].clear()
		}
	}
	return nil
}

var (
	errTwice   = errors.New("appears twice")
	errMissing = errors.New("is missing")
)

// fail returns the error of the field. The name is copied: if it escaped, all that
// fields point to would move to the heap with it.
func (f *Field) fail(err error) error { return &FieldError{strings.Clone(f.Name), err} }

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

// field reads the value of a field.
func (r *Reader) field(f *Field) (err error) {
	if f.rule != required && r.Nil() {
		f.clear()
		return nil
	}
	max := f.max
	if max == 0 {
		max = defaultMax
	}
	switch v := f.value.(type) {
	case *string:
		var b []byte
		// Names repeat from message to message, and then nothing is allocated.
		if b, err = r.StringBytes(max); err == nil && *v != string(b) {
			*v = string(b)
		}
	case *[]byte:
		*v, err = r.StringBytes(max)
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

// Resize returns s with n elements, in its own memory where that suffices. The
// elements keep what they held.
func Resize[E any](s []E, n int) []E {
	if n <= cap(s) {
		return s[:n]
	}
	return append(s[:cap(s)], make([]E, n-cap(s))...)
}
