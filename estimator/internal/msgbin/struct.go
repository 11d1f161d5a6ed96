package msgbin

import (
	"reflect"
	"slices"
	"strings"
)

// Field is a key of a map, or an element of an array, and where its value is
// stored. One list of fields describes a map or an array for both directions.
type Field struct {
	Name  string
	value any
	rule  rule
	max   int  // 0 = defaultMax, of a Raw none
	exact bool // a vector has max elements
	short bool // a vector is written as float32

	within Keys // of a struct, or of each in a list; nil = the value is neither
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
//	*string, *bool, *int, *int64, *uint64, *float64
//	*uint32                   an integer, of which the low 32 bits are read
//	*[]byte                   a bin, copied into the memory it has
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

// Exactly returns the field of a vector with n elements; it may be a bin of float32.
func (f Field) Exactly(n int) Field {
	f.max, f.exact = n, true
	return f
}

// Limits are those of the fields of structs, by the names that tags have for them.
type Limits map[string]int

// Keys are those of a struct as a map: its fields that have a tag, in their order.
type Keys []tagged

// tagged is a field of a struct.
type tagged struct {
	field Field
	index int
	as    reflect.Type // pointer to the underlying type of a named one; nil = it is none
}

// KeysOf returns those of a struct by its tags:
//
//	`msg:"NAME,optional,most=LIMIT"`
//
// A field is required unless its tag has optional or omitzero, and has the limit that its tag names. Its type is one
// that Required takes, or with such an underlying type, a struct, which is a map, or a list of structs, which is an array of maps.
func KeysOf[T any](l Limits) Keys { return keysOf(reflect.TypeFor[T](), l) }

func keysOf(t reflect.Type, l Limits) (all Keys) {
	for i := range t.NumField() {
		tag, ok := t.Field(i).Tag.Lookup("msg")
		if !ok {
			continue
		}
		out := tagged{index: i}
		for n, option := range strings.Split(tag, ",") {
			limit, named := strings.CutPrefix(option, "most=")
			switch {
			case n == 0:
				out.field.Name = option
			case option == "optional":
				out.field.rule = optional
			case option == "omitzero":
				out.field.rule = omitZero
			case named && l[limit] > 0:
				out.field.max = l[limit]
			default:
				panic("msgbin: a tag has an option that is not known")
			}
		}
		switch of := t.Field(i).Type; {
		case of.Kind() == reflect.Struct:
			out.field.within = keysOf(of, l)
		case of.Kind() == reflect.Slice && of.Elem().Kind() == reflect.Struct:
			out.field.within = keysOf(of.Elem(), l)
		case of.Kind() == reflect.String:
			out.as = reflect.TypeFor[*string]()
		case of.Kind() == reflect.Uint32:
			out.as = reflect.TypeFor[*uint32]()
		case of.Kind() == reflect.Slice && of.Elem().Kind() == reflect.Uint8:
			out.as = reflect.TypeFor[*[]byte]()
		}
		all = append(all, out)
	}
	return all
}

// Fields appends the fields of the struct that p points to.
func (k Keys) Fields(dst []Field, p any) []Field {
	v := reflect.ValueOf(p).Elem()
	for i := range k {
		at := v.Field(k[i].index).Addr()
		if k[i].as != nil {
			at = at.Convert(k[i].as)
		}
		dst = append(dst, k[i].field)
		dst[len(dst)-1].value = at.Interface()
	}
	return dst
}

// Deferred is a value of a map that is read when the whole map was.
type Deferred struct {
	Name   string
	Raw    Raw
	Vector *[]float64 // where a vector is to be read to; nil = it is none
	Most   int        // elements of a vector
}

// Vector returns the vector that a field holds; nil = it holds another value.
func (f *Field) Vector() *[]float64 {
	v, _ := f.value.(*[]float64)
	return v
}

// Shorten has the vectors among fields be written as float32.
func Shorten(list []Field) {
	for i := range list {
		list[i].short = list[i].Vector() != nil
	}
}

// Defer has the vectors and the named ones among fields be read as raw values, and appends optional fields for other names. It returns the fields,
// and those values in their order, in memory of the Reader that is valid until it is released.
func (r *Reader) Defer(list []Field, names ...string) ([]Field, []Deferred) {
	r.deferred = Resize(r.deferred, len(list)+len(names))[:0] // whose places stay
	read := func(f *Field) {
		r.deferred = append(r.deferred, Deferred{Name: f.Name, Vector: f.Vector(), Most: f.max})
		f.value, f.max = &r.deferred[len(r.deferred)-1].Raw, 0
	}
	for i := range list {
		if list[i].Vector() != nil || slices.Contains(names, list[i].Name) {
			read(&list[i])
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(list, func(f Field) bool { return f.Name == name }) {
			list = append(list, Field{Name: name, rule: optional})
			read(&list[len(list)-1])
		}
	}
	return list, r.deferred
}

// structs returns how many structs a field has, −1 where it is one and no list of them.
func (f *Field) structs() int {
	if v := reflect.ValueOf(f.value).Elem(); v.Kind() == reflect.Slice {
		return v.Len()
	}
	return -1
}

// of appends the fields of a struct, of a list the one at i.
func (f *Field) of(dst []Field, i int) []Field {
	if i < 0 {
		return f.within.Fields(dst, f.value)
	}
	return f.within.Fields(dst, reflect.ValueOf(f.value).Elem().Index(i).Addr().Interface())
}

// Values returns what the fields hold by their names; constants and raw values are left out. Of structs there are lists alone, which become maps.
func Values(list []Field) map[string]any {
	m := map[string]any{}
	for i := range list {
		f, v := &list[i], reflect.ValueOf(list[i].value)
		switch {
		case v.Kind() != reflect.Pointer || v.Type() == reflect.TypeFor[*Raw]():
		case f.within != nil:
			maps := make([]map[string]any, f.structs())
			for i := range maps {
				maps[i] = Values(f.of(nil, i))
			}
			m[f.Name] = maps
		default:
			m[f.Name] = v.Elem().Interface()
		}
	}
	return m
}
