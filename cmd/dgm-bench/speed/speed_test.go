package speed

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
)

// bench runs the command with arguments.
func bench(out io.Writer, args ...string) (code int, errs string) {
	var messages bytes.Buffer
	c := Study().Command()
	c.SetArgs(args)
	c.SetOut(out)
	c.SetErr(&messages)
	code = cli.Run(context.Background(), c)
	return code, messages.String()
}

func TestDocument(t *testing.T) {
	m := artificial.New(artificial.Size{K: 2, P: 1, Features: 10, Points: 7, Horizon: 1, Members: 2, Basis: 1}, 1)
	file := filepath.Join(t.TempDir(), "m.dgm")
	if err := model.WriteFile(file, m); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if code, errs := bench(&out, "--json", "--model", file, "--points", "3,20", "--duration", "1ms"); code != cli.Done {
		t.Fatalf("code %d: %s", code, errs)
	}
	var doc map[string][]map[string]any
	d := json.NewDecoder(&out)
	if err := d.Decode(&doc); err != nil || d.More() || len(doc) != 1 || len(doc["predict"]) != 2 {
		t.Fatalf("%v: %v", err, doc)
	}
	for i, r := range doc["predict"] {
		var keys []string
		for k := range r {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		if got := strings.Join(keys, " "); got != "allocs fast_covariance_us fast_p99_us fast_us features file_kb form load_ms members plain_us points system unit worst_input" {
			t.Errorf("fields %s", got)
		}
		if r["system"] != "artificial" || r["features"] != 10.0 || r["points"] != []float64{3, 20}[i] || r["members"] != 2.0 || r["allocs"] != 0.0 {
			t.Errorf("row %d: %v", i, r)
		}
		fast, p99 := r["fast_us"].(float64), r["fast_p99_us"].(float64)
		if info, err := os.Stat(file); err != nil || math.Abs(r["file_kb"].(float64)-float64(info.Size())/1000) > 0.5 || !(r["load_ms"].(float64) > 0) {
			t.Errorf("row %d: %v kB, loaded in %v ms", i, r["file_kb"], r["load_ms"])
		}
		if !(fast > 0 && fast <= p99) {
			t.Errorf("row %d: %v", i, r)
		}
	}
}

// The models of the rows without a file check themselves when they are loaded.
func TestInventedModelsHaveSelfChecks(t *testing.T) {
	p, _ := plant.Named("lorenz")
	for _, form := range []string{"paper", "default"} {
		m := invented(&p, form, 50, nil)
		if len(m.Checks) != 3 {
			t.Errorf("%s: %d checks", form, len(m.Checks))
		}
		m.Checks[1].Mean[0] += 1e-3
		j := job{m: m, points: 5}
		if _, _, err := j.load([]float64{m.Horizon}); err == nil || !strings.Contains(err.Error(), "self-check 1") {
			t.Errorf("%s: loaded with a check that does not hold: %v", form, err)
		}
	}
}

func TestWrongUsage(t *testing.T) {
	for _, args := range [][]string{{"--points", "0"}, {"--duration", "0s"}, {"--speed"}, {"file"}} {
		if code, errs := bench(io.Discard, args...); code != cli.Wrong || errs == "" {
			t.Errorf("%v: code %d, %q", args, code, errs)
		}
	}
	if code, errs := bench(io.Discard, "--model", "missing.dgm"); code != cli.Failed || !strings.Contains(errs, "missing.dgm") {
		t.Errorf("code %d, %q", code, errs)
	}
}

func TestRows(t *testing.T) {
	found := map[string]int{}
	for _, j := range standard(nil) {
		found[j.system+" "+j.form]++
		if err := j.m.Check(); err != nil || j.m.Displacement != (j.form == "default") {
			t.Errorf("%s, %s: %v", j.system, j.form, err)
		}
	}
	for _, name := range []string{"lotka-volterra", "lorenz", "double-pendulum", "quadrotor"} {
		if found[name+" paper"] < 3 || found[name+" default"] < 1 {
			t.Errorf("%s: %v", name, found)
		}
	}
	if n := len(standard([]int{10})); n != 16 {
		t.Errorf("%d rows of 10 points", n)
	}
}

// A long time that goes away is none of the query's, one that stays is.
func TestTransientWorstTimeIsMeasuredAgain(t *testing.T) {
	once := []Least{10, 10, 30, 10, 10}
	if worst := settle(once, func(i int) { once[i].Keep(10) }); worst != 1 {
		t.Errorf("disturbed once: %v", worst)
	}
	always := []Least{10, 10, 30, 10, 10}
	if worst := settle(always, func(i int) { always[i].Keep([]time.Duration{10, 10, 13, 10, 10}[i]) }); worst != 1.3 {
		t.Errorf("always longer: %v", worst)
	}
}
