package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"reflect"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/durable"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"inc": func(i int) int { return i + 1 }, "value": value, "percent": percent, "percents": percents, "seconds": seconds, "keep": keep,
	"row": newRowView, "attitude": newAttitudeRow, "groups": groups,
	"few":        func(all []evaluate.Horizon) []evaluate.Horizon { return spread(all, summaryHorizons) },
	"fewWeights": func(all []SelectionHorizon) []SelectionHorizon { return spread(all, summaryHorizons) },
}).Parse(pageText))

// Write writes the report as one HTML page to path, whole or not at all. The
// error names the file, or the number that is not finite.
func Write(path string, r *Report) error {
	return write(path, func(w io.Writer) error { return HTML(w, r) })
}

// WriteJSON writes the same content as one JSON document to path, whole or not
// at all.
func WriteJSON(path string, r *Report) error {
	return write(path, func(w io.Writer) error { return JSON(w, r) })
}

// HTML writes the page to w.
func HTML(w io.Writer, r *Report) error {
	if err := r.Check(); err != nil {
		return err
	}
	v, err := newView(r)
	if err != nil {
		return err
	}
	return page.Execute(w, v)
}

// JSON writes the document to w. Lists that are empty are [], not null.
func JSON(w io.Writer, r *Report) error {
	if err := r.Check(); err != nil {
		return err
	}
	full := *r
	fill(reflect.ValueOf(&full).Elem())
	fill(reflect.ValueOf(&full.Selection).Elem())
	fill(reflect.ValueOf(&full.Verdict).Elem())
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(full)
}

// fill makes lists of a struct that are nil empty ones.
func fill(fields reflect.Value) {
	for i := range fields.NumField() {
		if f := fields.Field(i); f.Kind() == reflect.Slice && f.IsNil() {
			f.Set(reflect.MakeSlice(f.Type(), 0, 0))
		}
	}
}

func write(path string, content func(io.Writer) error) error {
	// All of it in memory first: a report that cannot be made leaves the old one.
	var b bytes.Buffer
	if err := content(&b); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	f, err := durable.Create(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := f.Write(b.Bytes()); err != nil {
		return err
	}
	return f.Commit()
}

// Check returns the first number that is not finite by its path in the JSON; nil if all
// are.
func (r *Report) Check() error { return check("report", reflect.ValueOf(*r)) }

func check(path string, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("%s is %v; a report holds finite numbers only", path, f)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return check(path, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := check(fmt.Sprintf("%s[%d]", path, i), v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		t := v.Type()
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() {
				continue
			}
			at := path
			if !f.Anonymous { // the fields of an embedded struct are those of its owner in the JSON
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				at += "." + name
			}
			if err := check(at, v.Field(i)); err != nil {
				return err
			}
		}
	}
	return nil
}
