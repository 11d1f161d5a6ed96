package paper

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// counted is the result of a study for tests.
type counted struct {
	key
	Value float64 `json:"value"`
	Fill  string  `json:"fill,omitempty"`
}

// counting is a study whose pieces of work tell that they were done; fails is the
// variant that cannot be.
func counting(done *[]string, fails string) *study[counted] {
	return &study[counted]{
		name: "counting", files: "counting", sets: []string{"a", "b"}, seeds: 2,
		variants: func() []string { return []string{"x10", "x9"} },
		run: func(_ context.Context, _ string, k key) (*counted, error) {
			if k.Variant == fails {
				return nil, errors.New("it cannot be done")
			}
			*done = append(*done, k.name())
			return &counted{key: k, Value: float64(k.Seed)}, nil
		},
		tell: func(r *counted) string { return "done" },
		sections: func(_ string, all []*counted) ([]section, error) {
			s := section{Title: "counted", Head: []string{"name"}}
			for _, r := range all {
				s.Rows = append(s.Rows, []string{r.name()})
			}
			return []section{s}, nil
		},
	}
}

// command runs the command of a study.
func command(s *study[counted], args ...string) (code int, out, errs string) {
	p := s.part()
	var o, e bytes.Buffer
	p.command.SetArgs(args)
	p.command.SetOut(&o)
	p.command.SetErr(&e)
	code = cli.Run(context.Background(), p.command)
	return code, o.String(), e.String()
}

