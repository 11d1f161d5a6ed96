package architecture

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

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
	const path = "examples/planner-python/planner.py"
	if got, want := block(t, page, "python"), read(t, path); got != want {
		t.Errorf("the program in Python is not %s; copy it into README.md:\n%s", path, want)
	}
	for _, path := range []string{path, "examples/planner-go/main.go"} {
		if n := strings.Count(read(t, path), "\n"); n >= 30 {
			t.Errorf("%s has %d lines: too long for a first example", path, n)
		}
	}
	var shown, tested map[string]any
	if _, err := toml.Decode(block(t, read(t, "docs", "logs.md"), "toml"), &shown); err != nil {
		t.Fatal(err)
	}
	if _, err := toml.Decode(read(t, "bridge/csv/testdata/dfki.toml"), &tested); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(shown, tested) {
		t.Errorf("the map is not bridge/csv/testdata/dfki.toml: %v and %v", shown, tested)
	}
}

// pages are those that a user reads.
func pages(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no pages in docs: %v", err)
	}
	more, err := filepath.Glob(filepath.Join(root, "docs", "*", "*.md"))
	if err != nil || len(more) == 0 {
		t.Fatalf("no pages in the folders of docs: %v", err)
	}
	return append(append(found, more...), filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md"))
}

// Links and pictures lead somewhere, and programs exist.
func TestPagesNameWhatIsThere(t *testing.T) {
	for _, path := range pages(t) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		page := string(b)
		for _, m := range regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`).FindAllStringSubmatch(page, -1) {
			if strings.HasPrefix(m[1], "https://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s: a link leads nowhere: %s", path, m[1])
			}
		}
		page = strings.ReplaceAll(page, "github.com/dgm-robotics/", "")
		for _, m := range regexp.MustCompile(`\bdgm-[a-z]+\b`).FindAllString(page, -1) {
			if _, err := os.Stat(filepath.Join(root, "cmd", m)); err != nil {
				t.Errorf("%s: there is no program %s", path, m)
			}
		}
	}
}

// A visitor reads the first page to its end.
func TestReadmeIsShort(t *testing.T) {
	if n := strings.Count(read(t, "README.md"), "\n"); n > 150 {
		t.Errorf("README.md has %d lines, more than 150", n)
	}
}
