package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/modeltest"
)

// testRows are those of the plans of the tests.
const testRows = 7

// answered is a question with the answer of the reference predictor.
type answered struct {
	X       []float64   `json:"x"`
	History [][]float64 `json:"history"` // null = none
	U       []float64   `json:"u"`       // null = the mean input
	Plan    [][]float64 `json:"plan"`    // null = the input is held
	Mean    []float64   `json:"mean"`    // T×K
	Std     []float64   `json:"std"`
	ObsStd  []float64   `json:"obs_std"`
	OOD     float64     `json:"ood"`
}

// fixtures writes the models that have every part between them to folders, and returns those.
func fixtures(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	add := func(name string, m *model.Model) {
		all[name] = filepath.Join(t.TempDir(), "model.dgm")
		if err := model.WriteFile(all[name], m); err != nil {
			t.Fatal(err)
		}
	}
	for name, shape := range modeltest.Shapes() {
		add(name, sealed(t, modeltest.New(shape, rand.New(rand.NewPCG(3, 4)))))
	}
	committed, err := filepath.Glob(filepath.Join("..", "..", "estimator", "model", "testdata", "v3*.dgm"))
	if err != nil || len(committed) == 0 {
		t.Fatal("no committed models", err)
	}
	for _, path := range append(committed, filepath.Join("..", "..", "estimator", "testdata", "pendulum.dgm")) {
		m, err := model.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		add(strings.TrimSuffix(filepath.Base(path), ".dgm"), m)
	}
	return all
}

// sealed returns a model with a self-check, as a file holds it, with fewer digits.
func sealed(t *testing.T, m *model.Model) *model.Model {
	t.Helper()
	m.Checks = []model.SelfCheck{selfCheck(t, m)}
	data, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if m, err = model.Decode(data); err != nil {
		t.Fatal(err)
	}
	m.Checks = nil
	m.Checks = []model.SelfCheck{selfCheck(t, m)}
	return m
}

// selfCheck is a prediction without which no file is read.
func selfCheck(t *testing.T, m *model.Model) model.SelfCheck {
	t.Helper()
	ref, err := estimator.New(m, m.EqualTimes(m.Points))
	if err != nil {
		t.Fatal(err)
	}
	p := ref.NewPrediction()
	q := estimator.Query{X0: make([]float64, m.K)}
	c := model.SelfCheck{Readout: model.Plan, X0: q.X0, Times: p.Times, Mean: p.Mean, Std: p.Std, ObsStd: p.ObsStd}
	if m.P > 0 {
		q.U, c.Readout = make([]float64, m.P), model.Hold
		c.U = q.U
	}
	if !ref.Predict(p, &q) {
		t.Fatal("not finite")
	}
	return c
}

// answers returns questions to a model in all its conditions.
func answers(t *testing.T, path string) (all []answered) {
	t.Helper()
	m, err := model.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := estimator.New(m, m.EqualTimes(m.Points))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	matrix := func(rows, columns int) (flat []float64, out [][]float64) {
		flat = make([]float64, rows*columns)
		for i := range flat {
			flat[i] = 0.5 * rng.NormFloat64()
		}
		for i := range rows {
			out = append(out, flat[i*columns:(i+1)*columns])
		}
		return flat, out
	}
	for _, planned := range []bool{true, false} {
		for _, held := range []bool{true, false} {
			for _, remembered := range []bool{true, false} {
				if m.P == 0 && (planned || held) || planned && held || m.History.Rows() == 0 && remembered {
					continue
				}
				var q estimator.Query
				var a answered
				q.X0, _ = matrix(1, m.K)
				a.X = q.X0
				if planned {
					q.Plan, a.Plan = matrix(testRows, m.P)
				}
				if held {
					q.U, _ = matrix(1, m.P)
					a.U = q.U
				}
				if remembered {
					q.History, a.History = matrix(m.History.Rows(), m.K+m.P)
				}
				p := ref.NewPrediction()
				if !ref.Predict(p, &q) {
					t.Fatal("not finite")
				}
				a.Mean, a.Std, a.ObsStd, a.OOD = p.Mean, p.Std, p.ObsStd, p.OOD
				all = append(all, a)
			}
		}
	}
	return all
}

func TestExportProgram(t *testing.T) {
	path, to := filepath.Join("..", "..", "estimator", "testdata", "pendulum.dgm"), t.TempDir()
	for target, files := range map[string][]string{
		"casadi": {"dgm_model.program", "dgm_model.py"}, "jax": {"dgm_model.program", "dgm_model.py"}, "onnx": {"dgm_model_plan.onnx", "dgm_model_hold.onnx"},
	} {
		folder := filepath.Join(to, target, "new")
		code, out, errs := run("export", target, path, "--out", folder)
		if code != cli.Done || strings.Count(out, "wrote ") != len(files) {
			t.Errorf("exit %d, %s%s", code, out, errs)
		}
		for _, name := range files {
			data, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil || len(data) == 0 {
				t.Error(err)
			}
			if text := string(data); strings.HasSuffix(name, ".py") && (strings.Contains(text, "from .") || !strings.Contains(text, "import "+target)) {
				t.Errorf("%s needs the package, or not %s", name, target)
			}
		}
		for _, wrong := range [][]string{{path}, {path, "--out", to, "--plan-rows", "0"}, {path, "--out", ""}, {"none.dgm", "--out", to}} {
			if code, _, errs := run(append([]string{"export", target}, wrong...)...); code == cli.Done || errs == "" {
				t.Errorf("%q: exit %d, %s", wrong, code, errs)
			}
		}
	}
}

// What is exported has the numbers of the reference predictor, in every target that DGM_PYTHON has.
func TestExportedPrograms(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("runs Python, on Linux")
	}
	dir := os.Getenv("DGM_PROGRAMS") // where they are kept
	if dir == "" {
		dir = t.TempDir()
	}
	for name, path := range fixtures(t) {
		to := filepath.Join(dir, name)
		for _, target := range []string{"casadi", "jax", "onnx"} {
			code, out, errs := run("export", target, path, "--out", filepath.Join(to, target), "--plan-rows", fmt.Sprint(testRows))
			if code != cli.Done || !strings.Contains(out, "dgm_model") {
				t.Fatalf("%s to %s: exit %d, %s%s", name, target, code, out, errs)
			}
		}
		data, err := json.Marshal(answers(t, path))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, "answers.json"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	python := os.Getenv("DGM_PYTHON")
	if python == "" {
		t.Skip("DGM_PYTHON names a Python with numpy, msgpack and pytest, as in .ci/run python")
	}
	if err := exec.Command(python, "-c", "import numpy, msgpack, pytest").Run(); err != nil {
		t.Skipf("%s has no numpy, msgpack and pytest: %v", python, err)
	}
	c := exec.Command(python, "-B", "-m", "pytest", "-q", "-rs", "-s", "--tb=short", "-p", "no:cacheprovider", "../../python/tests/test_program.py")
	c.Env = append(os.Environ(), "DGM_PROGRAMS="+dir)
	out, err := c.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}
