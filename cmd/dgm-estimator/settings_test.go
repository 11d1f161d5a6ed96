package main

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/estimator/model/artificial"
)

// tomlKeys lists the TOML keys of a struct.
func tomlKeys(t reflect.Type, prefix string) []string {
	var out []string
	for i := range t.NumField() {
		f := t.Field(i)
		key := prefix + f.Tag.Get("toml")
		if f.Anonymous {
			out = append(out, tomlKeys(f.Type, prefix)...)
		} else if !f.IsExported() {
			continue
		} else if f.Type.Kind() == reflect.Struct {
			out = append(out, tomlKeys(f.Type, key+".")...)
		} else {
			out = append(out, key)
		}
	}
	return out
}

// The printed file is the manual: every setting stands in it, with a comment above
// its paragraph, and it can be read.
func TestTheTemplateIsTheManual(t *testing.T) {
	var s settings
	meta, err := toml.Decode(template, &s)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range tomlKeys(reflect.TypeFor[settings](), "") {
		if !meta.IsDefined(strings.Split(key, ".")...) {
			t.Errorf("%s is not in the template", key)
		}
	}
	for _, paragraph := range strings.Split(template, "\n\n") {
		if strings.Contains(paragraph, "=") && !strings.HasPrefix(paragraph, "#") {
			t.Errorf("no comment above: %s", paragraph)
		}
	}
	if err := s.check(); err != nil {
		t.Error(err)
	}
}

func TestFlagsGoBeforeTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "estimator.toml")
	if err := os.WriteFile(file, []byte("model = \"a.dgm\"\npoints = 5\nclock = \"robot\"\n[nats]\nurl = \"nats://a\"\ncreds = \"c\"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	s := defaults()
	c := &cobra.Command{}
	c.Flags().StringVar(&s.Model, "model", "", "")
	times := c.Flags().DurationSlice("times", nil, "")
	s.NATS.Add(c.Flags())
	if err := c.ParseFlags([]string{"--model", "b.dgm", "--times", "1s", "--nats", "nats://b"}); err != nil {
		t.Fatal(err)
	}
	if err := s.combine(c, file, *times); err != nil {
		t.Fatal(err)
	}
	if s.Model != "b.dgm" || s.Points != 0 || len(s.Times) != 1 || s.NATS.URL != "nats://b" || s.NATS.Creds != "c" || s.Clock != "robot" {
		t.Errorf("%+v", s)
	}
	if s.Resync != duration(500*time.Millisecond) {
		t.Error("a default was lost")
	}
}

func TestSettingsRefused(t *testing.T) {
	for text, part := range map[string]string{
		"modle = \"a\"":                        "unknown key \"modle\"",
		"[nats]\nport = 1":                     "unknown key \"nats.port\"",
		"points = \"many\"":                    "points",
		"max_age = 5":                          "max_age",
		"max_age = \"5 fortnights\"":           "max_age",
		"points = -1":                          "points is -1",
		"points = 3\ntimes = [\"1s\"]":         "choose one",
		"times = [\"2s\", \"1s\"]":             "ascend",
		"clock = \"moon\"":                     "clock is \"moon\"",
		"predictor = \"slow\"":                 "predictor is \"slow\"",
		"adapt = \"maybe\"":                    "adapt is \"maybe\"",
		"status = \"0s\"":                      "status is 0s",
		"resync = \"0s\"":                      "resync is 0s",
		"vehicle = \"a b\"":                    "cannot be part of a subject",
		"not toml":                             "line 1",
		"rate = 0.2":                           "rate is 0.2",
		"false_alarms = \"0s\"":                "false_alarms is 0s",
		"record_limit_mb = 0":                  "record_limit_mb is 0",
		"[realtime]\npriority = 95":            "realtime: priority",
		"[metrics]\nlisten = \"0.0.0.0:9464\"": "must be an address of the loopback",
		"[metrics]\nlisten = \"9464\"":         "metrics.listen",
		"[[vehicles]]\nvehicle = \"a\"\n[[vehicles]]\nrate = 0.1":                        "vehicle 2: rate is 0.1",
		"[[vehicles]]\nvehicle = \"a\"\n[[vehicles]]\nvehicle = \"a\"":                   "is there twice",
		"record = \"out\"\n[[vehicles]]\nvehicle = \"a\"\n[[vehicles]]\nvehicle = \"b\"": "its own record",
		"record = \"out\"\ntrust_file = \"out\"":                                         "its own record",
		"[[vehicles]]\nvehicel = \"a\"":                                                  "unknown key \"vehicles.vehicel\"",
	} {
		path := filepath.Join(t.TempDir(), "estimator.toml")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		s := defaults()
		err := s.read(path)
		if err == nil {
			err = s.check()
		}
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: %v, want %q", text, err, part)
		}
	}
}

