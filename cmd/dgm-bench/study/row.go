package study

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Key names one unit of work of a study.
type Key struct {
	Set      string `json:"set"`
	Variant  string `json:"variant,omitempty"`
	Seed     int    `json:"seed"`
	Settings string `json:"settings,omitempty"` // flags that are not at their defaults and change results
	Version  int    `json:"version,omitempty"`  // of the recipe, where it was followed
}

// String returns set, variant and seed.
func (k Key) String() string {
	parts := []string{k.Set, k.Variant, fmt.Sprint(k.Seed)}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "-")
}

// Row is one result: its key and named values. A value is a number, a text, a bool, or a
// list of numbers or of texts.
type Row struct {
	Key
	values map[string]any
}

// NewRow returns a row without values.
func NewRow(k Key) *Row { return &Row{Key: k, values: map[string]any{}} }

// Put stores a value under a name. Numbers that are not finite are left out: JSON has none.
func (r *Row) Put(name string, value any) *Row {
	switch v := value.(type) {
	case int:
		value = float64(v)
	case []int:
		list := make([]float64, len(v))
		for i, n := range v {
			list[i] = float64(n)
		}
		value = list
	}
	if v, ok := value.(float64); ok && (math.IsNaN(v) || math.IsInf(v, 0)) {
		return r
	}
	r.values[name] = value
	return r
}

// Has reports whether there is a value of this name.
func (r *Row) Has(name string) bool { _, ok := r.values[name]; return ok }

// Number returns a number, 0 or 1 for a bool, NaN where there is none.
func (r *Row) Number(name string) float64 {
	switch v := r.values[name].(type) {
	case float64:
		return v
	case bool:
		if v {
			return 1
		}
		return 0
	}
	return math.NaN()
}

// Numbers returns a list of numbers, nil where there is none.
func (r *Row) Numbers(name string) []float64 { v, _ := r.values[name].([]float64); return v }

// Text returns a text, empty where there is none.
func (r *Row) Text(name string) string { v, _ := r.values[name].(string); return v }

// Texts returns a list of texts, nil where there is none.
func (r *Row) Texts(name string) []string { v, _ := r.values[name].([]string); return v }

// Is reports whether a bool is true.
func (r *Row) Is(name string) bool { v, _ := r.values[name].(bool); return v }

func (r *Row) MarshalJSON() ([]byte, error) {
	key, err := json.Marshal(r.Key)
	if err != nil || len(r.values) == 0 {
		return key, err
	}
	doc := maps.Clone(r.values)
	delete(doc, "set") // the key's
	values, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	return append(append(key[:len(key)-1], ','), values[1:]...), nil
}

// UnmarshalJSON reads what MarshalJSON writes. Rows may also name their study, which is
// ignored: the file does.
func (r *Row) UnmarshalJSON(b []byte) error {
	r.Key, r.values = Key{}, map[string]any{}
	if err := json.Unmarshal(b, &r.Key); err != nil {
		return err
	}
	if r.Set == "" {
		return errors.New("it names no set")
	}
	var doc map[string]any
	d := json.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(&doc); err != nil {
		return err
	}
	for _, name := range []string{"study", "set", "variant", "seed", "settings", "version"} {
		delete(doc, name)
	}
	for name, value := range doc {
		switch v := value.(type) {
		case nil:
		case float64, string, bool:
			r.values[name] = v
		case []any:
			list, err := listOf(v)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			r.values[name] = list
		default:
			return fmt.Errorf("%s is no number, text, bool or list of these", name)
		}
	}
	return nil
}

func listOf(v []any) (any, error) {
	numbers, texts := make([]float64, 0, len(v)), make([]string, 0, len(v))
	for _, e := range v {
		switch e := e.(type) {
		case float64:
			numbers = append(numbers, e)
		case string:
			texts = append(texts, e)
		}
	}
	switch len(v) {
	case len(numbers):
		return numbers, nil
	case len(texts):
		return texts, nil
	}
	return nil, errors.New("a list is of numbers or of texts")
}
