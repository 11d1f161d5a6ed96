package msgbin_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

func TestFields(t *testing.T) {
	type value struct {
		name string
		n    int64
		list []float64
		on   bool
	}
	read := func(b []byte) (value, error) {
		v := value{name: "old", n: 7, list: []float64{7}, on: true}
		err := msgbin.NewReader(b).Fields([]msgbin.Field{
			msgbin.Required("v", 3), msgbin.Required("name", &v.name).Limit(5),
			msgbin.Optional("n", &v.n), msgbin.Optional("list", &v.list).Limit(2), msgbin.OmitZero("on", &v.on),
		})
		return v, err
	}
	for name, c := range map[string]struct {
		m    []any // keys and values in turn
		want value
		err  string
	}{
		"whole":         {[]any{"v", 3, "name", "abc", "n", 1, "list", []any{1, 2}, "on", true}, value{"abc", 1, []float64{1, 2}, true}, ""},
		"another order": {[]any{"on", true, "name", "abc", "later", []any{nil}, "v", 3.0}, value{"abc", 0, nil, true}, ""},
		"nil is absent": {[]any{"v", 3, "name", "", "n", nil, "list", nil, "on", nil}, value{}, ""},
		"nil is needed": {[]any{"v", 3, "name", nil}, value{}, "name: byte 9: expected a string, found nil"},
		"missing":       {[]any{"v", 3}, value{}, "name: is missing"},
		"twice":         {[]any{"v", 3, "v", 3}, value{}, "v: appears twice"},
		"constant":      {[]any{"v", 4, "name", ""}, value{}, "v: 4, expected 3"},
		"long name":     {[]any{"v", 3, "name", "abcdef"}, value{}, "name: byte 9: a string of 6 bytes, more than the limit of 5"},
		"long list":     {[]any{"v", 3, "name", "", "list", []any{1, 2, 3}}, value{}, "list: byte 15: an array of 3 entries, more than the limit of 2"},
		"number as key": {[]any{3, 3}, value{}, "byte 1: expected a string, found an integer"},
	} {
		b := []byte{0x80 | byte(len(c.m)/2)}
		for _, x := range c.m {
			one, err := msgpack.Marshal(x)
			if i, ok := x.(int); ok {
				one, err = []byte{byte(i)}, nil
			}
			if err != nil {
				t.Fatal(err)
			}
			b = append(b, one...)
		}
		got, err := read(b)
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%s: error %v, want %s", name, err, c.err)
			}
			continue
		}
		if err != nil || got.name != c.want.name || got.n != c.want.n || !slices.Equal(got.list, c.want.list) || got.on != c.want.on {
			t.Errorf("%s: read %+v, %v", name, got, err)
		}
	}
}

func TestElements(t *testing.T) {
	var n int
	var raw []byte
	var list []float64
	var name string
	fields := []msgbin.Field{
		msgbin.Required("n", &n), msgbin.Required("raw", &raw), msgbin.Required("list", &list).Exactly(2), msgbin.Optional("name", &name),
	}
	n, raw, list, name = -3, []byte{1, 2}, []float64{0.5, 4}, "abc"
	b := encoded(func(w *msgbin.Writer) { w.Elements(fields) })
	for want, in := range map[string][]byte{
		"":                b,
		"raw: is missing": {0x91, 1},
		"byte 0: expected an array, found an integer":                   {1},
		"list: byte 4: a vector of 1 numbers, expected 2":               {0x93, 1, 0xc4, 0, 0x91, 1},
		"raw: byte 2: a bin of 2000 bytes, more than the limit of 1024": append([]byte{0x92, 1, 0xc5, 0x07, 0xd0}, make([]byte, 2000)...),
	} {
		n, raw, list, name = 0, nil, nil, "old"
		err := msgbin.NewReader(in).Elements(fields)
		if want == "" && (err != nil || n != -3 || !slices.Equal(raw, []byte{1, 2}) || !slices.Equal(list, []float64{0.5, 4}) || name != "abc") {
			t.Errorf("read %d, %v, %v, %q, %v", n, raw, list, name, err)
		}
		if want != "" && (err == nil || err.Error() != want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	// Elements of later writers are left unread, optional ones of earlier writers empty.
	r := msgbin.NewReader([]byte{0x95, 1, 0xc4, 0, 0x92, 1, 2, 0xa0, 0xc3})
	if err := r.Elements(fields); err != nil || r.Left() != 1 {
		t.Errorf("a later writer: %v, %d left", err, r.Left())
	}
	r.Reset([]byte{0x93, 1, 0xc4, 0, 0x92, 1, 2})
	if err := r.Elements(fields); err != nil || name != "" {
		t.Errorf("an earlier writer: %v, name %q", err, name)
	}
}

// A message may have more than 64 fields: each is read, required and refused twice.
func TestMoreThan64Fields(t *testing.T) {
	values := make([]float64, 80)
	var list []msgbin.Field
	for i := range values {
		values[i] = float64(i)
		list = append(list, msgbin.Required(fmt.Sprintf("f%d", i), &values[i]))
	}
	write := func(list []msgbin.Field) []byte {
		return msgbin.Append(nil, func(w *msgbin.Writer) { w.Fields(list) })
	}
	read := func(b []byte) error {
		clear(values)
		r := msgbin.AcquireReader(b)
		defer r.Release()
		return r.Fields(list)
	}
	all, short, twice := write(list), write(list[:79]), write(append(list[:79:79], list[70]))
	if err := read(all); err != nil || values[79] != 79 {
		t.Errorf("%v, %v", err, values)
	}
	if err := read(short); err == nil || !strings.Contains(err.Error(), "f79") {
		t.Errorf("one is missing: %v", err)
	}
	if err := read(twice); err == nil || !strings.Contains(err.Error(), "f70") {
		t.Errorf("one is there twice: %v", err)
	}
}
