package node

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/node/internal/recording"
	"github.com/dgm-robotics/dgm/estimator/node/journal"
	"github.com/dgm-robotics/dgm/estimator/ood"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// otherPendulum is a model of the same channels with other numbers.
func otherPendulum(seed uint64) *model.Model {
	return artificial.New(artificial.Size{K: 2, P: 1, Features: 20, Basis: 1, Points: 10, Horizon: 1}, seed)
}

// swinging is a model whose intervals grow with the predicted motion and with the
// distance to the training data, as those of trained models do.
func swinging() *model.Model {
	m := pendulum()
	knots := m.K * len(m.NoiseKnots)
	m.ScaleFactor, m.OODExponent = [][]float64{slices.Repeat([]float64{1}, knots)}, []float64{0.3}
	m.OOD.Near, m.OOD.Far = 0.5, 4
	m.RMSDisplacement = ood.RMSDisplacement{Typical: slices.Repeat([]float64{0.5}, knots), Min: 0.3, Max: 3, Exponent: []float64{0.7}}
	return m
}

// flight records a flight with everything that changes predictions: plans,
// covariances, errors that the factor learns from, late and lost states, another
// model on the way, ticks that have no time.
func flight(t *testing.T, rate float64) (path string) {
	t.Helper()
	return flightOf(t, rate, pendulum())
}

// flightOf is the flight of a model.
func flightOf(t *testing.T, rate float64, m *model.Model) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "out.msgpack")
	n, c, nc, predictions := offlineWith(t, Config{Rate: rate, AgeLimit: 60 * time.Millisecond, Record: path}, m)
	var err error
	if n.worker.recorder, err = recording.New(path, n.models.settings, 0); err != nil {
		t.Fatal(err)
	}
	n.worker.recorder.Model(n.worker.engine.Loaded)
	for i := range uint64(400) {
		c.pass(10 * ms)
		s := wire.State{Seq: i + 1, T: c.unix - int64(i%7)*ms, X: []float64{math.Sin(float64(i) / 9), math.Cos(float64(i) / 5)}}
		switch i % 4 {
		case 1:
			s.U = []float64{0.2}
		case 2:
			s.Plan, s.PlanDt, s.P0 = []float64{0.1, 0.2, 0.3}, []float64{0, 1. / 3, 0.5, 0.2, 0}[i/4%5], []float64{1e-3, 0, 0, 2e-3}
		case 3:
			s.X[0] += 1 // far off what was predicted
		}
		if i%11 != 5 {
			n.intake.Receive(s.Append(nil), 0)
		}
		if i == 200 {
			if err := n.Swap(otherPendulum(9)); err != nil {
				t.Fatal(err)
			}
		}
		switch {
		case rate > 0:
			if i%50 == 7 {
				n.worker.engine.Loaded.Ladder.Costs[0].Mean = 1e9
			}
			n.worker.tick(nc, i+1, c.steady)
		default:
			if a := n.intake.Mailbox.Get(); a != nil {
				c.pass(int64(i%5) * 20 * ms)
				n.worker.answer(nc, a)
			}
		}
	}
	if err := n.worker.recorder.Close(); err != nil {
		t.Fatal(err)
	}
	for range 50 { // at least
		predictions.prediction()
	}
	return path
}

func replayed(t *testing.T, path string, with ReplayConfig) (Replayed, error) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return Replay(bytes.NewReader(b), "out.msgpack", with)
}

func TestReplayEqualsFlight(t *testing.T) {
	for name, m := range map[string]*model.Model{"usual": pendulum(), "swinging": swinging()} {
		for _, rate := range []float64{0, 100} {
			path := flightOf(t, rate, m)
			sum, err := replayed(t, path, ReplayConfig{})
			if err != nil {
				t.Fatalf("%s, rate %v: %v", name, rate, err)
			}
			if sum.Models != 2 || sum.States < 300 || sum.Predictions < 300 || sum.Lost != 0 || sum.Torn {
				t.Errorf("%s, rate %v: replayed %+v", name, rate, sum)
			}
		}
	}
	// The motion is in what flew: with a model that does not count it, other bits follow.
	still := swinging()
	still.RMSDisplacement = ood.RMSDisplacement{}
	_, err := replayed(t, flightOf(t, 0, swinging()), ReplayConfig{Model: still})
	if err == nil || !strings.Contains(err.Error(), "std has other bits") {
		t.Errorf("replayed without the motion: %v", err)
	}
}

