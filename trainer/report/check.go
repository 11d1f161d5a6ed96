package report

import (
	"fmt"
	"math"
	"reflect"
	"strings"
)

// Check returns the first number that is not finite, or the first list of an
// example whose length does not fit, by its path in the JSON; nil if all is well.
func (r *Report) Check() error {
	if err := check("report", reflect.ValueOf(*r)); err != nil {
		return err
	}
	for i, e := range r.Examples {
		for _, l := range [][]float64{e.Mean, e.Lo50, e.Hi50, e.Lo95, e.Hi95} {
			if len(l) != len(e.T) {
				return fmt.Errorf("report.examples[%d] (%s): a list has %d values, t has %d", i, e.Channel, len(l), len(e.T))
			}
		}
		if len(e.At) != len(e.Measured) {
			return fmt.Errorf("report.examples[%d] (%s): at has %d values, measured has %d", i, e.Channel, len(e.At), len(e.Measured))
		}
	}
	return nil
}

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
