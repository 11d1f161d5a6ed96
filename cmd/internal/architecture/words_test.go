package architecture

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// word may not stand in code, comments, messages or pages: the field has a term for
// what it named. A word of several parts is a phrase.
type word struct {
	no     string
	use    string
	except []string // files or folders where it means what it means in the field, or is a public key
}

var words = []word{
	{"craft", "loaded model, served vehicle", nil},
	{"rung", "horizon level", nil},
	{"rungs", "horizon levels", nil},
	{"course", "chained rollout, running RMS displacement", []string{"bridge/blackbox"}},
	{"oracle", "query service", nil},
	{"rivals", "peer instances", nil},
	{"tally", "counters", nil},
	{"believable", "plausibility limits", nil},
	{"what flies", "onboard runtime", nil},
	{"code that flies", "onboard runtime", nil},
	{"fan", "batched rollout, worker pool", nil},
	{"slopes", "Jacobian, derivatives", nil},
	{"wave", "random Fourier features", nil},
	{"waves", "random Fourier features", nil},
	{"stir", "motion exponent", nil},
	{"widen", "scale factor", []string{"estimator/model", "docs", "README.md", "estimator/wire/PROTOCOL.md"}},
	{"careful", "one-standard-error rule", nil},
	{"luck", "standard error of the paired difference", nil},
	{"companion", "secondary linear model", []string{"estimator/model", "trainer/report/report.go", "trainer/config.go", "trainer/train.toml", "docs/notes"}},
	{"hurry", "budget adaptation", nil},
	{"hurried", "budget adaptation", nil},
	{"novelty", "OOD", nil},
	{"lesson", "distillation set", nil},
	{"teach", "distil", nil},
	{"taught", "distilled, trained", nil},
	{"lots", "recording groups", nil},
	{"surprise", "log-odds threshold", nil},
	{"nought", "zero", nil},
	{"without misses", "winsorised mean", nil},
	{"lies about", "untrusted", nil},
	{"lie about", "untrusted", nil},
	{"that lies", "untrusted", nil},
	{"hold against", "compare with", nil},
	{"held against", "compared with", nil},
	{"holds against", "compares with", nil},
	{"tells", "returns, reports, shows", nil},
	{"tell apart", "distinguish", nil},
	{"tells apart", "distinguishes", nil},
	{"told apart", "distinguished", nil},
	{"befall", "available faults", nil},
	{"heed", "do not plan on flagged predictions", nil},
	{"storey", "layer", nil},
	{"storeys", "layers", nil},
	{"how sure", "with what uncertainty", nil},
	{"run away", "extrapolated ends, diverge", nil},
	{"runaway", "extrapolated ends, diverge", nil},
	{"rounds off", "completes", nil},
	{"rounded off", "completed", nil},
	{"to itself", "otherwise idle machine", nil},
	{"called themselves", "were flagged", nil},
	{"out of its depth", "out of distribution", nil},
	{"flies on", "continues", nil},
	{"overtaken", "superseded", nil},
	{"believed", "plausible", nil},
}

// text are the endings of the files that people read.
var text = []string{".go", ".md", ".toml", ".html", ".sh", ".py", ".yml", ".txt", ".c", ".h", ".service"}

func TestWordsThatMayNotReturn(t *testing.T) {
	found := map[string]int{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		if d.IsDir() {
			if d.Name() == ".git" || d.Name() == "build" {
				return filepath.SkipDir
			}
			return nil
		}
		if !slices.Contains(text, filepath.Ext(name)) || name == "cmd/internal/architecture/words_test.go" {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(b), "\n") {
			for _, w := range forbidden(name, line) {
				found[w.no]++
				t.Errorf("%s:%d: %q: the term is %s: %s", name, i+1, w.no, w.use, strings.TrimSpace(line))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) > 0 {
		t.Log(found)
	}
}

// forbidden returns the words of the table in a line of a file.
func forbidden(file, line string) []word {
	spoken := " " + strings.Join(spokenWords(line), " ") + " "
	var out []word
	for _, w := range words {
		if strings.Contains(spoken, " "+w.no+" ") && !slices.ContainsFunc(w.except, func(f string) bool { return under(file, f) }) {
			out = append(out, w)
		}
	}
	return out
}

var letters = regexp.MustCompile(`[A-Za-z]+`)

// spokenWords returns the words of a line in lower case, identifiers taken apart:
// "setUpWidth" has three.
func spokenWords(line string) []string {
	var out []string
	for _, run := range letters.FindAllString(line, -1) {
		from := 0
		r := []rune(run)
		for i := 1; i <= len(r); i++ {
			if i < len(r) && !(unicode.IsUpper(r[i]) && (!unicode.IsUpper(r[i-1]) || i+1 < len(r) && unicode.IsLower(r[i+1]))) {
				continue
			}
			out = append(out, strings.ToLower(string(r[from:i])))
			from = i
		}
	}
	return out
}

func TestSpokenWords(t *testing.T) {
	for line, want := range map[string]string{
		"":                         "",
		"x.setUpWidth(NATSServer)": "x set up width nats server",
		"K×K, two-part; RMSEOver":  "k k two part rmse over",
		"runs":                     "runs",
	} {
		if got := strings.Join(spokenWords(line), " "); got != want {
			t.Errorf("%q is spoken %q, want %q", line, got, want)
		}
	}
	for _, c := range []struct {
		file, line string
		want       int
	}{
		{"a/b.go", "// The luckOf all", 1},
		{"a/b.go", "// lucky", 0},
		{"a/b.go", "hold against", 1},
	} {
		if got := forbidden(c.file, c.line); len(got) != c.want {
			t.Errorf("%q: %s found, want %d", c.line, fmt.Sprint(got), c.want)
		}
	}
}
