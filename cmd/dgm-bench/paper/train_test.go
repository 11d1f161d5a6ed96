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
		c := TrainCommand()
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
		Cores int       `json:"cores"`
		Peak  float64   `json:"dgemm_gflops"`
		Train []trained `json:"train"`
	}
	d := json.NewDecoder(&out)
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil || len(doc.Train) != 3 || doc.Cores < 1 || !(doc.Peak > 0.1) {
		t.Fatalf("%v: %+v", err, doc)
	}
	for i, r := range doc.Train {
		h := r.Shares
		if !(h.Data > 0) || h.Match < 0 || h.Gradient < 0 || h.Rest < 0 {
			t.Errorf("row %d: shares %+v", i, h)
		}
		if !(r.Step > 0 && r.OneCore > 0 && r.Speedup > 0) || (r.Kernel == "features") != (r.GFlops > 0) {
			t.Errorf("row %d: %+v", i, r)
		}
	}
	if r := doc.Train[2]; r.Rows != 600 || r.Support != 3000 || r.Features != 20 || r.Set != "dp100" {
		t.Errorf("DP 100: %+v", r)
	}
	for _, args := range [][]string{{"--sets", "x"}, {"--features", "3"}, {"--duration", "0s"}, {"more"}} {
		if code := train(io.Discard, args...); code != cli.Wrong {
			t.Errorf("%v: code %d", args, code)
		}
	}
}
