package importer_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
)

func TestBadMaps(t *testing.T) {
	good := "vehicle = \"q\"\n[time]\n[[channel]]\nname = \"x\"\ntopic = \"pos\"\nfield = \"x\"\nrole = \"state\"\n"
	edit := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("no %q in the map", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	for want, text := range map[string]string{
		`key channel.colour: is not known; correct the spelling`: good + `colour = "red"`,
		`vehicle: is missing`:                                              edit(`vehicle = "q"`, ""),
		`vehicle: "a b" cannot be part of a subject`:                       edit(`"q"`, `"a b"`),
		`vehicle: "ü" cannot be part of a subject; use letters of ASCII`:   edit(`"q"`, `"ü"`),
		`frames: "nwu" is not known; write ned-frd or enu-flu`:             "frames = \"nwu\"\n" + good,
		`time.to: is not after time.from`:                                  edit("[time]", "[time]\nfrom = \"2s\"\nto = \"1s\""),
		`"5" is not a duration such as "50ms"`:                             edit("[time]", "[time]\nmax_gap = 5"),
		`channel: there is none`:                                           "vehicle = \"q\"\n",
		`channel 1 ("x"): topic is missing`:                                edit(`topic = "pos"`, ""),
		`channel 1 ("x"): field is missing`:                                edit(`field = "x"`, ""),
		`channel 1 (""): name is missing`:                                  edit(`name = "x"`, ""),
		`channel 1 ("x"): role is missing`:                                 edit(`role = "state"`, ""),
		`channel 1 ("x"): has name and names`:                              good + `names = ["a"]`,
		`has more than one of field, fields, quaternion, matrix and euler`: good + `fields = ["a"]`,
		`2 fields for 1 names`:                                             edit(`field = "x"`, `fields = ["a", "b"]`),
		`an attitude has three names, not 1`:                               edit(`field = "x"`, `quaternion = ["a", "b", "c", "d"]`),
		`axes "up" are not known`:                                          good + `axes = "up"`,
		`axes "ned" do not fit: a vector has three names`:                  good + `axes = "ned"`,
		`unit "rads" is not known; angles are in cdeg, deg, mrad`:          good + `unit = "rads"`,
		`between "never" is not known`:                                     good + `between = "never"`,
		`scale 0 would make every value the same`:                          good + `scale = 0.0`,
		`channel 1 ("x") or 1: field is missing`:                           good + "[[channel.or]]\ntopic = \"a\"",
		`phase 1: needs one of equals, above`:                              good + "[[phase]]\ntopic = \"a\"\nfield = \"b\"",
		`phase 1: begins and ends belong together`:                         good + "[[phase]]\ntopic = \"a\"\nfield = \"b\"\nbegins = [1]",
		`channel "x": derivative "v" is not a state channel`:               good + `derivative = "v"`,
		`line 4: `: edit(`name = "x"`, `name = x`),
	} {
		_, err := importer.ParseMap("map.toml", []byte(text))
		var e *mapfile.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "map.toml: ") {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

func TestPresetsAreMaps(t *testing.T) {
	if len(importer.Presets()) == 0 {
		t.Fatal("there are none")
	}
	for _, name := range importer.Presets() {
		m, err := importer.Preset(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, err := importer.PresetText(name)
		if err != nil || !strings.HasPrefix(text, "# ") || m.Vehicle == "" {
			t.Errorf("%s does not begin by saying what it is for: %v", name, err)
		}
	}
	if _, err := importer.Preset("nix"); err == nil || !strings.Contains(err.Error(), `there is no preset "nix"; there are: `) {
		t.Error(err)
	}
}
