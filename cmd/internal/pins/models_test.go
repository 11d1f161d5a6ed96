package pins

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
	"github.com/dgm-robotics/dgm/firmware-sim/record"
	"github.com/dgm-robotics/dgm/firmware-sim/robot"
	"github.com/dgm-robotics/dgm/trainer"
)

var update = flag.Bool("update", false, "write the pins anew")

// pin is a trained model with some of its predictions.
type pin struct {
	Processor string       `json:"processor"` // architecture and vector unit on which the rest was computed
	Log       string       `json:"log_sha256"`
	Model     string       `json:"model_sha256"` // without the name of the tool and the sentence of the verdict
	Rows      []prediction `json:"predictions"`
}

// prediction is what one query is answered at the pinned times.
type prediction struct {
	Query string `json:"query"`
	Plain answer `json:"plain"`
	Fast  answer `json:"fast"`
}

type answer struct {
	Mean   []float64 `json:"mean"`
	Std    []float64 `json:"std"`
	ObsStd []float64 `json:"obs_std"`
	OOD    float64   `json:"ood"`
}

// A fast prediction, or one on another processor, differs by rounding; a model trained
// on another processor by what rounding does in thousands of steps. In standard
// deviations, and relative for the standard deviations themselves.
const otherProcessor = 0.1

func TestTrainedModels(t *testing.T) {
	if os.Getenv("DGM_SLOW") == "" {
		t.Skip("trains models by the default recipe; DGM_SLOW=1 runs it")
	}
	// The default recipe; the time limit is out of reach, so that what is trained does not
	// depend on the machine's speed, with an eighth of the steps of nets in the equation.
	for _, robot := range []struct {
		name    string
		log     func(*testing.T) []byte
		horizon time.Duration
	}{
		{"pendulum", pendulum, time.Second},
		{"driven-double-pendulum", drivenDoublePendulum, 500 * time.Millisecond},
		{"quadrotor", quadrotor, 500 * time.Millisecond},
	} {
		t.Run(robot.name, func(t *testing.T) {
			t.Parallel()
			log := robot.log(t)
			cfg := trainer.Default()
			cfg.Dynamics.Match, cfg.Dynamics.Shoot = cfg.Dynamics.Match/8, cfg.Dynamics.Shoot/8
			cfg.Horizon, cfg.Budget = trainer.Duration(robot.horizon), trainer.Duration(1000*time.Hour)
			compare(t, filepath.Join("testdata", robot.name+".json"), trained(t, log, cfg))
		})
	}
}

// A model of few steps, windows and features, in every run, so that a change of what is trained shows at once; filters, equations of
// motion and dead times of inputs are those of TestTrainedModels.
func TestSmallModel(t *testing.T) {
	if testing.Short() {
		t.Skip("trains: long under the race detector")
	}
	cfg := trainer.Quick()
	cfg.Horizon, cfg.Budget, cfg.Points, cfg.Members, cfg.Features = trainer.Duration(500*time.Millisecond), trainer.Duration(1000*time.Hour), 5, 1, 20
	cfg.Filter, cfg.Stride, cfg.Equation.Motion, cfg.Equation.Actuators = "off", trainer.Duration(50*time.Millisecond), false, false
	cfg.Equation.Windows, cfg.Equation.Iterations, cfg.Folds.Windows = 100, 10, 200
	cfg.Training.Steps, cfg.Training.Batch, cfg.Training.Rows = 10, 20, 500
	compare(t, filepath.Join("testdata", "small.json"), trained(t, simulated(t, plant.Pendulum(), 4, 3*time.Second), cfg))
}

