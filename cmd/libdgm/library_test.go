//go:build cgo

package main

import (
	"bufio"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/filter"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
)

// A program in C, under the address sanitizer, is answered with the numbers that Go has, and
// every wrong call returns what is wrong.
func TestFromC(t *testing.T) {
	if os.Getenv("DGM_SLOW") == "" || runtime.GOOS != "linux" {
		t.Skip("builds the library, on Linux; DGM_SLOW=1 runs it")
	}
	cc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc is not here")
	}
	dir := t.TempDir()
	run(t, "go", "build", "-trimpath", "-buildmode=c-shared", "-o", filepath.Join(dir, "libdgm.so"), ".")
	program := filepath.Join(dir, "check")
	run(t, cc, "-std=gnu99", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-I.",
		"-o", program, "testdata/check.c", "-L"+dir, "-ldgm", "-lm", "-lpthread", "-Wl,-rpath,"+dir)
	for _, name := range modelFiles(t, dir) {
		answers := run(t, program, name)
		m, err := model.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, name, m, answers)
	}
	testPlanner(t, cc, dir)
}

// testPlanner runs the example of a planner in C: its plan ends nearer to the target than the mean input.
func testPlanner(t *testing.T, cc, dir string) {
	program := filepath.Join(dir, "planner")
	run(t, cc, "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-I.",
		"-o", program, "../../examples/planner-c/planner.c", "-L"+dir, "-ldgm", "-lm", "-Wl,-rpath,"+dir)
	m, err := model.ReadFile(filepath.Join(dir, "stack.dgm"))
	if err != nil {
		t.Fatal(err)
	}
	state := m.Channels[0].Name
	held := run(t, program, filepath.Join(dir, "stack.dgm"), state, "0")
	first := ended(t, held, "mean input held")
	target := first + 0.1
	lines := run(t, program, filepath.Join(dir, "stack.dgm"), state, strconv.FormatFloat(target, 'g', -1, 64))
	if got := ended(t, lines, "planned"); math.Abs(got-target) > 0.8*math.Abs(first-target) {
		t.Errorf("the plan ends at %v, the mean input at %v, the target is %v:\n%s", got, first, target, lines)
	}
	if !strings.Contains(lines, "apply now: "+m.Channels[m.K].Name+" = ") {
		t.Errorf("no input to apply:\n%s", lines)
	}
}

// ended returns the mean of the line of a planner's output that begins with what.
func ended(t *testing.T, lines, what string) float64 {
	t.Helper()
	for line := range strings.Lines(lines) {
		if _, rest, ok := strings.Cut(line, " s "); ok && strings.HasPrefix(line, what) {
			v, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("no line %q in:\n%s", what, lines)
	return 0
}

// modelFiles are a trained model and one that reads history, as files.
func modelFiles(t *testing.T, dir string) []string {
	t.Helper()
	stack := artificial.New(artificial.Size{K: 3, P: 2, Features: 20, Basis: 1, Members: 2, Points: 20, Horizon: 0.5, Equation: 2, Nets: 1, History: []float64{0.01, 0.02}}, 1)
	stack.Joint = []model.Joint{{Levels: []float64{0.2, 1}, Correlation: [][]float64{{0.5, 0, 0.25}, {-0.5, 0, 0.25}}, Tube: []float64{1.5, 2.5, 3}}}
	stack.Channels[0].Derivative, stack.Channels[1].Estimated = stack.Channels[1].Name, true
	stack.Filter = &model.Filter{R: []float64{1e-4, 0, 1e-4}, Chains: []model.FilterChain{{Position: 0, Rate: 1, Q: 10, Settled: 9}}, Start: []float64{1, 10, 1, 100}, Gap: 0.2, Usual: make([]float64, 9)}
	data, err := stack.Encode()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "stack.dgm")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"../../estimator/testdata/pendulum.dgm", file}
}

