package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOutputsFailBeforeWork(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"log", "map.toml"} {
		if err := os.WriteFile(in(name), []byte("kept"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(in("folder"), 0o777), os.Symlink(in("log"), in("link")), os.Link(in("log"), in("hard")), os.Symlink(dir, in("folder/up"))); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, c := range []struct {
		reads, writes []string
		wrong         bool // wrong usage, else failed
		want          string
	}{
		{[]string{in("log")}, []string{in("new")}, false, ""},
		{[]string{"", in("log")}, []string{in("new"), ""}, false, ""},
		{nil, []string{"new", "folder/new"}, false, ""},
		{[]string{in("log")}, []string{in("map.toml")}, false, ""}, // an older output is replaced
		{[]string{in("log")}, []string{"log"}, true, "log is read and would be replaced"},
		{[]string{in("log")}, []string{"folder/../log"}, true, "is read"},
		{[]string{in("log")}, []string{"link"}, true, "is read"},
		{[]string{in("log")}, []string{"hard"}, true, "is read"},
		{[]string{in("log"), in("map.toml")}, []string{"new", "map.toml"}, true, "map.toml is read"},
		{nil, []string{"new", "./new"}, true, "written twice"},
		{nil, []string{"new", "folder/up/new"}, true, "written twice"},
		{nil, []string{"log", "link"}, true, "written twice"},
		{nil, []string{"new", "folder"}, false, "folder"},
		{nil, []string{".."}, false, ".."},
		{nil, []string{"/"}, false, "/"},
		{nil, []string{os.DevNull}, false, os.DevNull},
		{nil, []string{"no/such"}, false, "no/such"},
		{nil, []string{"log/new"}, false, "log/new"},
	} {
		err := Outputs("--out", c.reads, c.writes)
		var usage *usageError
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%v from %v: %v", c.writes, c.reads, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "--out") || errors.As(err, &usage) != c.wrong):
			t.Errorf("%v from %v: %v, want %q", c.writes, c.reads, err, c.want)
		}
	}
	for _, name := range []string{"log", "map.toml"} {
		if b, err := os.ReadFile(in(name)); err != nil || string(b) != "kept" {
			t.Errorf("%s holds %q, %v", name, b, err)
		}
	}
	if left, _ := filepath.Glob(in(".*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}
