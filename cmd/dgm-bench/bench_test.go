package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench runs the command with arguments.
func bench(out io.Writer, args ...string) (code int, said string) {
	var messages bytes.Buffer
	root := command()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(&messages)
	code = cli.Run(context.Background(), root)
	return code, messages.String()
}

func TestLatencyDocument(t *testing.T) {
	var out bytes.Buffer
	if code, said := bench(&out, "latency", "--json", "--rate", "20,40", "--points", "3", "--duration", "250ms"); code != cli.Done {
		t.Fatalf("code %d: %s", code, said)
	}
	var doc map[string][]map[string]any
	d := json.NewDecoder(&out)
	if err := d.Decode(&doc); err != nil || d.More() || len(doc) != 1 || len(doc["latency"]) != 2 {
		t.Fatalf("%v: %v", err, doc)
	}
	for i, row := range doc["latency"] {
		var keys []string
		for k := range row {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		if strings.Join(keys, " ") != "late loaded missing p50_us p999_us p99_us points rate_hz" {
			t.Errorf("row %d: fields %v", i, keys)
		}
		p50, p99, p999 := row["p50_us"].(float64), row["p99_us"].(float64), row["p999_us"].(float64)
		if row["rate_hz"] != []float64{20, 40}[i] || row["points"] != 3.0 || row["loaded"] != false || !(p50 > 0 && p50 <= p99 && p99 <= p999) {
			t.Errorf("row %d: %v", i, row)
		}
	}
}

func TestLatencyTable(t *testing.T) {
	var out bytes.Buffer
	if err := printLatency(&out, []latencyRow{{Rate: 100, Points: 20, P50: 310.4, Missing: 3}}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "p99.9/µs") || !strings.Contains(out.String(), "310") {
		t.Error(out.String())
	}
}

func TestLatencySummary(t *testing.T) {
	r := latencyRow{Rate: 1000}
	var ns []int64
	for i := range 1000 {
		ns = append(ns, int64(i+1)*1000) // 1 … 1000 µs
	}
	ns[3], ns[4] = 0, 1_500_000
	r.fill(ns)
	if r.Missing != 1 || r.Late != 1 || r.P50 != 502 || r.P99 != 992 || r.P999 != 1500 {
		t.Errorf("%+v", r)
	}
	var none latencyRow
	none.fill([]int64{0, 0})
	if none.Missing != 2 || none.P50 != 0 {
		t.Errorf("%+v", none)
	}
}

func TestWrongUsage(t *testing.T) {
	for _, args := range [][]string{
		{}, {"speed"}, {"latency", "--points", "0"}, {"latency", "--rate", "0"}, {"latency", "--rate", "fast"}, {"latency", "--duration", "1ms"},
	} {
		if code, said := bench(io.Discard, args...); code != cli.Wrong || said == "" {
			t.Errorf("%v: code %d, %q", args, code, said)
		}
	}
	if code, said := bench(io.Discard, "latency", "--model", "missing.dgm"); code != cli.Failed || !strings.Contains(said, "missing.dgm") {
		t.Errorf("missing model: code %d, %q", code, said)
	}
}
