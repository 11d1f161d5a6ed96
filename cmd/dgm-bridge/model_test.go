package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
)

// A model is shown as a flight log is: its verdict first, its channels, its origin.
func TestInfoOfAModel(t *testing.T) {
	m := artificial.New(artificial.Size{K: 2, P: 1, Features: 4, Points: 20, Horizon: 0.5}, 1)
	m.Vehicle = "copter1"
	m.Provenance = model.Provenance{
		Tool: "dgm-train", Seed: 7, Verdict: "USE WITH CARE: few flights. Next: record more.", Segments: []string{"00ff00ff00ff00ff"},
		Scores: `{"windows": 40, "geo": {"model": 0.25}, "horizons": [{"t": 0.5, "coverage95": 0.94}]}`,
	}
	path := filepath.Join(t.TempDir(), "flight.dgm")
	if err := model.WriteFile(path, m); err != nil {
		t.Fatal(err)
	}
	code, out, errs := run("info", path)
	if code != cli.Done || errs != "" || !strings.HasPrefix(out, "verdict") {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
	for _, want := range []string{m.Provenance.Verdict, "copter1", "0.5 s in 20 points", "seed 7, on 1 recording", "RMSE 0.250", "94 % after 0.5 s", m.ID, m.Channels[0].Name, m.Channels[2].Name} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	code, out, errs = run("info", "--json", path)
	var r modelReport
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != cli.Done || errs != "" || r.ID != m.ID || len(r.Channels) != 3 || r.Scores.Windows != 40 || r.Verdict != m.Provenance.Verdict {
		t.Errorf("exit %d, %v, %+v, %q", code, err, r, errs)
	}
}
