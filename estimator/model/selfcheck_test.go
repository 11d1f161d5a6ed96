package model_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
)

func TestTrainedModelWithoutSelfChecksIsRefused(t *testing.T) {
	m, err := model.Decode(goldenFile(t, "v3"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.dgm")
	m.Checks = nil
	for hash, want := range map[string]error{m.Provenance.DataHash: model.ErrUnsealed, "": nil} {
		m.Provenance.DataHash = hash
		if err := model.WriteFile(path, m); err != nil {
			t.Fatal(err)
		}
		if _, err := model.ReadFile(path); !errors.Is(err, want) || (err != nil && !strings.Contains(err.Error(), path)) {
			t.Errorf("data hash %q, no self-checks: %v", hash, err)
		}
	}
}

// A file may not ask for more evaluations at load than a trainer writes.
func TestManySelfChecksAreRefused(t *testing.T) {
	m := artificial.New(artificial.Size{K: 1, Features: 2, Points: 2, Horizon: 1}, 1)
	check := model.SelfCheck{X0: []float64{0}, Times: []float64{0.5}, Mean: []float64{0}, Std: []float64{1}, ObsStd: []float64{1}}
	m.Checks = slices.Repeat([]model.SelfCheck{check}, 16)
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	long := check
	long.Times = make([]float64, 101)
	for i := range long.Times {
		long.Times[i] = float64(i+1) / 101
	}
	long.Mean, long.Std, long.ObsStd = long.Times, long.Times, long.Times
	m.Checks[0] = long
	if _, err := m.Encode(); err == nil || !strings.Contains(err.Error(), "self_checks[0].times: 101 times, expected 1…100") {
		t.Error(err)
	}
	m.Checks[0] = check
	m.Checks = append(m.Checks, check)
	if _, err := m.Encode(); err == nil || !strings.Contains(err.Error(), "self_checks: 17 of them, at most 16") {
		t.Error(err)
	}
}
