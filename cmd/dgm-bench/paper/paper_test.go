package paper

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
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
	t.Parallel()
	if os.Getenv("DGM_SLOW") == "" {
		t.Skip("trains for seconds; DGM_SLOW=1 runs it")
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
		q, err := score.Trajectories(on.predict(d.K, sure(m.Predict)), d.K)
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

// put stores a row in a folder as the runner does.
func put(t *testing.T, dir, file string, r *study.Row) {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, file+".jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(append(b, '\n')); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// whole returns a row of the recipe.
func whole(k study.Key, loglik float64, rmse []float64) *study.Row {
	return study.NewRow(k).Put("loglik", loglik).Put("coverage50", 0.5).Put("coverage90", 0.9).Put("coverage95", 0.95).Put("rmse", rmse).Put("seconds", 7).Put("recipe", "short")
}

// Seeds that are stored do not run again: this would take minutes.
func TestFinishedSeedsAreKept(t *testing.T) {
	dir := t.TempDir()
	for seed := range 2 {
		put(t, dir, "tables", whole(study.Key{Set: "lv1", Seed: seed, Version: version}, 2+float64(seed), []float64{0.02, 0.02}))
	}
	code, out, errs := run("single", "--sets", "lv1,lv1", "--first-seed", "0", "--seeds", "2", "--out", dir)
	if code != cli.Done || !strings.Contains(out, "2.50 ± 0.71") || !strings.Contains(errs, "2 of 2 results are stored") {
		t.Errorf("code %d: %s %s", code, out, errs)
	}
	// A row that is not whole is an error that names file and unit.
	put(t, dir, "tables", study.NewRow(study.Key{Set: "lv1", Seed: 1, Version: version}).Put("loglik", 2))
	if code, _, errs := run("single", "--sets", "lv1", "--first-seed", "0", "--seeds", "2", "--out", dir); code != cli.Failed || !strings.Contains(errs, "lv1-1 is no result") {
		t.Errorf("code %d, %s", code, errs)
	}
}

// With the default settings and noise seed 1003 the first start of LV 1 collapses: the log
// likelihood was −198. Another start is good.
func TestCollapsedFitIsRunAgain(t *testing.T) {
	s := named("lv1")
	u := &study.Unit{Row: study.NewRow(study.Key{Set: s.name, Seed: 1003})}
	if err := s.fit(t.Context(), u, s.defaultFit()); err != nil {
		t.Fatal(err)
	}
	if u.Number("rerun") < 1 || !(u.Number("loglik") > 1.5) {
		t.Errorf("log likelihood %v after %v starts that collapsed", u.Number("loglik"), u.Number("rerun"))
	}
}

func TestPublishedFit(t *testing.T) {
	s := named("dp1")
	p := s.publishedFit(0.05, 0.5)
	if p.Steps != 3000 || p.To != 1./3 || p.Core[0] != 10 || p.Core[1] != 5 || !p.Exact || p.Anchor != 0 {
		t.Errorf("%+v", p)
	}
	p.Steps, p.FineTune = 40, 20
	u := &study.Unit{Row: study.NewRow(study.Key{Set: "dp1"})}
	if err := s.fit(context.Background(), u, p); err != nil || !u.Has("loglik") || u.Number("loglik") < -100 {
		t.Errorf("%v: log likelihood %v, %s", err, u.Number("loglik"), u.Text("failed"))
	}
}

func TestWrongUsage(t *testing.T) {
	for _, args := range [][]string{
		{"single", "--sets", "lv100"}, {"multi", "--sets", "lv1"}, {"single", "--sets", "x"}, {"single", "--seeds", "0"}, {"multi", "--first-seed", "-1"},
		{"single", "--out", ""}, {"published", "--variants", ""},
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