func TestVehiclesInheritCommonSettings(t *testing.T) {
	s := defaults()
	if err := s.parse("points = 7\nclock = \"robot\"\n[[vehicles]]\nvehicle = \"a\"\nmodel = \"a.dgm\"\n[[vehicles]]\nvehicle = \"b\"\npoints = 3\nrate = 50\n", "file"); err != nil {
		t.Fatal(err)
	}
	v := s.vehicles()
	if len(v) != 2 || v[0].Model != "a.dgm" || v[0].Points != 7 || v[0].Rate != 0 || v[1].Model != "flight.dgm" || v[1].Points != 3 || v[1].Rate != 50 || v[1].Clock != "robot" || v[1].Vehicle != "b" {
		t.Errorf("%+v", v)
	}
	if err := s.check(); err != nil {
		t.Error(err)
	}
}

func TestTimesOfTheNode(t *testing.T) {
	m := artificial.New(artificial.Size{K: 1, Features: 4, Points: 10, Horizon: 2}, 1)
	s := defaults()
	if c := s.node(m, nil); c.Times != nil || c.Vehicle != "" || c.RobotClock {
		t.Errorf("default: %+v", c)
	}
	s.Points, s.Clock = 4, "robot"
	if c := s.node(m, nil); len(c.Times) != 4 || math.Abs(c.Times[0]-0.5) > 1e-12 || c.Times[3] != 2 || !c.RobotClock {
		t.Errorf("4 points: %+v", c)
	}
	s.Points, s.Times = 0, []duration{duration(250 * time.Millisecond)}
	if c := s.node(m, nil); len(c.Times) != 1 || c.Times[0] != 0.25 {
		t.Errorf("one time: %+v", c)
	}
}

// Whatever stands in a file, it is read, or refused with its name; what is read
// and checked gives every vehicle a configuration.
func FuzzSettings(f *testing.F) {
	f.Add(template)
	f.Add("[[vehicles]]\nvehicle = \"a\"\ntimes = [\"1s\"]\n[realtime]\ncpus = [1, 2]\n")
	f.Add("rate = 1e309\nclock = 3")
	m := artificial.New(artificial.Size{K: 1, Features: 4, Points: 10, Horizon: 2}, 1)
	f.Fuzz(func(t *testing.T, text string) {
		s := defaults()
		if err := s.parse(text, "fuzz.toml"); err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz.toml: ") {
				t.Fatalf("the error does not name its file: %v", err)
			}
			return
		}
		if s.check() != nil {
			return
		}
		for _, v := range s.vehicles() {
			if c := v.node(m, nil); len(c.Times) > 10000 && v.Points > 0 {
				t.Fatalf("%d times", len(c.Times))
			}
		}
	})
}

// The settings of a robot in the page on security are settings.
func TestTheSettingsOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```toml\n")
	text, _, found := strings.Cut(rest, "```")
	var s settings
	if err := s.parse(text, "docs/security.md"); err != nil || !found || s.NATS.NKey == "" || s.Models.Bucket == "" {
		t.Errorf("%v, %+v", err, s.Models)
	}
}
