package msgbin_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

type kind string

type part struct {
	Name kind    `msg:"name,most=name"`
	Size float64 `msg:"size,omitzero"`
	note string
}

type whole struct {
	Flags uint32   `msg:"flags"`
	First part     `msg:"first,omitzero"`
	Parts []part   `msg:"parts,optional,most=parts"`
	Names []string `msg:"names,omitzero,most=parts"`
}

// A struct is the map of its tags, with what is in it and in lists of it.
func TestStructsAreMapsByTheirTags(t *testing.T) {
	keys := msgbin.KeysOf[whole](msgbin.Limits{"name": 8, "parts": 2})
	encode := func(v whole) []byte {
		return msgbin.Append(nil, func(w *msgbin.Writer) { w.Fields(keys.Fields(nil, &v)) })
	}
	decode := func(to *whole, b []byte) error {
		r := msgbin.NewReader(b)
		err := r.Fields(keys.Fields(nil, to))
		if n, first := r.Unknown(); n > 0 {
			t.Errorf("%d keys of the map are not known, the first %q", n, first)
		}
		return err
	}
	for _, v := range []whole{
		{Flags: 7, First: part{Name: "a", Size: 2}, Parts: []part{{Name: "b"}, {Name: "c", Size: 1}}, Names: []string{"d"}},
		{Parts: []part{}, Names: []string{}},
	} {
		got := whole{First: part{Name: "old", note: "stays"}, Parts: make([]part, 2), Names: []string{"old", "old"}}
		if err := decode(&got, encode(v)); err != nil {
			t.Fatal(err)
		}
		if got.First.note = ""; !reflect.DeepEqual(got, v) {
			t.Errorf("%+v is read as %+v", v, got)
		}
	}
	for where, v := range map[string]whole{
		"parts":         {Parts: make([]part, 3)},
		"parts[1].name": {Parts: []part{{Name: "b"}, {Name: "more than eight"}}},
		"first.name":    {First: part{Name: "more than eight"}},
	} {
		if field, ok := errors.AsType[*msgbin.FieldError](decode(&whole{}, encode(v))); !ok || field.Field != where {
			t.Errorf("%s: %+v", where, field)
		}
	}
	m := msgbin.Values(keys.Fields(nil, &whole{Flags: 7, Parts: []part{{Name: "b"}}})[2:])
	if parts, _ := m["parts"].([]map[string]any); len(parts) != 1 || parts[0]["name"] != "b" {
		t.Errorf("%v", m)
	}
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, "option") {
			t.Errorf("a tag with an option that is not known: %q", text)
		}
	}()
	msgbin.KeysOf[whole](msgbin.Limits{"name": 8})
}
