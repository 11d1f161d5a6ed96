//go:build cgo

package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// expected are the answers of Go to questions of the Python package.
type expected struct {
	Path     string    `json:"path"`
	States   []float64 `json:"states"`
	Plans    []float64 `json:"plans"`
	History  []float64 `json:"history"`
	Times    []float64 `json:"times"`
	Mean     []float64 `json:"mean"`
	Std      []float64 `json:"std"`
	OOD      []float64 `json:"ood"`
	Jacobian []float64 `json:"jacobian"`
	Inputs   []float64 `json:"input_jacobian"`
	Start    []float64 `json:"start_gradient"`
	Gradient []float64 `json:"plan_gradient"`
	Samples  []float64 `json:"samples"`
	Cov      []float64 `json:"cov"`
	Tube     []float64 `json:"tube"`

	Violation []float64 `json:"violation"`
	Whole     float64   `json:"violation_whole"`
}

// The Python package has Go's numbers to the last bit, and its own tests pass. DGM_PYTHON is
// a Python with numpy and pytest.
func TestFromPython(t *testing.T) {
	python := os.Getenv("DGM_PYTHON")
	if python == "" || runtime.GOOS != "linux" {
		t.Skip("builds the library, on Linux: DGM_PYTHON names a Python with numpy and pytest, as in .ci/run python")
	}
	if err := exec.Command(python, "-c", "import numpy, pytest").Run(); err != nil {
		t.Skipf("%s has no numpy and pytest: %v", python, err)
	}
	dir := t.TempDir()
	// As setup.py builds it: then all is compiled.
	run(t, "go", "build", "-trimpath", "-buildmode=c-shared", "-o", filepath.Join(dir, "libdgm.so"), ".")
	run(t, "go", "build", "-o", dir+"/", "../dgm-train", "../dgm-eval", "../dgm-bridge")
	var all []expected
	for _, path := range modelFiles(t, dir) {
		all = append(all, answersOfGo(t, path))
	}
	data, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "expected.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(python, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "../../python/tests", "../../examples/mppi-python", "../../examples/casadi-python", "../../examples/jax-python", "../../examples/torch-python")
	here, err := filepath.Abs("../../python")
	if err != nil {
		t.Fatal(err)
	}
	c.Env = append(os.Environ(), "DGM_LIBRARY="+filepath.Join(dir, "libdgm.so"), "DGM_PROGRAMS="+dir, "DGM_EXPECTED="+filepath.Join(dir, "expected.json"), "PYTHONPATH="+here)
	out, err := c.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}

func answersOfGo(t *testing.T, path string) expected {
	t.Helper()
	m, err := model.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, s := newPredictors(t, m)
	const plans, rows = 4, 5
	rng := rand.New(rand.NewPCG(1, 1))
	e := expected{Path: path, Times: f.NewPrediction().Times}
	for range m.K {
		e.States = append(e.States, 0.3*rng.NormFloat64())
	}
	for range plans * rows * m.P {
		e.Plans = append(e.Plans, 0.3*rng.NormFloat64())
	}
	for range m.History.Rows() * (m.K + m.P) {
		e.History = append(e.History, 0.3*rng.NormFloat64())
	}
	for i := range plans {
		p := f.NewPrediction().WithJacobian().WithInputJacobian(rows * m.P).WithCorrelation()
		// The step as Python finds it: the last of the times of the rows over their number.
		step := m.Horizon / rows * (rows - 1) / (rows - 1)
		q := estimator.Query{X0: e.States, Plan: e.Plans[i*rows*m.P : (i+1)*rows*m.P], PlanStep: step, History: e.History}
		if !f.Predict(p, &q) {
			t.Fatal("not finite")
		}
		e.Mean, e.Std, e.OOD = slices.Concat(e.Mean, p.Mean), slices.Concat(e.Std, p.Std), append(e.OOD, p.OOD)
		if i > 0 {
			continue
		}
		e.Jacobian, e.Inputs, e.Tube = p.Jacobian, p.InputJacobian, p.Tube[:]
		e.Cov = make([]float64, len(p.Correlation))
		p.Covariance(e.Cov)
		g := f.NewGradient(len(q.Plan))
		f.Adjoint(g, &q, p.Mean, p.Std)
		e.Start, e.Gradient = g.X0, g.Plan
		s.Start(p, &q)
		e.Samples = drawn(s, p)
		e.Violation, e.Whole = violationsOf(s, m, p)
	}
	return e
}
