package predictors

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// flightDocument is a flight for the predictors of Python libraries.
type flightDocument struct {
	T numbers `json:"t"` // n, s
	X numbers `json:"x"` // n×K, angles unwrapped; NaN = not measured
	U numbers `json:"u"` // n×P; NaN = not known yet
}

// numbers is written with null for NaN.
type numbers []float64

func (n numbers) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, v := range n {
		if i > 0 {
			out = append(out, ',')
		}
		if math.IsNaN(v) {
			out = append(out, "null"...)
		} else {
			out = strconv.AppendFloat(out, v, 'g', -1, 64)
		}
	}
	return append(out, ']'), nil
}

// libraries are the predictors of Python libraries, as python/studies/predictors names them, in the order of the table.
var libraries = []string{"ridge", "gaussian-process", "koopman", "state-space", "pets"}

// libraryTask is what python/studies/libraries.py reads: flights, and windows as pairs of a
// flight and a sample.
type libraryTask struct {
	States       []string         `json:"states"`
	Inputs       []string         `json:"inputs"`
	Periodic     []bool           `json:"periodic"`
	Invariant    []bool           `json:"invariant"`
	Derivative   []int            `json:"derivative"` // place of the state that is this one's rate; -1 = none
	Times        []float64        `json:"times"`
	Train        []flightDocument `json:"train"`
	Test         []flightDocument `json:"test"`
	TrainWindows [][2]int         `json:"train_windows"`
	TestWindows  [][2]int         `json:"test_windows"`
	Record       *flightDocument  `json:"record"`  // (optional) to simulate: nothing is measured after the initial samples
	Initial      int              `json:"initial"` // samples
}

// libraryResult is a predictor that the script has fitted.
type libraryResult struct {
	Name    string    `json:"name"`
	Seconds float64   `json:"seconds"`
	Mean    []float64 `json:"mean"`   // W×T×K, displacements
	Std     []float64 `json:"std"`    // W×T×K
	Half50  []float64 `json:"half50"` // W×T×K, over the standard deviation
	Record  []float64 `json:"record"` // (optional) n×K, states of the simulated record
}

// python is the interpreter and the script that fits predictors of libraries.
type python struct{ program, script string }

// fit runs the script on a recording and returns the predictor of a name.
func (p python) fit(ctx context.Context, d *data, name string) (out predictor, err error) {
	dir, err := os.MkdirTemp("", "dgm-bench-")
	if err != nil {
		return out, err
	}
	defer os.RemoveAll(dir)
	task, answer := filepath.Join(dir, "task.json"), filepath.Join(dir, "result.json")
	of := taskOf(d)
	b, err := json.Marshal(of)
	if err != nil {
		return out, err
	}
	if err := os.WriteFile(task, b, 0o600); err != nil {
		return out, err
	}
	run := exec.CommandContext(ctx, p.program, p.script, name, task, answer)
	if said, err := run.CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(said)), "\n")
		return out, fmt.Errorf("%s %s: %w: %s", p.program, p.script, err, lines[len(lines)-1])
	}
	if b, err = os.ReadFile(answer); err != nil {
		return out, err
	}
	if out, err = decode(b, len(of.TestWindows), len(of.Times)*len(of.States)); err != nil {
		return out, fmt.Errorf("result of %s: %w", p.script, err)
	}
	return out, nil
}

// decode returns the predictor of a script's answer, for windows of size values each.
func decode(b []byte, windows, size int) (predictor, error) {
	var r libraryResult
	if err := json.Unmarshal(b, &r); err != nil {
		return predictor{}, err
	}
	return r.predictor(windows, size)
}

// predictor returns the result as a predictor of windows, each of so many values.
func (r *libraryResult) predictor(windows, size int) (predictor, error) {
	for _, part := range [][]float64{r.Mean, r.Std, r.Half50} {
		if len(part) != windows*size {
			return predictor{}, fmt.Errorf("%s: there are %d values, and %d windows of %d", r.Name, len(part), windows, size)
		}
	}
	out := predictor{name: r.Name, seconds: r.Seconds, predict: func(mean, std []float64, w *replay.Window) error {
		from := w.Number * size
		copy(mean, r.Mean[from:from+size])
		copy(std, r.Std[from:from+size])
		return nil
	}, half50: func(w *replay.Window, place int) float64 { return r.Half50[w.Number*size+place] }}
	if len(r.Record) > 0 {
		out.simulate = func(f *window.Flight, initial int) error {
			if len(r.Record) != len(f.X) {
				return fmt.Errorf("there are %d values of the record, and %d samples of %d", len(r.Record), f.N(), f.K)
			}
			copy(f.X[initial*f.K:], r.Record[initial*f.K:])
			return nil
		}
	}
	return out, nil
}

func taskOf(d *data) *libraryTask {
	out := &libraryTask{Times: d.of.horizons, Initial: d.of.initial}
	if d.record != nil {
		f := d.unmeasured()
		out.Record = &flightDocument{T: f.T, X: f.X, U: f.U}
	}
	for _, c := range d.task.States {
		out.States, out.Periodic = append(out.States, c.Name), append(out.Periodic, c.Period > 0)
		out.Invariant, out.Derivative = append(out.Invariant, c.Invariant), append(out.Derivative, channel.Index(d.task.States, c.Derivative))
	}
	for _, c := range channel.Select(d.train.Channels, channel.Input) {
		out.Inputs = append(out.Inputs, c.Name)
	}
	out.Train, out.TrainWindows = documents(d.train.Flights, window.Cut(d.train.Flights, d.task.Horizon, d.of.stride))
	out.Test, out.TestWindows = documents(d.test, window.Cut(d.test, d.task.Horizon, testStride))
	return out
}

func documents(flights []window.Flight, windows []window.Window) (all []flightDocument, at [][2]int) {
	for i := range flights {
		f := &flights[i]
		all = append(all, flightDocument{T: f.T, X: f.X, U: f.U})
	}
	for _, w := range windows {
		at = append(at, [2]int{w.Flight, w.Start})
	}
	return all, at
}
