package importer

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Refusal describes by what a log shows that it is of another kind of vehicle than the map.
type Refusal struct {
	Parameter string            `toml:"parameter"` // a setting of the robot; or
	Topic     string            `toml:"topic"`     // the topic of a field, whose first value counts; or
	Instance  *int              `toml:"instance"`  // (optional)
	Field     string            `toml:"field"`     //
	Values    map[string]string `toml:"values"`    // numbers, and what such a vehicle is called
	Texts     map[string]string `toml:"texts"`     // how a text of the robot begins, and what such a vehicle is called
}

// Primary describes which instance of several topics counts: the one that a field names, as
// it changes. A log without the field is read as if it were not there.
type Primary struct {
	Topics []string `toml:"topics"`
	Topic  string   `toml:"topic"`
	Field  string   `toml:"field"`
}

// refuse returns an error where a file is of another kind of vehicle.
func (m *Map) refuse(files []*survey) error {
	for _, f := range files {
		for i := range m.Refusals {
			r := &m.Refusals[i]
			evidence, what := "", ""
			switch v, ok := f.settings[r.Parameter]; {
			case ok:
				evidence, what = fmt.Sprintf("its setting %s is %g", r.Parameter, v), r.Values[fmt.Sprint(v)]
			case r.Topic != "":
				if v, ok := f.kinds[i]; ok {
					evidence, what = fmt.Sprintf("%s of %s is %g", r.Field, r.Topic, v), r.Values[fmt.Sprint(v)]
				}
			}
			for _, text := range f.texts {
				for begin, name := range r.Texts {
					if strings.HasPrefix(text, begin) {
						evidence, what = fmt.Sprintf("it says %q", telemetry.Clip(text)), name
					}
				}
			}
			if what != "" {
				return &mapfile.Error{
					File: m.file, Field: "refuse", Reason: fmt.Sprintf("%s is a log of %s, which this map does not describe: %s", f.base(), what, evidence),
					Remedy: "write a map of its own: dgm-bridge topics " + f.path + " --suggest; or, if the log is wrong, use this map without its [[refuse]] (--print-map)",
				}
			}
		}
	}
	return nil
}

// Settings are values that settings of the robot may have, by their names.
type Settings map[string][]float64

// contradicted returns which setting of a file has another value; "" = none.
func (s Settings) contradicted(f *survey) string {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if v, ok := f.settings[name]; ok && !slices.Contains(s[name], v) {
			return fmt.Sprintf("%s is %g in %s", name, v, f.base())
		}
	}
	return ""
}

// disagree reports settings that differ between the files.
func (p *plan) disagree(files []*survey) {
	for _, name := range p.m.Agree {
		first := ""
		for _, f := range files {
			v, ok := f.settings[name]
			switch text := fmt.Sprintf("%g in %s", v, f.base()); {
			case ok && first == "":
				first = text
			case ok && !strings.HasPrefix(first, fmt.Sprintf("%g in ", v)):
				p.leftOut.add("settings", Warning, "", "%s is %s, and %s: one value of an input is not the same in both", name, first, text).Remedy = "import recordings of one setting, and train on these"
				return
			}
		}
	}
}

// matches returns the number of an output in a name such as SERVO9_FUNCTION.
func matches(pattern, name string) (n int, ok bool) {
	before, after, _ := strings.Cut(pattern, "{}")
	digits, ok := strings.CutPrefix(name, before)
	digits, ok2 := strings.CutSuffix(digits, after)
	n, err := strconv.Atoi(digits)
	return n, ok && ok2 && err == nil
}

// motors returns which outputs drive motors 1, 2, … of a file; 0 = none. known is false where
// the settings do not show it. other lists the functions of other outputs.
func (o *Outputs) motors(f *survey) (outputs []int, known bool, other string) {
	function := map[int]int{}
	var others []string
	for _, name := range slices.Sorted(maps.Keys(f.settings)) {
		n, ok := matches(o.Parameter, name)
		if v := int(f.settings[name]); o.Parameter != "" && ok && v != 0 {
			if slices.Contains(o.Functions, v) {
				if other := function[v]; other == 0 || n < other { // of two ailerons the first
					function[v] = n
				}
			} else {
				others = append(others, fmt.Sprintf("%s = %d", name, v))
			}
			known = true
		}
	}
	if known {
		for _, v := range o.Functions {
			outputs = append(outputs, function[v])
		}
		for len(outputs) > 0 && outputs[len(outputs)-1] == 0 {
			outputs = outputs[:len(outputs)-1]
		}
		return outputs, true, strings.Join(others, ", ")
	}
	v, ok := f.settings[o.Count]
	n := o.Motors[fmt.Sprint(v)]
	if len(o.Motors) == 0 {
		n = int(v)
	}
	if !ok || n <= 0 || n > 32 {
		return nil, false, ""
	}
	for i := range n {
		outputs = append(outputs, i+1)
	}
	return outputs, true, ""
}
