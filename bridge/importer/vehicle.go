package importer

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Refusal describes how a log of another kind of vehicle is recognised.
type Refusal struct {
	Parameter string            `toml:"parameter"` // a setting of the robot; or
	Topic     string            `toml:"topic"`     // the topic of a field, whose first value counts; or
	Instance  *int              `toml:"instance"`  // (optional)
	Field     string            `toml:"field"`     //
	Begins    string            `toml:"begins"`    // or a regular expression of how texts of the robot begin that name its kind
	Only      map[string]string `toml:"only"`      // the numbers, or how such texts begin, of vehicles that the map describes, and what they are called
	Values    map[string]string `toml:"values"`    // (optional) in place of only: numbers of other vehicles, and what these are called
	Texts     map[string]string `toml:"texts"`     // (optional) the same of texts: how they begin

	begins *regexp.Regexp // of Begins; nil without
}

// Primary selects the instance of several topics by the value of a field, as it changes. It has no effect on a
// log without the field.
type Primary struct {
	Topics []string `toml:"topics"`
	Topic  string   `toml:"topic"`
	Field  string   `toml:"field"`
}

// refuse returns an error where a file is of another kind of vehicle.
func (m *Map) refuse(files []*survey) error {
	for _, f := range files {
		for i := range m.Refusals {
			if what := m.Refusals[i].shown(f, i); what != "" {
				return &mapfile.Error{
					File: m.file, Field: "refuse", Reason: fmt.Sprintf("%s is a log of %s", f.base(), what),
					Remedy: "use the preset of the vehicle, or write its map: dgm-bridge topics " + f.path + " --suggest; or, if the log is wrong, use this map without its [[refuse]] (--print-map)",
				}
			}
		}
	}
	return nil
}

// shown returns of which other kind of vehicle a file is, and by what; "" = of none. The refusal is
// the map's with a number.
func (r *Refusal) shown(f *survey, number int) string {
	values, name := f.settings[r.Parameter], "its setting "+r.Parameter
	if v, ok := f.kinds[number]; ok {
		values, name = []float64{v}, fmt.Sprintf("%s of %s", r.Field, r.Topic)
	}
	for _, v := range values {
		text := fmt.Sprint(v)
		if what := r.other(text, r.Values[text], r.Only[text] != ""); what != "" {
			return fmt.Sprintf("%s: %s is %s", what, name, text)
		}
	}
	for _, text := range f.texts {
		known := ""
		if r.begins != nil {
			known = r.begins.FindString(text)
		}
		if what := r.other(known, begun(r.Texts, text), begun(r.Only, text) != ""); what != "" {
			return fmt.Sprintf("%s: it says %q", what, telemetry.Clip(text))
		}
	}
	return ""
}

// other describes a vehicle that is not the map's: by its name, or where its kind is known and not among those
// that the map is for.
func (r *Refusal) other(kind, name string, own bool) string {
	switch {
	case name != "":
		return name + ", which this map does not describe"
	case kind != "" && len(r.Only) > 0 && !own:
		var all []string
		for _, k := range slices.SortedFunc(maps.Keys(r.Only), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }) {
			all = append(all, fmt.Sprintf("%s (%s)", k, r.Only[k]))
		}
		return "another kind of vehicle than this map describes, " + strings.Join(all, ", ")
	}
	return ""
}

// begun returns the name of how a text begins.
func begun(names map[string]string, text string) string {
	for begin, name := range names {
		if strings.HasPrefix(text, begin) {
			return name
		}
	}
	return ""
}

// Settings are values that settings of the robot may have, by their names.
type Settings map[string][]float64

// contradicted returns which setting of a file has another value; "" = none.
func (s Settings) contradicted(f *survey) string {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		for _, v := range f.settings[name] {
			switch {
			case slices.Contains(s[name], v):
			case v != f.settings[name][0]:
				return fmt.Sprintf("%s is %g, and then %g in %s: select the flights of one of them by --from and --to", name, f.settings[name][0], v, f.base())
			default:
				return fmt.Sprintf("%s is %g in %s", name, v, f.base())
			}
		}
	}
	return ""
}

// disagree reports settings that differ between the files, or between the flights in one.
func (p *plan) disagree(files []*survey) {
	for _, name := range p.m.Agree {
		first, text := math.NaN(), ""
		for _, f := range files {
			for _, v := range f.settings[name] {
				switch {
				case text == "":
					first, text = v, fmt.Sprintf("%g in %s", v, f.base())
				case v != first:
					p.leftOut.add("settings", Warning, "", "%s is %s, and %g in %s: one value of an input means different things in both", name, text, v, f.base()).Remedy = "import recordings with one setting, and train on these; in one file, select flights by --from and --to"
					return
				}
			}
		}
	}
}