func TestReplayNamesWhatDiffers(t *testing.T) {
	path := flight(t, 0)
	h := func() Config {
		return Config{Vehicle: "v1", AgeLimit: 60 * time.Millisecond}
	}
	for name, c := range map[string]struct {
		with ReplayConfig
		part []string
	}{
		"other model":    {ReplayConfig{Model: otherPendulum(77)}, []string{"other model: model ", "instead of the recorded ", "record 3", "seq 1", "mean has other bits"}},
		"other limit":    {ReplayConfig{Config: func() *Config { c := h(); c.AgeLimit = 20 * time.Millisecond; return &c }()}, []string{"other configuration: ", "age_limit is 20ms and was 60ms", "std has other bits"}},
		"without trust":  {ReplayConfig{Config: func() *Config { c := h(); c.NoTrust = true; return &c }()}, []string{"trust off is true and was false", "factor has other bits"}},
		"plain":          {ReplayConfig{Config: func() *Config { c := h(); c.Plain = true; return &c }()}, []string{"predictor = fast is false and was true", "mean has other bits"}},
		"other validity": {ReplayConfig{Config: func() *Config { c := h(); c.Validity = 500 * time.Millisecond; return &c }()}, []string{"validity is 500ms and was 1s", "valid_until is"}},
	} {
		_, err := replayed(t, path, c.with)
		var d *Difference
		if !errors.As(err, &d) {
			t.Fatalf("%s: %v", name, err)
		}
		for _, part := range c.part {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v, want %q in it", name, err, part)
			}
		}
	}
	if _, err := replayed(t, path, ReplayConfig{Config: func() *Config { c := h(); return &c }()}); err != nil {
		t.Errorf("the configuration that flew, given again: %v", err)
	}
}

// rewrite copies the records of a journal that keep wants, as bytes.
func rewrite(t *testing.T, path string, keep func(i int, k journal.Kind) bool) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := journal.NewReader(bytes.NewReader(b), "all")
	if err != nil {
		t.Fatal(err)
	}
	var places []int64
	var kinds []journal.Kind
	for {
		k, err := r.Next()
		if err != nil {
			break
		}
		_, at := r.Record()
		places, kinds = append(places, at), append(kinds, k)
	}
	out := append([]byte(nil), b[:places[0]]...)
	places = append(places, int64(len(b)))
	for i, k := range kinds {
		if keep(i, k) {
			out = append(out, b[places[i]:places[i+1]]...)
		}
	}
	return out
}

func TestReplayOfAJournalThatLacksSomething(t *testing.T) {
	path := flight(t, 0)
	states := 0
	less := rewrite(t, path, func(_ int, k journal.Kind) bool {
		if k == journal.KindState {
			states++
		}
		return k != journal.KindState || states != 100
	})
	_, err := Replay(bytes.NewReader(less), "less", ReplayConfig{})
	var d *Difference
	if !errors.As(err, &d) || !strings.Contains(err.Error(), "missing input: 1 records") {
		t.Errorf("without a state: %v", err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := Replay(bytes.NewReader(b[:len(b)*2/3]), "torn", ReplayConfig{})
	if err != nil || !sum.Torn || sum.Predictions < 50 {
		t.Errorf("cut off: %+v, %v", sum, err)
	}
	sum, err = Replay(bytes.NewReader(append(b[:len(b)*2/3:len(b)*2/3], make([]byte, 4096)...)), "zeros", ReplayConfig{})
	if !sum.Torn && err == nil {
		t.Errorf("zeros at the end: %+v, %v", sum, err)
	}
	b[len(b)/2] ^= 4
	var e *journal.Error
	if _, err = Replay(bytes.NewReader(b), "damaged", ReplayConfig{}); !errors.As(err, &e) || !strings.Contains(err.Error(), "damaged: record ") {
		t.Errorf("damaged: %v", err)
	}
	if _, err = Replay(strings.NewReader("a flight log"), "other", ReplayConfig{}); err == nil {
		t.Error("something else was replayed")
	}
}

// Over NATS, on all goroutines.
func TestRecordedLive(t *testing.T) {
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	path := filepath.Join(t.TempDir(), "out.msgpack")
	n, stop := run(t, nc, Config{Record: path}, pendulum())
	predictions := listen(t, nc, wire.AllPredictions)
	for i := range uint64(60) {
		send(t, nc, i+1)
		predictions.prediction()
		if i == 30 {
			if err := n.Swap(otherPendulum(3)); err != nil {
				t.Fatal(err)
			}
		}
	}
	stop()
	sum, err := replayed(t, path, ReplayConfig{})
	if err != nil || sum.Predictions != 60 || sum.Models != 2 || sum.Torn {
		t.Errorf("replayed %+v: %v", sum, err)
	}
}

func TestADiskThatDoesNotTakeTheRecording(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("a full disk: there is no /dev/full")
	}
	dir := t.TempDir()
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	n, err := New(Config{Vehicle: "v1", Record: filepath.Join(dir, "no", "such", "folder")}, pendulum())
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Run(t.Context(), nc); err == nil || !strings.Contains(err.Error(), "recording: ") {
		t.Errorf("a folder that is not there: %v", err)
	}
	run(t, nc, Config{Record: filepath.Join(dir, "out.msgpack"), RecordLimit: 30000}, pendulum())
	predictions := listen(t, nc, wire.AllPredictions)
	statuses := listen(t, nc, wire.StatusSubject("v1"))
	for i := range uint64(500) {
		send(t, nc, i+1)
		predictions.prediction()
	}
	statuses.status("the end of the recording", func(s *wire.Status) bool { return strings.Contains(s.Recording, "limit") })
	send(t, nc, 501)
	predictions.prediction() // and it goes on predicting
}