// trained returns the pin of a recipe.
func trained(t *testing.T, log []byte, cfg trainer.Config) pin {
	path := filepath.Join(t.TempDir(), "flight.msgpack")
	if err := os.WriteFile(path, log, 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := flightlog.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data, err := trainer.Load([]*flightlog.Log{read}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	res, err := trainer.Train(context.Background(), data, cfg, func(trainer.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	m := *res.Model
	m.Provenance.Tool, m.Provenance.Verdict = "", ""
	file, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return pin{
		Processor: runtime.GOARCH + " " + estimator.Vectors(), Log: sum(log), Model: sum(file),
		Rows: predictions(t, res.Model, read),
	}
}

// predictions asks both predictors from states of the log.
func predictions(t *testing.T, m *model.Model, log *flightlog.Log) []prediction {
	times := []float64{0.1 * m.Horizon, 0.5 * m.Horizon, m.Horizon}
	plain, err := estimator.New(m, times)
	if err != nil {
		t.Fatal(err)
	}
	fast, err := estimator.NewFast(m, times)
	if err != nil {
		t.Fatal(err)
	}
	s := &log.Segments[0]
	x0 := func(i int) []float64 { return s.X[i*m.K : (i+1)*m.K] }
	covariance := make([]float64, m.K*m.K)
	for k := range m.K {
		covariance[k*m.K+k] = 9 * m.Sensor[k]
	}
	outside := slices.Clone(x0(100))
	for k := range outside {
		outside[k] += 3 * m.Scale[k]
	}
	queries := map[string]estimator.Query{
		"hold":       {X0: x0(100), U: s.U[100*m.P : 101*m.P]},
		"covariance": {X0: x0(170), U: s.U[170*m.P : 171*m.P], P0: covariance},
		"outside":    {X0: outside, U: s.U[100*m.P : 101*m.P]},
	}
	names := []string{"hold", "covariance", "outside"}
	if m.P > 0 {
		queries["plan"] = estimator.Query{X0: x0(150), U: s.U[150*m.P : 151*m.P], Plan: s.U[150*m.P : 170*m.P]}
		names = append(names, "plan")
	}
	var rows []prediction
	for _, name := range names {
		q := queries[name]
		row := prediction{Query: name}
		a, b := plain.NewPrediction(), fast.NewPrediction()
		if !plain.Predict(a, &q) || !fast.Predict(b, &q) {
			t.Fatalf("query %q is not answered", name)
		}
		row.Plain, row.Fast = answerOf(a), answerOf(b)
		rows = append(rows, row)
	}
	return rows
}

func answerOf(p *estimator.Prediction) answer {
	return answer{Mean: slices.Clone(p.Mean), Std: slices.Clone(p.Std), ObsStd: slices.Clone(p.ObsStd), OOD: p.OOD}
}

// compare holds got against the committed pin: bit by bit on the processor that it was
// made on, else by tolerance.
func compare(t *testing.T, path string, got pin) {
	var want pin
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if *update || err != nil {
		var text bytes.Buffer
		e := json.NewEncoder(&text)
		e.SetIndent("", " ")
		if err := e.Encode(got); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		if !*update {
			t.Errorf("%s was missing and is written now", path)
		}
		return
	}
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if got.Log != want.Log && got.Processor == want.Processor {
		t.Errorf("the simulated log changed: SHA-256 %s, pinned %s", got.Log, want.Log)
	}
	if len(got.Rows) != len(want.Rows) {
		t.Fatalf("%d predictions, %d pinned", len(got.Rows), len(want.Rows))
	}
	exact := got.Processor == want.Processor
	if exact {
		t.Logf("compared bit by bit: both on %s", got.Processor)
		if got.Model != want.Model {
			t.Errorf("the trained model changed: SHA-256 %s, pinned %s", got.Model, want.Model)
		}
	} else {
		t.Logf("compared by tolerance: here %s, pinned on %s", got.Processor, want.Processor)
	}
	for i, w := range want.Rows {
		g := got.Rows[i]
		if g.Query != w.Query {
			t.Fatalf("prediction %d is of query %q, pinned %q", i, g.Query, w.Query)
		}
		differ(t, w.Query+", plain", g.Plain, w.Plain, exact)
		differ(t, w.Query+", fast", g.Fast, w.Fast, exact)
	}
}

// differ reports the first number of an answer that is not as pinned.
func differ(t *testing.T, name string, got, want answer, exact bool) {
	if exact {
		if !slices.Equal(got.Mean, want.Mean) || !slices.Equal(got.Std, want.Std) || !slices.Equal(got.ObsStd, want.ObsStd) || got.OOD != want.OOD {
			t.Errorf("%s:\n got %v\nwant %v", name, got, want)
		}
		return
	}
	if len(got.Mean) != len(want.Mean) {
		t.Errorf("%s: %d numbers, pinned %d", name, len(got.Mean), len(want.Mean))
		return
	}
	for i, w := range want.Mean {
		if d := math.Abs(got.Mean[i] - w); !(d <= otherProcessor*want.ObsStd[i]) {
			t.Errorf("%s: mean %d is %v, pinned %v, standard deviation %v", name, i, got.Mean[i], w, want.ObsStd[i])
		}
		if r := got.ObsStd[i] / want.ObsStd[i]; !(math.Abs(math.Log(r)) <= otherProcessor) {
			t.Errorf("%s: obs_std %d is %v, pinned %v", name, i, got.ObsStd[i], want.ObsStd[i])
		}
	}
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func pendulum(t *testing.T) []byte  { return simulated(t, plant.Pendulum(), 5, 4*time.Second) }
func quadrotor(t *testing.T) []byte { return simulated(t, plant.QuadrotorFlown(), 5, 2*time.Second) }

func simulated(t *testing.T, p plant.Plant, segments int, length time.Duration) []byte {
	o := record.Options{Robot: robot.Typical(p), Vehicle: "pinned", Segments: segments, Samples: int(length.Seconds()*100) + 1}
	o.Robot.Rate, o.Robot.Seed = 100, 5
	var b bytes.Buffer
	w, err := flightlog.NewWriter(&b, o.Header(false))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := record.Run(context.Background(), o, w, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var driven = flightlog.Header{
	Vehicle: "pinned",
	Channels: []channel.Channel{
		{Name: "q1", Unit: "rad", Role: channel.State, Derivative: "w1", Period: 2 * math.Pi},
		{Name: "q2", Unit: "rad", Role: channel.State, Derivative: "w2", Period: 2 * math.Pi},
		{Name: "w1", Unit: "rad/s", Role: channel.State},
		{Name: "w2", Unit: "rad/s", Role: channel.State},
		{Name: "tau1", Unit: "N m", Role: channel.Input},
		{Name: "tau2", Unit: "N m", Role: channel.Input},
	},
}