func TestStudyGoesOnWhereItWas(t *testing.T) {
	dir := t.TempDir()
	try := func(s *study[counted], args ...string) (int, string, string) {
		return command(s, append(args, "--out", dir)...)
	}
	var done []string
	if code, _, errs := try(counting(&done, "x9"), "--sets", "a"); code != cli.Failed || !strings.Contains(errs, "counting-a-x9-0") {
		t.Fatalf("code %d: %s", code, errs)
	}
	if strings.Join(done, " ") != "counting-a-x10-0 counting-a-x10-1" {
		t.Fatalf("done: %v", done)
	}
	done = nil
	code, out, errs := try(counting(&done, ""), "--sets", "a", "--first-seed", "1")
	if code != cli.Done || strings.Join(done, " ") != "counting-a-x10-2 counting-a-x9-1 counting-a-x9-2" {
		t.Fatalf("code %d, done: %v: %s", code, done, errs)
	}
	if !strings.Contains(errs, "1 of 4 results are there") || !strings.Contains(errs, "2 to go") || strings.Count(out, "counting-a-") != 4 {
		t.Errorf("%s%s", out, errs)
	}
	// Everything that is there, in the order of numbers.
	s := counting(&done, "")
	all, err := s.gather(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range all {
		names = append(names, strings.TrimPrefix(r.name(), "counting-a-"))
	}
	if got := strings.Join(names, " "); got != "x9-1 x9-2 x10-0 x10-1 x10-2" {
		t.Errorf("gathered: %s", got)
	}
	// Results of two kinds are not put together.
	other := key{Study: "counting", Set: "b", Variant: "x9", Seed: 5, Settings: "--much"}
	if err := other.write(dir, &counted{key: other}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.gather(dir); err == nil || !strings.Contains(err.Error(), "--much") {
		t.Errorf("results of two kinds are gathered: %v", err)
	}
	if err := os.Remove(other.file(dir)); err != nil {
		t.Fatal(err)
	}
	// Results that were made otherwise are not taken for these.
	s.settings = func() string { return "--much" }
	if code, _, errs := try(s, "--sets", "a"); code != cli.Failed || !strings.Contains(errs, "--much") {
		t.Errorf("code %d: %s", code, errs)
	}
	k := key{Study: "counting", Set: "b", Variant: "x9"}
	if err := k.write(dir, &counted{key: k, Fill: strings.Repeat("x", largest)}); err == nil {
		t.Error("a result of more than 2 kB is written")
	}
	if err := k.write(dir, &counted{key: k, Value: math.NaN()}); err == nil {
		t.Error("NaN is written")
	}
	if err := os.Rename(filepath.Join(dir, "counting-a-x9-1.json"), filepath.Join(dir, "counting-a-x9-0.json")); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := try(counting(&done, ""), "--sets", "a"); code != cli.Failed || !strings.Contains(errs, "counting-a-x9-1") {
		t.Errorf("a result under another name: code %d: %s", code, errs)
	}
}

// A piece of work says what it does, but not too often, and need not have a listener.
func TestLongWorkIsTold(t *testing.T) {
	var out bytes.Buffer
	var one sync.Mutex
	k := key{Set: "lv1", Seed: 7}
	for patience, want := range map[time.Duration]int{0: 2, time.Hour: 0} {
		out.Reset()
		inside, stop := tellTo(context.Background(), k, &out, &one, patience)
		tell := toldTo(inside)
		tell("begins")
		tell("ends")
		stop()
		if n := strings.Count(out.String(), "\n"); n != want || want > 0 && !strings.Contains(out.String(), "lv1-7: after 0s ends") {
			t.Errorf("patience %v: %q", patience, out.String())
		}
	}
	toldTo(context.Background())("nobody listens")
	// Work that says nothing is spoken of all the same.
	out.Reset()
	_, stop := tellTo(context.Background(), k, &out, &one, time.Second/2)
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		one.Lock()
		said := out.Len() > 0
		one.Unlock()
		if said {
			break
		}
	}
	stop()
	if !strings.Contains(out.String(), "lv1-7: after ") || !strings.Contains(out.String(), "it is under way") {
		t.Errorf("silent work: %q", out.String())
	}
}

// Results of another version are all told at once, those under another's name one by one,
// and neither gets into a report.
func TestReportTellsWhatItLeavesOut(t *testing.T) {
	dir := t.TempDir()
	page := filepath.Join(t.TempDir(), "page.html")
	report := func() (code int, errs string) {
		code, _, errs = run("report", "--results", dir, "--out", page)
		return code, errs
	}
	good := result{key: key{Set: "lv1", Seed: 1, Version: version}, scores: scores{LogLik: 2, Coverage50: 0.5, Coverage90: 0.9, Coverage95: 0.95}, RMSE: []float64{0.1, 0.1}, Recipe: "none"}
	if err := good.write(dir, &good); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(good.file(dir))
	if err != nil {
		t.Fatal(err)
	}
	stray := good.key
	stray.Seed = 7
	if err := os.WriteFile(stray.file(dir), whole, 0o644); err != nil {
		t.Fatal(err)
	}
	foreign := key{Study: "gone", Set: "lv1", Seed: 3}
	if err := foreign.write(dir, foreign); err != nil {
		t.Fatal(err)
	}
	kind := good
	kind.Variant = "foo"
	if err := kind.write(dir, &kind); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"package.json": "{}", "notes.txt": "", "big.json": strings.Repeat(" ", 1<<20)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	code, errs := report()
	for _, line := range []string{
		stray.file(dir) + " holds lv1-1: give it its own name back", foreign.file(dir) + " holds gone-lv1-3, and no study", kind.file(dir) + " holds lv1-foo-1, and no study",
		filepath.Join(dir, "package.json") + " is not named as a result", filepath.Join(dir, "big.json") + " is not named", filepath.Join(dir, "folder.json") + " is not named",
	} {
		if !strings.Contains(errs, "left out: "+line) {
			t.Errorf("not told: %s; code %d: %s", line, code, errs)
		}
	}
	if code != cli.Done || strings.Count(errs, "left out") != 6 {
		t.Errorf("code %d: %s", code, errs)
	}
	html, err := os.ReadFile(page)
	if err != nil || strings.Count(string(html), "<td>LV 1</td>") == 0 || !bytes.Contains(html, []byte("<td>LV 1</td><td>1</td>")) {
		t.Errorf("the page does not tell of one seed: %v", err)
	}
	if err := os.Remove(stray.file(dir)); err != nil {
		t.Fatal(err)
	}
	// What is not whole is an error that names the file.
	half := filepath.Join(dir, "lv1-9.json")
	for _, text := range []string{"", "{", `{"set":"lv1","seed":9,"version":VERSION}`, `{"set":"lv1","seed":9,"version":VERSION,"loglik":1,"coverage50":0.5,"coverage90":0.9,"coverage95":0.9,"rmse":[1],"seconds":1,"phases":{},"members":[],"rerun":0,"dropped":0,"forms":[],"free":[],"temper":1,"recipe":"x"}`} {
		if err := os.WriteFile(half, []byte(strings.ReplaceAll(text, "VERSION", fmt.Sprint(version))), 0o644); err != nil {
			t.Fatal(err)
		}
		if code, errs := report(); code != cli.Failed || !strings.Contains(errs, half+" is no result") || strings.Contains(errs, "left out: "+half) {
			t.Errorf("%q: code %d: %s", text, code, errs)
		}
	}
	if err := os.Remove(half); err != nil {
		t.Fatal(err)
	}
	// A page never takes the place of a result.
	if code, _, errs := run("report", "--results", dir, "--out", good.file(dir)); code != cli.Wrong || !strings.Contains(errs, "--out") {
		t.Errorf("a page in the place of a result: code %d: %s", code, errs)
	}
	for i, set := range []string{"lv1", "dp1", "lv100"} {
		old := good
		old.key = key{Set: set, Seed: 2, Version: version - 1 - i%2}
		if err := old.write(dir, &old); err != nil {
			t.Fatal(err)
		}
	}
	code, errs = report()
	if code != cli.Failed || strings.Count(errs, "-2.json (version ") != 3 || strings.Count(errs, fmt.Sprintf("(version %d ", version-1)) != 2 || !strings.Contains(errs, fmt.Sprintf("this is version %d", version)) {
		t.Errorf("results of other versions: code %d: %s", code, errs)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if code, errs := report(); code != cli.Wrong || !strings.Contains(errs, "--results") {
		t.Errorf("no folder: code %d: %s", code, errs)
	}
}

// Names of sets are taken as people write them.
func TestSetsAsWritten(t *testing.T) {
	dir := t.TempDir()
	var done []string
	if code, _, errs := command(counting(&done, ""), "--sets", " A, b ,a", "--seeds", "1", "--out", dir); code != cli.Done || len(done) != 4 {
		t.Errorf("code %d, %v: %s", code, done, errs)
	}
	if code, _, errs := command(counting(&done, ""), "--sets", "a,,b", "--out", dir); code != cli.Wrong || !strings.Contains(errs, "--sets") {
		t.Errorf("an empty name: code %d: %s", code, errs)
	}
}

func TestSideBySide(t *testing.T) {
	dir := t.TempDir()
	var done []string
	s := counting(&done, "")
	s.side = true
	s.run = func(_ context.Context, _ string, k key) (*counted, error) {
		return &counted{key: k, Value: float64(k.Seed)}, nil
	}
	all, err := s.finish(context.Background(), &bytes.Buffer{}, &plan{sets: []string{"b", "a"}, variants: []string{""}, seeds: 20, out: dir})
	if err != nil || len(all) != 80 {
		t.Fatalf("%v, %d results", err, len(all))
	}
	for i, r := range all {
		if r == nil || r.Value != float64(i%20) || (r.Set == "b") != (i < 40) {
			t.Fatalf("result %d: %+v", i, r)
		}
	}
}

// document decodes the only file of the results that a pattern fits.
func document(t *testing.T, dir, pattern string, into any) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(files) != 1 {
		t.Fatalf("%s fits %v, %v", pattern, files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}

// done runs a subcommand that must succeed and leave a picture.
func done(t *testing.T, dir, picture string, args ...string) string {
	t.Helper()
	code, out, errs := run(append(args, "--out", dir)...)
	if code != cli.Done {
		t.Fatalf("%v: code %d: %s", args, code, errs)
	}
	if b, err := os.ReadFile(filepath.Join(dir, picture)); err != nil || !bytes.Contains(b, []byte("<svg")) {
		t.Errorf("%v: no picture %s: %v", args, picture, err)
	}
	return out
}
