package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/recipe"
	"github.com/dgm-robotics/dgm/trainer"
)

func TestPrintedConfigIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.toml")
	quick := trainer.Quick()
	quick.Seed, quick.Horizon = 7, trainer.Duration(250*time.Millisecond)
	for _, c := range []struct {
		want trainer.Config
		args []string
	}{
		{trainer.Default(), nil},
		{trainer.Quick(), []string{"--preset", "quick"}},
		{quick, []string{"--preset", "quick", "--seed", "7", "--horizon", "250ms"}},
	} {
		code, out, _ := call(append(c.args, "--print-config")...)
		if err := os.WriteFile(path, []byte(out), 0o666); err != nil || code != cli.Done {
			t.Fatal(code, err)
		}
		cfg, err := recipe.Settings("default", path)
		if err != nil || cfg.TOML() != c.want.TOML() {
			t.Errorf("%v: %v: %s", c.args, err, cfg.TOML())
		}
		if strings.Count(out, "#") != strings.Count(trainer.Template, "#") || strings.Count(out, "\n") != strings.Count(trainer.Template, "\n") {
			t.Errorf("%v: comments are lost:\n%s", c.args, out)
		}
		if c.args == nil && out != trainer.Template {
			t.Error("the defaults differ from the commented file")
		}
	}
	// A file that was printed is laid under flags like any other.
	code, out, _ := call("--config", path, "--print-config", "--points", "33")
	if code != cli.Done || !strings.Contains(out, "points = 33\n") || !strings.Contains(out, "seed = 7\n") || !strings.Contains(out, "batch = 60               # windows in a step\n") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

func TestWrongSettingsFileIsWrongUsage(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{"horizn = \"1s\"\n": `unknown key "horizn"`, "points = 0\n": "points", "points = \n": "points.toml"} {
		path := filepath.Join(dir, "points.toml")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if code, _, errs := call("--config", path); code != cli.Wrong || !strings.Contains(errs, want) {
			t.Errorf("%q: exit %d, %s", text, code, errs)
		}
	}
	if code, _, errs := call("--config", filepath.Join(dir, "none.toml")); code != cli.Failed || !strings.Contains(errs, "none.toml") {
		t.Errorf("no file: exit %d, %s", code, errs)
	}
}
