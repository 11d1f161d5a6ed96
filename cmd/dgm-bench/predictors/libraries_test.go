package predictors

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/trainer"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// wander is a recording of a rate that white noise changes, and its integral.
func wander() *data {
	task := window.Task{States: []channel.Channel{{Name: "x", Role: channel.State, Derivative: "v"}, {Name: "v", Role: channel.State}}, Horizon: 0.25}
	rng := rand.New(rand.NewPCG(1, 2))
	var flights []window.Flight
	for at := range 6 {
		s, x, v := window.Series{Name: "wander"}, 0.0, 3*rng.NormFloat64()
		for i := range 500 {
			s.T, s.X = append(s.T, int64(i)*1e7), append(s.X, x, v)
			x += 0.01 * v
			v += 0.1 * rng.NormFloat64()
		}
		flights = append(flights, window.Prepare(at, s, task.States, 0, window.Options{})...)
	}
	return &data{of: &recording{horizons: []float64{0.05, 0.25}, stride: 0.01}, task: task, train: &trainer.Data{Flights: flights[:5]}, test: flights[5:]}
}

// script writes a shell script that answers each task for the predictor "still" with so many values
// of mean 0, and returns what runs it.
func script(t *testing.T, values int) python {
	t.Helper()
	row := func(v string) string { return "[" + strings.TrimSuffix(strings.Repeat(v+",", values), ",") + "]" }
	dir := t.TempDir()
	answer := fmt.Sprintf(`{"name":"still","seconds":2.5,"mean":%s,"std":%s,"half50":%s}`, row("0"), row("1"), row("0.5"))
	text := fmt.Sprintf("test \"$1\" = still && test -s \"$2\" || { echo no package; exit 1; }\ncp %q \"$3\"\n", filepath.Join(dir, "answer"))
	for name, content := range map[string]string{"answer": answer, "script": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return python{"sh", filepath.Join(dir, "script")}
}

func TestPredictorsOfLibrariesAreScoredOnTheSameWindows(t *testing.T) {
	d := wander()
	size := len(window.Cut(d.test, d.task.Horizon, testStride)) * len(d.of.horizons) * len(d.task.States)
	p, err := script(t, size).fit(t.Context(), d, "still")
	if err != nil || p.name != "still" || p.seconds != 2.5 {
		t.Fatalf("%+v, %v", p, err)
	}
	row := study.NewRow(study.Key{Set: "wander"})
	if err := measure(row, d, &p); err != nil {
		t.Fatal(err)
	}
	if geo := row.Number("geo"); geo != 1 { // it holds
		t.Errorf("the error is %g of hold's", geo)
	}
	if by := row.Numbers("coverage95_by_channel"); len(by) != 2 || by[0] == 0 || by[0] > 1 {
		t.Errorf("by channel %v", by)
	}
	if _, err := script(t, size-1).fit(t.Context(), d, "still"); err == nil || !strings.Contains(err.Error(), "values") {
		t.Errorf("an answer that is too short: %v", err)
	}
	if _, err := script(t, size).fit(t.Context(), d, "absent"); err == nil || !strings.HasSuffix(err.Error(), ": no package") {
		t.Errorf("a predictor whose package is not there: %v", err)
	}
}

func TestPredictorsAreThoseOfTheScript(t *testing.T) {
	run := exec.Command("python3", "-B", "-c", "import predictors; print(*predictors.PREDICTORS)")
	run.Dir = filepath.Join("..", "..", "..", "python", "studies")
	out, err := run.Output()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("python3 is not here")
	}
	if got := strings.Fields(string(out)); err != nil || !slices.Equal(got, libraries) {
		t.Errorf("%v, %v in place of %v", got, err, libraries)
	}
}

func TestNumbersThatAreNotMeasuredAreNull(t *testing.T) {
	b, err := json.Marshal(flightDocument{T: numbers{0, 0.01}, X: numbers{1, math.NaN()}})
	if want := `{"t":[0,0.01],"x":[1,null],"u":[]}`; err != nil || string(b) != want {
		t.Errorf("%s, %v", b, err)
	}
}

func FuzzAnswerOfLibraries(f *testing.F) {
	f.Add([]byte(`{"name":"a","seconds":1,"mean":[0,1],"std":[1,1],"half50":[0.5,0.6]}`))
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"mean":[0]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := decode(b, 1, 2)
		if err != nil {
			return
		}
		mean, std, w := make([]float64, 2), make([]float64, 2), &replay.Window{}
		if err := p.predict(mean, std, w); err != nil || math.IsNaN(p.half50(w, 1)) {
			t.Fatal(err)
		}
	})
}