func newPredictors(t *testing.T, m *model.Model) (*estimator.Fast, *estimator.Trajectories) {
	t.Helper()
	f, err := estimator.NewFast(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := estimator.NewTrajectories(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f, s
}

// drawn are three trajectories of a prediction from which s has started.
func drawn(s *estimator.Trajectories, p *estimator.Prediction) (out []float64) {
	for j := range 3 {
		one := make([]float64, len(p.Mean))
		s.Draw(one, rand.New(rand.NewPCG(7, uint64(j))).NormFloat64)
		out = append(out, one...)
	}
	return out
}

// violationsOf returns the probabilities, of 500 draws, that the first state is above 0.2, and that it
// is from 0.1 to 0.3, of a prediction from which s has started.
func violationsOf(s *estimator.Trajectories, m *model.Model, p *estimator.Prediction) (each []float64, whole float64) {
	l := estimator.Limits{HalfSpaces: make([]float64, m.K+1), Boxes: make([]float64, 2*m.K)}
	for k := range m.K {
		l.Boxes[k], l.Boxes[m.K+k] = math.Inf(-1), math.Inf(1)
	}
	l.HalfSpaces[0], l.HalfSpaces[m.K], l.Boxes[0], l.Boxes[m.K] = 1, 0.2, 0.1, 0.3
	each = make([]float64, 2*len(p.Times))
	return each, s.Violation(each, &l, 500, rand.New(rand.NewPCG(7, 0)).NormFloat64)
}

// compare compares the answers of the program with those of Go.
func compare(t *testing.T, name string, m *model.Model, answers string) {
	t.Helper()
	f, s := newPredictors(t, m)
	got := map[string][]float64{}
	for lines := bufio.NewScanner(strings.NewReader(answers)); lines.Scan(); {
		words := strings.Fields(lines.Text())
		for _, w := range words[1:] {
			v, err := strconv.ParseFloat(w, 64)
			if err != nil {
				t.Fatal(err)
			}
			got[words[0]] = append(got[words[0]], v)
		}
	}
	q := estimator.Query{X0: make([]float64, m.K), Plan: got["plan"], History: make([]float64, m.History.Rows()*(m.K+m.P))}
	for k := range q.X0 {
		q.X0[k] = 0.1 * float64(k+1)
	}
	p := f.NewPrediction().WithJacobian().WithInputJacobian(len(q.Plan)).WithCorrelation()
	if !f.Predict(p, &q) || !s.Start(p, &q) {
		t.Fatal("not finite")
	}
	samples := drawn(s, p)
	p.Covariance(p.Correlation)
	g := f.NewGradient(len(q.Plan))
	if !f.Adjoint(g, &q, p.Mean, nil) {
		t.Fatal("not finite")
	}
	violation, whole := violationsOf(s, m, p)
	for what, want := range map[string][]float64{"violation": violation, "violation_whole": {whole}, "mean": p.Mean, "std": p.Std, "jacobian": p.Jacobian, "input_jacobian": p.InputJacobian, "covariance": p.Correlation, "tube": p.Tube[:], "samples": samples, "start_gradient": g.X0, "plan_gradient": g.Plan} {
		if len(got[what]) != len(want) {
			t.Fatalf("%s: %d numbers of %s, want %d", name, len(got[what]), what, len(want))
		}
		for i, w := range want {
			if got[what][i] != w {
				t.Fatalf("%s: number %d of %s is %v, want %v", name, i, what, got[what][i], w)
			}
		}
	}
	compareEstimates(t, m, got["estimates"])
	least, plain := time.Hour, f.NewPrediction()
	for range 2000 {
		before := time.Now()
		f.Predict(plain, &q)
		least = min(least, time.Since(before))
	}
	t.Logf("%s: open %v s; seconds of a prediction and of a call that computes nothing %v; of a prediction in Go %v", filepath.Base(name), got["open"], got["seconds"], least)
}

// compareEstimates compares what the program was told of the state with an estimator of Go that is given the same.
func compareEstimates(t *testing.T, m *model.Model, got []float64) {
	t.Helper()
	e, err := filter.NewEstimator(m)
	if err != nil {
		t.Fatal(err)
	}
	if e != nil {
		e.KeepLate()
	}
	for i := range 60 {
		at := int64(1700000000000000000) + int64(i)*10000000
		if i == 30 {
			at -= 15000000
		}
		x, y, u := make([]float64, m.K), make([]float64, m.K), make([]float64, m.P)
		for k := range y {
			if y[k] = math.Sin(0.02*float64(i) + float64(k)); i == 40 && k == 0 {
				y[k] += 2
			}
			if m.Channels[k].Estimated {
				y[k] = math.NaN()
			}
		}
		var start []float64
		if copy(x, y); e != nil {
			if of := e.Take(at, y, u, true); of.Late != (i == 30) || of.Dropped {
				t.Fatalf("sample %d: %+v", i, of)
			}
			e.State(x, y)
			start = e.StartCovariance()
		}
		want := slices.Concat(x, []float64{float64(len(start))}, start)
		for j, w := range want {
			if j >= len(got) || !(math.Abs(got[j]-w) <= 1e-12 || math.IsNaN(got[j]) && math.IsNaN(w)) {
				t.Fatalf("%s: sample %d is estimated as %v, want %v", m.ID, i, got[:min(len(got), len(want))], want)
			}
		}
		got = got[len(want):]
	}
	if len(got) > 0 {
		t.Errorf("%d numbers more", len(got))
	}
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, stderr.String())
	}
	return string(out)
}

// Calls of several threads at once, with other times and numbers of workers, have the answers
// of one alone.
func TestManyThreads(t *testing.T) {
	l, err := open("../../estimator/testdata/pendulum.dgm")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(i int) []float64 {
		q := query{want: wantMean | wantStd | wantSamples, states: []float64{0.5, 0, 0.1, 1}, samples: 2, workers: 1 + i%2}
		for j := range 1 + i%(mostSets+2) {
			q.times = append(q.times, 0.04*float64(j+1))
		}
		n := 2 * 2 * len(q.times)
		a := answer{mean: make([]float64, n), std: make([]float64, n), samples: make([]float64, 2*n), flags: make([]uint32, 2)}
		if err := l.predict(&q, &a); err != nil {
			t.Error(err)
		}
		return slices.Concat(a.mean, a.std, a.samples)
	}
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			if !slices.Equal(ask(i), ask(i)) {
				t.Errorf("call %d: two answers differ", i)
			}
		})
	}
	all.Wait()
	if len(l.sets) > mostSets {
		t.Errorf("%d sets of predictors are kept", len(l.sets))
	}
	kept := slices.Clone(l.sets)
	if p, err := l.acquire([]float64{-1}, 1); p != nil || err == nil || !slices.Equal(l.sets, kept) {
		t.Errorf("refused times: %v, %d sets", err, len(l.sets))
	}
}
