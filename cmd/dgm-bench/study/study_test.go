package study

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// counting is a study whose units record that they ran; fails is the variant that cannot.
func counting(ran *[]string, fails string) *Study {
	return &Study{
		Name: "counting", Sets: []string{"a", "b"}, Seeds: 2, Kinds: []string{"x10", "x9"}, Needs: []string{"value"}, Summary: []string{"value"},
		Run: func(_ context.Context, u *Unit) error {
			if u.Variant == fails {
				return errors.New("it cannot run")
			}
			*ran = append(*ran, u.Key.String())
			u.Put("value", float64(u.Seed))
			return nil
		},
		Tables: func(_ *Results, rows []*Row) ([]Table, error) {
			return []Table{{Name: "counted", Title: "counted", Groups: GroupBy(rows, Single), Columns: []Column{{"name", func(g Group) string { return g[0].Key.String() }}, MeanOf("value", "value", 1)}}}, nil
		},
	}
}

// command runs the command of a study.
func command(s *Study, args ...string) (code int, out, errs string) {
	c := s.Command()
	var o, e bytes.Buffer
	c.SetArgs(args)
	c.SetOut(&o)
	c.SetErr(&e)
	code = cli.Run(context.Background(), c)
	return code, o.String(), e.String()
}

func TestStudyResumes(t *testing.T) {
	dir := t.TempDir()
	try := func(s *Study, args ...string) (int, string, string) {
		return command(s, append(args, "--out", dir)...)
	}
	var ran []string
	if code, _, errs := try(counting(&ran, "x9"), "--sets", "a"); code != cli.Failed || !strings.Contains(errs, "a-x9-0") {
		t.Fatalf("code %d: %s", code, errs)
	}
	if strings.Join(ran, " ") != "a-x10-0 a-x10-1" {
		t.Fatalf("ran: %v", ran)
	}
	ran = nil
	code, out, errs := try(counting(&ran, ""), "--sets", "a", "--first-seed", "1")
	if code != cli.Done || strings.Join(ran, " ") != "a-x10-2 a-x9-1 a-x9-2" {
		t.Fatalf("code %d, ran: %v: %s", code, ran, errs)
	}
	if !strings.Contains(errs, "1 of 4 results are stored") || !strings.Contains(errs, "2 left") || strings.Count(out, "a-") != 4 {
		t.Errorf("%s%s", out, errs)
	}
	// Everything that is stored, in the order of the file.
	gathered := func() string {
		store, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		all, err := counting(&ran, "").Gather(store)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, r := range all {
			names = append(names, strings.TrimPrefix(r.Key.String(), "a-"))
		}
		return strings.Join(names, " ")
	}
	if got := gathered(); got != "x10-0 x10-1 x10-2 x9-1 x9-2" {
		t.Errorf("gathered: %s", got)
	}
	// Results that were made otherwise are not used for these, nor put together with them.
	s := counting(&ran, "")
	much := 1
	s.Numbers = []Flag{{Name: "much", Value: &much, Least: 1, Most: 9, Changes: true}}
	ran = nil
	code, out, errs = try(s, "--sets", "a", "--seeds", "1", "--much", "2")
	if code != cli.Done || len(ran) != 2 || !strings.Contains(out, "counted (--much 2)") || strings.Count(out, "a-") != 2 {
		t.Errorf("code %d, ran %v: %s%s", code, ran, out, errs)
	}
	if got := gathered(); got != "x10-0 x10-1 x10-2 x9-1 x9-2" {
		t.Errorf("gathered with results of other settings: %s", got)
	}
	store, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if lines := LeftOut(store, []*Study{counting(&ran, "")}); len(lines) != 2 || !strings.Contains(lines[0], "made with --much 2") {
		t.Errorf("left out: %v", lines)
	}
	for _, wrong := range []string{"0", "10", "x"} {
		if code, _, errs := try(s, "--much", wrong); code != cli.Wrong || !strings.Contains(errs, "much") {
			t.Errorf("--much %s: code %d: %s", wrong, code, errs)
		}
	}
	if lines := LeftOut(store, nil); len(lines) != 7 || !strings.Contains(lines[6], "no study makes it") {
		t.Errorf("left out: %v", lines)
	}
	// A version of the recipe that is not today's does not count.
	s = counting(&ran, "")
	s.Version = func(string) int { return 2 }
	if all, err := s.Gather(store); err != nil || len(all) != 0 {
		t.Errorf("%d rows of another version, %v", len(all), err)
	}
}

