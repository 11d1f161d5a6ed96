package main

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

var root = filepath.Join("..", "..")

func read(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// block returns the only fenced block of a language in a page.
func block(t *testing.T, page, language string) string {
	t.Helper()
	found := regexp.MustCompile("(?s)\n```"+language+"\n(.*?)```\n").FindAllStringSubmatch(page, -1)
	if len(found) != 1 {
		t.Fatalf("%d blocks of %s, expected one", len(found), language)
	}
	return found[0][1]
}

// What the page shows is what the tests run.
func TestReadmeShowsTheExamples(t *testing.T) {
	page := read(t, "README.md")
	for language, path := range map[string]string{
		"go":     "cmd/dgm-estimator/examples/planner-go/main.go",
		"python": "cmd/dgm-estimator/examples/planner-python/planner.py",
	} {
		if got, want := block(t, page, language), read(t, path); got != want {
			t.Errorf("the program in %s is not %s; copy it into README.md:\n%s", language, path, want)
		} else if n := strings.Count(want, "\n"); n >= 30 {
			t.Errorf("%s has %d lines: too long for a first example", path, n)
		}
	}
	var shown, tested map[string]any
	if _, err := toml.Decode(block(t, page, "toml"), &shown); err != nil {
		t.Fatal(err)
	}
	if _, err := toml.Decode(read(t, "bridge/csv/testdata/dfki.toml"), &tested); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(shown, tested) {
		t.Errorf("the map is not bridge/csv/testdata/dfki.toml: %v and %v", shown, tested)
	}
}

// Links and pictures lead somewhere, and programs exist.
func TestReadmeNamesWhatIsThere(t *testing.T) {
	page := read(t, "README.md")
	for _, m := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(page, -1) {
		if strings.HasPrefix(m[1], "https://") {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(m[1]))); err != nil {
			t.Errorf("a link leads nowhere: %s", m[1])
		}
	}
	page = strings.ReplaceAll(page, "github.com/dgm-robotics/", "")
	for _, m := range regexp.MustCompile(`\bdgm-[a-z]+\b`).FindAllString(page, -1) {
		if _, err := os.Stat(filepath.Join(root, "cmd", m)); err != nil {
			t.Errorf("there is no program %s", m)
		}
	}
}
