package msgbin

import (
	"reflect"
	"strings"
)

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
		}
		all = append(all, out)
	}
	return all
}

// Fields appends the fields of the struct that p points to.
func (k Keys) Fields(dst []Field, p any) []Field {
	v := reflect.ValueOf(p).Elem()
	for i := range k {
		f := k[i].field
		at := v.Field(k[i].index).Addr()
		if k[i].as != nil {
			at = at.Convert(k[i].as)
		}
		f.value = at.Interface()
		dst = append(dst, f)
	}
	return dst
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
