package main

import (
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/trainer"
)

// Whatever stands in a file of settings, what is read is a configuration that passes its own check, and
// an error names the file.
func FuzzConfig(f *testing.F) {
	f.Add("horizon = 0.5\n")
	f.Add("recipe = \"published\"\n[training]\nsteps = 10\n")
	f.Add("horizon = nan\n[net]\ncore = [1, -1]\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := trainer.Default().Parse(strings.NewReader(text), "train.toml")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "train.toml: ") {
				t.Fatalf("the error does not name its file: %v", err)
			}
			return
		}
		if err := c.Check(); err != nil {
			t.Fatalf("what was read fails its check: %v", err)
		}
	})
}
