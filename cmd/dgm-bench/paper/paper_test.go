package paper

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/trainer/paper"
	"github.com/dgm-robotics/dgm/trainer/score"
)

func TestSetsAreThePapers(t *testing.T) {
	rows := map[string]int{"lv1": 100, "lo1": 100, "dp1": 100, "qu1": 100, "lv100": 500, "lo125": 1250, "dp100": 500, "qu64": 960}
	for _, s := range sets() {
		d, err := s.draw(0)
		if err != nil {
			t.Fatal(err)
		}
		if d.Rows() != rows[s.name] {
			t.Errorf("%s has %d observations, the paper %d", s.name, d.Rows(), rows[s.name])
		}
		if d.End() != s.end {
			t.Errorf("%s ends at %v", s.name, d.End())
		}
		// The noise that was added is the plant's.
		squares := make([]float64, d.K)
		for i := range d.Trajectories {
			tr := &d.Trajectories[i]
			x, err := s.truth(tr.X0, tr.T)
			if err != nil {
				t.Fatal(err)
			}
			for j, y := range tr.Y {
				squares[j%d.K] += (y - x[j]) * (y - x[j])
			}
		}
		for k, sum := range squares {
			ratio := math.Sqrt(sum/float64(d.Rows())) / s.plant.Noise[k]
			if ratio < 0.7 || ratio > 1.3 { // 100 numbers and more: 7 % is usual
				t.Errorf("%s, channel %d: noise is %v times the paper's", s.name, k, ratio)
			}
		}
	}
}

func TestTestStartsAreDrawnAnew(t *testing.T) {
	s := named("lo125")
	a, err := s.test(0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.test(1)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.starts) != testStarts || a.starts[0][0] == b.starts[0][0] {
		t.Errorf("%d starts, the first %v and %v", len(a.starts), a.starts[0], b.starts[0])
	}
	for _, x := range a.starts {
		for _, v := range x {
			if v < -5 || v > 5 {
				t.Errorf("start %v is outside of the box", x)
			}
		}
	}
}

// Few steps of the recipe already beat what a broken gradient could reach.
func TestSmallRecipe(t *testing.T) {
	if testing.Short() {
		t.Skip("trains")
	}
	for name, least := range map[string]float64{"lv1": 1.6, "dp1": 1.6} {
		s := named(name)
		d, err := s.draw(0)
		if err != nil {
			t.Fatal(err)
		}
		on, err := s.test(0)
		if err != nil {
			t.Fatal(err)
		}
		r := paper.DefaultRecipe(d)
		r.Steps, r.F, r.Members, r.Rounds, r.Final.Steps = 200, 30, 1, 2, 500
		m, err := paper.Learn(context.Background(), d, r, 1)
		if err != nil {
			t.Fatal(err)
		}
		q, err := score.Trajectories(on.predict(d.K, m.Predict), d.K)
		if err != nil {
			t.Fatal(err)
		}
		if q.LogLik < least {
			t.Errorf("%s: log likelihood %v, at least %v is usual", name, q.LogLik, least)
		}
		if q.Coverage95 < 0.8 {
			t.Errorf("%s: %v of the truth in the 95 %% intervals", name, q.Coverage95)
		}
	}
}

// run gives the command its arguments and returns exit code and outputs.
func run(args ...string) (code int, out, errs string) {
	cmd := Command()
	var o, e bytes.Buffer
	cmd.SetArgs(args)
	cmd.SetOut(&o)
	cmd.SetErr(&e)
	code = cli.Run(context.Background(), cmd)
	return code, o.String(), e.String()
}

// Seeds whose files are there are not run again: this would take minutes.
func TestFinishedSeedsAreKept(t *testing.T) {
	dir := t.TempDir()
	for seed := range 2 {
		k := key{Set: "lv1", Seed: seed, Version: version}
		r := &result{key: k, scores: scores{2 + float64(seed), 0.5, 0.9, 0.95}, RMSE: []float64{0.02, 0.02}, Seconds: 7, Recipe: "short"}
		if err := k.write(dir, r); err != nil {
			t.Fatal(err)
		}
	}
	code, out, errs := run("single", "--sets", "lv1,lv1", "--first-seed", "0", "--seeds", "2", "--out", dir)
	if code != cli.Done || !strings.Contains(out, "2.50 ± 0.71") || !strings.Contains(errs, "2 of 2 results are there") {
		t.Errorf("code %d: %s %s", code, out, errs)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "single.svg")); err != nil || !bytes.Contains(b, []byte("<svg")) {
		t.Errorf("no picture: %v", err)
	}
	page := filepath.Join(t.TempDir(), "paper.html")
	code, out, errs = run("report", "--results", dir, "--out", page)
	if b, err := os.ReadFile(page); code != cli.Done || err != nil || !bytes.Contains(b, []byte("<svg")) || !strings.Contains(out, "| LV 1 | 2 | 2.50 ± 0.71 |") {
		t.Errorf("report: code %d, %v: %s %s", code, err, out, errs)
	}
	// What is no seed's is left alone; what is one's and broken, of another recipe or half
	// there is named.
	if err := os.WriteFile(filepath.Join(dir, "lv1-notes.json"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := run("report", "--results", dir, "--out", page); code != cli.Done {
		t.Errorf("a file beside: code %d, %s", code, errs)
	}
	for _, text := range []string{"{", "null", `{"set":"lv1","seed":1,"version":2}`, `{"set":"lv1","seed":1,"loglik":2,"rmse":[1,1],"recipe":"old"}`} {
		if err := os.WriteFile(filepath.Join(dir, "lv1-1.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"single", "--sets", "lv1", "--first-seed", "0", "--seeds", "2", "--out", dir}, {"report", "--results", dir, "--out", page}} {
			if code, _, errs := run(args...); code != cli.Failed || !strings.Contains(errs, "lv1-1.json") || !strings.Contains(errs, "remove ") {
				t.Errorf("%s: %s: code %d, %s", text, args[0], code, errs)
			}
		}
	}
}

// A grid from which nothing could be learned is a result too, and is read again.
func TestWhatFailedIsAResult(t *testing.T) {
	dir := t.TempDir()
	k := key{Study: "learning", Set: "lv", Variant: "2", Seed: unseen, Version: version}
	if err := k.write(dir, &learned{result: result{key: k}, Failed: "no flow can be integrated"}); err != nil {
		t.Fatal(err)
	}
	code, out, errs := run("learning", "--grids", "2", "--seeds", "1", "--out", dir)
	if code != cli.Done || !strings.Contains(errs, "1 of 1 results are there") || !regexp.MustCompile(`(?m)^ *4 +1 .* 1$`).MatchString(out) {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
}

func TestWrongUsage(t *testing.T) {
	for _, args := range [][]string{
		{"single", "--sets", "lv100"}, {"multi", "--sets", "lv1"}, {"single", "--sets", "x"}, {"single", "--seeds", "0"}, {"multi", "--first-seed", "-1"},
		{"single", "--out", ""}, {"learning", "--grids", ""}, {"baselines", "--variants", ""}, {"overparam", "--methods", ""},
	} {
		if !slices.Contains(args, "--out") {
			args = append(args, "--out", t.TempDir())
		}
		if code, _, _ := run(args...); code != cli.Wrong {
			t.Errorf("%v: code %d", args, code)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{file, "/proc"} {
		if code, _, errs := run("single", "--sets", "lv1", "--out", out); code != cli.Failed || !strings.Contains(errs, out) {
			t.Errorf("--out %s: code %d, %s", out, code, errs)
		}
	}
}