// What is in a file and is no result is an error that names file and line.
func TestBrokenFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "counting.jsonl")
	good := `{"study":"counting","set":"a","variant":"x9","seed":1,"value":2}` + "\n"
	for text, want := range map[string]string{
		good + "{":                "line 2",
		good + "\n" + good:        "line 2",
		"null\n":                  "names no set",
		`{"set":"a","x":[1,"b"]}`: "numbers or of texts",
		`{"set":"a","x":{"y":1}}`: "x is no number",
		`{"study":"counting","set":"a","variant":"x9","seed":1}` + "\n": "it has no value",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		var ran []string
		code, _, errs := command(counting(&ran, ""), "--sets", "a", "--out", dir)
		if code != cli.Failed || !strings.Contains(errs, want) || len(ran) > 2 {
			t.Errorf("%q: code %d: %s", text, code, errs)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a folder is read as results: %v", err)
	}
	if store, err := Open(filepath.Join(dir, "none")); err != nil || len(store.rows) != 0 {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func TestRowsSurviveJSON(t *testing.T) {
	r := NewRow(Key{Set: "a", Variant: "v", Seed: 3, Version: 5})
	r.Put("n", 7).Put("scores.loglik", -0.1).Put("scores.coverage95", 1.).Put("ok", true).Put("name", "x").Put("list", []int{1, 2}).Put("names", []string{"p", "q"}).Put("nan", math.NaN()).Put("set", "a")
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"set":"a","variant":"v","seed":3,"version":5,"list":[1,2],"n":7,"name":"x","names":["p","q"],"ok":true,"scores.coverage95":1,"scores.loglik":-0.1}`
	if string(b) != want {
		t.Errorf("%s, expected %s", b, want)
	}
	var q Row
	if err := json.Unmarshal(b, &q); err != nil {
		t.Fatal(err)
	}
	if q.Key != r.Key || q.Number("scores.loglik") != -0.1 || !q.Is("ok") || q.Number("ok") != 1 || q.Text("name") != "x" || !slices.Equal(q.Numbers("list"), []float64{1, 2}) || !slices.Equal(q.Texts("names"), []string{"p", "q"}) || q.Has("nan") || !math.IsNaN(q.Number("nan")) {
		t.Errorf("%+v", q)
	}
	if _, err := json.Marshal(NewRow(Key{Set: "a"}).Put("v", []float64{math.Inf(1)})); err == nil {
		t.Error("an infinite number is written")
	}
}

// A long unit is reported, but not too often.
func TestLongUnitsAreReported(t *testing.T) {
	for patience, want := range map[time.Duration]int{0: 2, time.Hour: 0} {
		var out bytes.Buffer
		report := reports(&out, Key{Set: "lv1", Seed: 7}, patience)
		report("begins")
		report("ends")
		if n := strings.Count(out.String(), "\n"); n != want || want > 0 && !strings.Contains(out.String(), "lv1-7: after 0s ends") {
			t.Errorf("patience %v: %q", patience, out.String())
		}
	}
}

// An interrupt keeps what is finished.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	var ran []string
	s := counting(&ran, "")
	run := s.Run
	s.Run = func(ctx context.Context, u *Unit) error {
		if len(ran) == 2 {
			cancel()
			return ctx.Err()
		}
		return run(ctx, u)
	}
	c := s.Command()
	var errs bytes.Buffer
	c.SetArgs([]string{"--out", dir})
	c.SetOut(io.Discard)
	c.SetErr(&errs)
	if code := cli.Run(ctx, c); code != cli.Failed || !strings.Contains(errs.String(), "2 of 8 results are in "+dir) || !strings.Contains(errs.String(), "interrupted") {
		t.Errorf("code %d: %s", code, errs.String())
	}
	if store, err := Open(dir); err != nil || len(store.Rows("counting")) != 2 {
		t.Errorf("%v", err)
	}
}

// Names of sets are read as people write them.
func TestSetsAsWritten(t *testing.T) {
	dir := t.TempDir()
	var ran []string
	if code, _, errs := command(counting(&ran, ""), "--sets", " A, b ,a", "--seeds", "1", "--out", dir); code != cli.Done || len(ran) != 4 {
		t.Errorf("code %d, %v: %s", code, ran, errs)
	}
	if code, _, errs := command(counting(&ran, ""), "--sets", "a,,b", "--out", dir); code != cli.Wrong || !strings.Contains(errs, "--sets") {
		t.Errorf("an empty name: code %d: %s", code, errs)
	}
}

// A measurement prints a table or one JSON document, and stores only with --out.
func TestMeasurement(t *testing.T) {
	dir := t.TempDir()
	ran := 0
	measure := func() *Study {
		s := &Study{
			Name:  "measure",
			Flags: func(cmd *cobra.Command) { cmd.Flags().Bool("fast", false, "") },
			Units: func() ([]Work, error) { return []Work{{Key: Key{Set: "x"}}, {Key: Key{Set: "y"}}}, nil },
			Run: func(_ context.Context, u *Unit) error {
				ran++
				u.Put("v", 1+(ran-1)%2)
				return nil
			},
			Failed: func(rows []*Row) error {
				if len(rows) != 2 {
					return errors.New("rows are missing")
				}
				return nil
			},
		}
		s.Tables = func(_ *Results, rows []*Row) ([]Table, error) {
			return []Table{{Title: "measured", Groups: GroupBy(rows, Single), Columns: []Column{MeanOf("v", "v", 1)}}}, nil
		}
		return s
	}
	if code, out, errs := command(measure(), "--json"); code != cli.Done || out != `{"measure":[{"v":1},{"v":2}]}`+"\n" {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
	for range 2 {
		if code, out, errs := command(measure(), "--out", dir); code != cli.Done || !strings.Contains(out, "1.0") || !strings.Contains(out, "2.0") {
			t.Errorf("code %d: %s%s", code, out, errs)
		}
	}
	if ran != 4 {
		t.Errorf("measured %d units", ran)
	}
}

// A unit that fails costs its own rows: the others are measured and printed, and the error names it.
func TestOneFails(t *testing.T) {
	s := &Study{
		Name: "measure",
		Units: func() ([]Work, error) {
			return []Work{{Key: Key{Set: "a"}}, {Key: Key{Set: "b"}}, {Key: Key{Set: "c"}}}, nil
		},
		Run: func(_ context.Context, u *Unit) error {
			if u.Set == "b" {
				return errors.New("it burns")
			}
			u.Put("v", u.Set)
			return nil
		},
	}
	code, out, errs := command(s, "--json")
	if code != cli.Failed || out != `{"measure":[{"v":"a"},{"v":"c"}]}`+"\n" || strings.Count(errs, "b-0: it burns") != 1 || !strings.Contains(errs, "b-0 has failed: it burns; 1 left") {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
}

// Only what is between markers changes.
func TestRewrite(t *testing.T) {
	rows := []*Row{NewRow(Key{Set: "a"}).Put("v", 1.25), NewRow(Key{Set: "a", Seed: 1}).Put("v", 1.75), NewRow(Key{Set: "b"})}
	all := []Table{{Name: "t", Groups: GroupBy(rows, BySet), Columns: []Column{ForSet("set", strings.ToUpper), Count("seeds"), SpreadOf("v", "v"), QuantileOf("most", "v", 1)}}}
	page := "before\n<!-- table t -->\nold\n<!-- end -->\nafter ![p](p.svg)"
	got, err := Rewrite([]byte(page), all)
	want := "before\n<!-- table t -->\n| set | seeds | v | most |\n|---|---|---|---|\n| A | 2 | 1.50 ± 0.35 | 1.75 |\n| B | 1 |  |  |\n<!-- end -->\nafter ![p](p.svg)"
	if err != nil || string(got) != want {
		t.Errorf("%v:\n%s", err, got)
	}
	if _, err := Rewrite([]byte("<!-- table other -->\n<!-- end -->"), all); err == nil {
		t.Error("a table that is not there is accepted")
	}
}
