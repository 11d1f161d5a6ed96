package paper

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

func TestTrainDocument(t *testing.T) {
	train := func(out io.Writer, args ...string) int {
		c := TrainStudy().Command()
		c.SetArgs(args)
		c.SetOut(out)
		c.SetErr(io.Discard)
		return cli.Run(context.Background(), c)
	}
	var out bytes.Buffer
	if code := train(&out, "--json", "--sets", "lv1,dp100", "--features", "20", "--exact", "--duration", "1ms"); code != cli.Done {
		t.Fatalf("code %d", code)
	}
	var doc struct {
		Cores int              `json:"cores"`
		Peak  float64          `json:"dgemm_gflops"`
		Train []map[string]any `json:"train"`
	}
	d := json.NewDecoder(&out)
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil || len(doc.Train) != 3 || doc.Cores < 1 || !(doc.Peak > 0.1) {
		t.Fatalf("%v: %+v", err, doc)
	}
	number := func(v any) float64 { f, _ := v.(float64); return f }
	for i, r := range doc.Train {
		share, _ := r["share"].(map[string]any)
		if len(share) != len(stepParts) || !(number(share["data"]) > 0) || number(share["match"]) < 0 || number(share["gradient"]) < 0 || number(share["rest"]) < 0 {
			t.Errorf("row %d: shares %+v", i, share)
		}
		if !(number(r["seconds_per_step"]) > 0 && number(r["seconds_per_step_one_core"]) > 0 && number(r["speedup"]) > 0) || (r["kernel"] == "features") != (number(r["gflops"]) > 0) {
			t.Errorf("row %d: %+v", i, r)
		}
	}
	if r := doc.Train[2]; r["rows"] != 600. || r["support"] != 3000. || r["features"] != 20. || r["set"] != "dp100" {
		t.Errorf("DP 100: %+v", r)
	}
	for _, args := range [][]string{{"--sets", "x"}, {"--features", "3"}, {"--duration", "0s"}, {"more"}} {
		if code := train(io.Discard, args...); code != cli.Wrong {
			t.Errorf("%v: code %d", args, code)
		}
	}
}
