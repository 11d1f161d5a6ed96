package trainer_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/trainer"
)

// The commented file is the defaults, and a configuration written out is itself.
func TestTemplateIsTheDefault(t *testing.T) {
	def := trainer.Default()
	if err := def.Check(); err != nil {
		t.Fatal(err)
	}
	again, err := trainer.Config{}.Parse(strings.NewReader(def.TOML()), "written out")
	if err != nil || !reflect.DeepEqual(again, def) {
		t.Errorf("%v\n%+v\n%+v", err, def, again)
	}
	quick := trainer.Quick()
	if err := quick.Check(); err != nil {
		t.Error(err)
	}
	for _, line := range strings.Split(def.TOML(), "\n") {
		key, _, isKey := strings.Cut(strings.TrimSpace(line), " = ")
		if isKey && !strings.Contains(trainer.Template, key+" = ") {
			t.Errorf("the commented file leaves out %s", key)
		}
	}
}

// A file that names the published recipe has its settings where it leaves them out.
func TestPublishedRecipe(t *testing.T) {
	c, err := trainer.Default().Parse(strings.NewReader("recipe = \"published\"\nfeatures = 60\n[net]\nheads = 4\n"), "mine.toml")
	if err != nil {
		t.Fatal(err)
	}
	if c.Kernel != "rff" || c.Prior != "none" || c.Members != 1 || !reflect.DeepEqual(c.Net.Core, []int{10, 5}) || c.Training.MatchFrom != 0 || c.Training.FineTune != 1000 || c.Folds.ScaleFactor {
		t.Errorf("%+v", c)
	}
	if c.Features != 60 || c.Net.Heads != 4 || c.Horizon != trainer.Default().Horizon {
		t.Errorf("the file's own settings are lost: %+v", c)
	}
	again, err := trainer.Default().Parse(strings.NewReader(c.TOML()), "written out")
	if err != nil || !reflect.DeepEqual(again, c) {
		t.Errorf("%v\n%+v\n%+v", err, c, again)
	}
}

func TestConfigKeepsWhatIsLeftOut(t *testing.T) {
	c, err := trainer.Quick().Parse(strings.NewReader("horizon = \"250ms\"\n[net]\ncore = [7]\n"), "mine.toml")
	if err != nil {
		t.Fatal(err)
	}
	want := trainer.Quick()
	want.Horizon, want.Net.Core = trainer.Duration(250*time.Millisecond), []int{7}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("%+v\n%+v", c, want)
	}
}

func TestWrongConfigIsNamed(t *testing.T) {
	for text, says := range map[string]string{
		"horizn = \"1s\"":                  `unknown key "horizn"`,
		"[net]\nwidth = 3":                 `unknown key "net.width"`,
		"horizon = \"soon\"":               "horizon",
		"horizon = \"0s\"":                 "setting horizon: must be positive",
		"[training]\nrate = inf":           "setting training.rate: rates must be positive and at most 1",
		"recipe = \"mine\"":                "setting recipe: must be",
		"[training]\nmatch_from = 0.6":     "setting training.match_from: matching must rise",
		"[training]\nfine_tune = 1000000":  "setting training.fine_tune: must be",
		"[training]\nmatch = inf":          "setting training.match: must be within",
		"[training]\ndecay_dynamics = inf": "setting training.decay_smoother: decays must be within",
		"[training]\npoints = 1000000000":  "setting training.points: must be within",
		"[equation]\nwindows = 1000000000": "setting equation: needs 10 to 1000000 windows",
		"features = 7":                     "setting features: must be an even number",
		"kernel = \"linear\"":              "setting kernel",
		"holdout = 0.9":                    "setting holdout",
		"prior = \"crystal ball\"":         "setting prior",
		"[net]\ncore = []":                 "setting net.core",
		"[training]\nlast_rate = 1.0":      "setting training.rate",
		"[training]\ntemper = 0.0":         "setting training.temper",
		"noise = \"white\"":                `setting noise: must be "growing" or "constant"`,
		"[net]\nactivation = \"softmax\"":  "setting net.activation",
	} {
		_, err := trainer.Default().Parse(strings.NewReader(text), "mine.toml")
		if err == nil || !strings.HasPrefix(err.Error(), "mine.toml: ") || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
