package ridge

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

const step = 0.01 // s between samples

var one = []channel.Channel{{Name: "x", Role: channel.State}}

// flight returns n samples of one state and inputs as a flight of a segment.
func flight(segment int, t, x, u []float64) window.Flight {
	s := window.Series{X: x, U: u}
	for _, v := range t {
		s.T = append(s.T, int64(math.Round(v*1e9)))
	}
	return window.Prepare(segment, s, one, len(u)/len(t), window.Options{})[0]
}

func even(n int) []float64 {
	t := make([]float64, n)
	for i := range t {
		t[i] = step * float64(i)
	}
	return t
}

const delay = 3 // samples

// delayed returns a flight of x⁺ = 0.9 x + 0.2 u(three samples before) + noise, under an
// input that changes at every sample.
func delayed(segment, n int, noise float64) window.Flight {
	rng := rand.New(rand.NewPCG(uint64(segment), 3))
	x, u := make([]float64, n), make([]float64, n)
	for i := range n {
		u[i] = rng.NormFloat64()
		if i > delay {
			x[i] = 0.9*x[i-1] + 0.2*u[i-1-delay] + noise*rng.NormFloat64()
		}
	}
	return flight(segment, even(n), x, u)
}

func several(noise float64) []window.Flight {
	var out []window.Flight
	for i := range 5 {
		out = append(out, delayed(i, 400, noise))
	}
	return out
}

// fitted is a fit and what predicts with it.
type fitted struct {
	*Fitted
	cfg Config
	run *direct.Map
	P   int
}

// lags returns the edges of so many rows, one sample each.
func lags(n int) history.Spec {
	var s history.Spec
	for j := range n {
		s.Edges = append(s.Edges, step*float64(j+1))
	}
	return s
}

func fit(t *testing.T, flights []window.Flight, cfg Config) *fitted {
	t.Helper()
	H := cfg.Times[len(cfg.Times)-1]
	if cfg.Readouts == nil {
		cfg.Readouts = []model.Readout{model.Plan}
	}
	cfg.Blocks, cfg.Products = 5, 24
	task := window.Task{States: one, Inputs: flights[0].P, Horizon: H}
	f, err := Fit(context.Background(), flights, window.Folds(flights, H, 4), task, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &fitted{f, cfg, direct.New(&f.Model, 1, H), flights[0].P}
}

// predict returns the displacement at the last time, with at most so many rows of history,
// and how many were read.
func (f *fitted) predict(w *replay.Window, most int) (mean float64, rows int) {
	spec := history.Spec{Edges: f.cfg.History.Edges[:min(most, f.cfg.History.Rows())]}
	past := w.History(spec)
	rows = len(past) / (1 + f.P)
	readout := int(f.cfg.Readouts[0])
	var u channel.Signal = &w.Input
	if readout == int(model.Hold) {
		u = &replay.Held{Value: w.Flight.Input(w.Start)}
	}
	f.run.Run(w.X0, u, readout, past)
	out := []float64{0}
	f.run.At(out, nil, f.cfg.Times[len(f.cfg.Times)-1])
	return out[0], f.Model.Level(readout, rows).Rows
}

// accuracy returns the RMSE over that of holding at the last time of windows that have
// history.
func accuracy(m *fitted, f window.Flight, most int) (ratio float64) {
	T := len(m.cfg.Times)
	windows := window.Cut([]window.Flight{f}, m.cfg.Times[T-1], 0)[30:]
	square, hold := 0.0, 0.0
	for w := range replay.Each([]window.Flight{f}, windows, m.cfg.Times) {
		mean, _ := m.predict(w, most)
		e := w.Measured[T-1] - mean
		square += e * e
		hold += w.Measured[T-1] * w.Measured[T-1]
	}
	return math.Sqrt(square / hold)
}

func levels(m *fitted) (rows []int) {
	for _, l := range m.Model.Levels {
		rows = append(rows, l.Rows)
	}
	return rows
}

func TestDelayNeedsHistory(t *testing.T) {
	m := fit(t, several(0), Config{Times: []float64{step, 2 * step}, History: lags(5), Rows: []int{1, 2, 3, 5}})
	if got := levels(m); !reflect.DeepEqual(got, []int{0, 1, 2, 3, 5}) {
		t.Fatalf("levels %v", got)
	}
	unseen := delayed(9, 400, 0)
	for most, exact := range map[int]bool{0: false, 2: false, 3: true, 5: true, 99: true} {
		ratio := accuracy(m, unseen, most)
		if exact != (ratio < 1e-4) || !exact && ratio < 0.3 {
			t.Errorf("%d earlier samples: %v of the error of holding", most, ratio)
		}
	}
	if m.Errors[0] < 0.3 || m.Errors[4] > 1e-4 || len(m.Folds) != 4 || len(m.Folds[3].Levels) != 5 {
		t.Errorf("errors on folds %v", m.Errors)
	}
}

// A fold's map does not see what its fold holds out: a flight that contradicts the others
// is explained by the map of all and not by that of its fold.
func TestMapsOfFolds(t *testing.T) {
	flights := several(0)
	for i := range flights[4].X { // its input acts the other way round
		flights[4].X[i] = -flights[4].X[i]
	}
	H := 2 * step
	folds := window.Folds(flights, H, 5)
	f, err := Fit(context.Background(), flights, folds, window.Task{States: one, Inputs: 1, Horizon: H}, Config{Times: []float64{H}, History: lags(3), Rows: []int{3}, Readouts: []model.Readout{model.Plan}, Blocks: 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Folds) != 5 {
		t.Fatalf("%d folds", len(f.Folds))
	}
	with, without := f.Model.Levels[1].Weights, f.Folds[4].Levels[1].Weights
	if math.Abs(without[len(without)-1]) < 1.5*math.Abs(with[len(with)-1]) {
		t.Errorf("weight of the oldest input: %v with the flight, %v without", with[len(with)-1], without[len(without)-1])
	}
}

// An integrator of an input: its means over the horizon are the answer.
func TestPlanAndHold(t *testing.T) {
	integrator := func(segment int) window.Flight {
		rng := rand.New(rand.NewPCG(uint64(segment), 4))
		x, u := make([]float64, 500), make([]float64, 500)
		for i := range x {
			if u[i] = rng.NormFloat64(); i > 0 {
				x[i] = x[i-1] + u[i-1]*step
			}
		}
		return flight(segment, even(len(x)), x, u)
	}
	flights := []window.Flight{integrator(1), integrator(2), integrator(3), integrator(4)}
	for _, readout := range []model.Readout{model.Plan, model.Hold} {
		m := fit(t, flights, Config{Times: []float64{10 * step}, Readouts: []model.Readout{readout}})
		ratio := accuracy(m, integrator(9), 0)
		if readout == model.Plan && ratio > 1e-4 || readout == model.Hold && (ratio < 0.8 || ratio > 1.05) {
			t.Errorf("%s: %v of the error of holding", readout, ratio)
		}
	}
}

// Two earlier samples of an oscillation at even times determine the rest: so they do where
// stamps jitter, up to the error of interpolating.
func TestJitteringStamps(t *testing.T) {
	oscillation := func(segment int) window.Flight {
		rng := rand.New(rand.NewPCG(uint64(segment), 5))
		at := even(600)
		x := make([]float64, len(at))
		for i := range at {
			at[i] += 0.4 * step * (rng.Float64() - 0.5)
			x[i] = math.Sin(4*at[i] + float64(segment))
		}
		return flight(segment, at, x, nil)
	}
	m := fit(t, []window.Flight{oscillation(1), oscillation(2), oscillation(3), oscillation(4)}, Config{Times: []float64{10 * step}, History: lags(2), Rows: []int{2}})
	unseen := oscillation(9)
	without := accuracy(m, unseen, 0)
	with := accuracy(m, unseen, 2)
	if without < 0.2 || with > 0.1 {
		t.Errorf("errors over holding: %v without history, %v with", without, with)
	}
}

// at returns what a model predicts at a sample, with all history there is.
func at(m *fitted, f *window.Flight, start int) (mean float64, history int) {
	w := replay.New(1, m.cfg.Times)
	w.Read(f, start)
	return m.predict(w, 99)
}

func TestHistoryStaysInItsFlight(t *testing.T) {
	m := fit(t, several(0.05), Config{Times: []float64{2 * step, 4 * step}, History: lags(5), Rows: []int{1, 2, 5}})
	f := delayed(9, 100, 0.05)
	part := f.Slice(40, 100)
	for start, want := range map[int]int{0: 0, 1: 1, 2: 2, 4: 2, 5: 5, 30: 5} {
		_, got := at(m, &part, start)
		if got != want {
			t.Errorf("%d samples after the beginning: history of %d, want %d", start, got, want)
		}
	}
	// The state is missing three samples before the start, and the neighbours are too far
	// away to interpolate between.
	x := append([]float64(nil), f.X...)
	for i := 20; i < 47; i++ {
		x[i] = math.NaN()
	}
	holed := flight(9, even(100), x, f.U)
	if _, got := at(m, &holed, 50); got != 2 {
		t.Errorf("after missing values: history of %d", got)
	}
}

// A fold's rows come from its own flights alone: the fit to flights of two segments is not
// changed by their order.
func TestSegmentsAreNotJoined(t *testing.T) {
	flights := several(0.05)
	swapped := []window.Flight{flights[1], flights[0], flights[2], flights[3], flights[4]}
	cfg := Config{Times: []float64{2 * step}, History: lags(5), Rows: []int{5}}
	a, b := fit(t, flights, cfg), fit(t, swapped, cfg)
	f := delayed(9, 100, 0.05)
	mean, _ := at(a, &f, 50)
	other, _ := at(b, &f, 50)
	if math.Abs(mean-other) > 1e-3 {
		t.Errorf("%v, in another order %v", mean, other)
	}
}

func TestErrorsOfFit(t *testing.T) {
	flights := several(0.05)
	plan := []model.Readout{model.Plan}
	for want, c := range map[string]struct {
		cfg     Config
		flights int
	}{
		"times []":             {Config{}, 5},
		"times [0.2 0.1]":      {Config{Times: []float64{0.2, 0.1}}, 5},
		"times [9]":            {Config{Times: []float64{9}}, 5},
		"levels of [5 1]":      {Config{Times: []float64{0.1}, History: lags(5), Rows: []int{5, 1}}, 5},
		"levels of [6]":        {Config{Times: []float64{0.1}, History: lags(5), Rows: []int{6}}, 5},
		"stride -1":            {Config{Times: []float64{0.1}, Stride: -1}, 5},
		"make no two folds":    {Config{Times: []float64{0.1}}, 1},
		"0 rows of history: t": {Config{Times: []float64{0.1}, Stride: 4, Readouts: plan, Blocks: 5}, 5},
	} {
		some := flights[:c.flights]
		_, err := Fit(context.Background(), some, window.Folds(some, 1.1, 4), window.Task{States: one, Inputs: 1, Horizon: 1.1}, c.cfg)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", want, err)
		}
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Fit(stopped, flights, window.Folds(flights, 0.1, 4), window.Task{States: one, Inputs: 1, Horizon: 0.1}, Config{Times: []float64{0.1}, Readouts: plan}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// The level that reads least is kept for starts with less history, one that reads more than
// helps is not.
func TestKeepBest(t *testing.T) {
	m := fit(t, several(0.05), Config{Times: []float64{step, 2 * step}, History: lags(9), Rows: []int{1, 2, 3, 9}})
	if rows := m.KeepBest(); rows != 3 || !reflect.DeepEqual(levels(m), []int{0, 1, 3}) || len(m.Errors) != 3 || len(m.Folds[3].Levels) != 3 {
		t.Errorf("%d rows, levels %v, of a fold %d, errors %v", rows, levels(m), len(m.Folds[3].Levels), m.Errors)
	}
}

// More history than the flights have windows for is left out.
func TestTooMuchHistoryIsLeftOut(t *testing.T) {
	m := fit(t, several(0.05), Config{Times: []float64{0.1}, History: history.Spec{Edges: []float64{step, 2 * step, 3.9}}, Rows: []int{2, 3}, Stride: 0.05})
	if got := levels(m); !reflect.DeepEqual(got, []int{0, 2}) {
		t.Errorf("levels %v", got)
	}
}

// The weights of the oldest long row are about half in the mean with fits that do not read it.
func TestMeanOverTheLengthOfTheHistory(t *testing.T) {
	cfg := Config{Times: []float64{0.05}, Sharpness: 8, Rows: []int{4}, History: history.Spec{Edges: []float64{0.01, 0.02, 0.03, 0.06}}, Stride: 0.01, Readouts: []model.Readout{model.Plan}, Blocks: 5}
	task, flights := window.Task{States: one, Inputs: 1, Horizon: 0.05}, several(0.1)
	level := func(shorter int) []float64 {
		cfg.Shorter = shorter
		f, err := Fit(context.Background(), flights, window.Folds(flights, 0.05, 4), task, cfg)
		if err != nil {
			t.Fatal(err)
		}
		return f.Model.Levels[1].Weights
	}
	all, mean := level(0), level(2)
	if len(all) != len(mean) {
		t.Fatalf("%d weights, %d without the mean", len(mean), len(all))
	}
	for c := len(all) - 2; c < len(all); c++ { // a state and an input in a row
		if ratio := mean[c] / all[c]; !(ratio > 0.3 && ratio < 0.7) {
			t.Errorf("column %d of %d: %v, %v of the fits that read all rows", c, len(all), mean[c], all[c])
		}
	}
}

// Slow samples, of a building or a tank, have no more history than a model may read.
func TestHistoryOfSlowSamples(t *testing.T) {
	for _, c := range []struct {
		interval float64
		rows     []int
	}{{0.02, []int{2, 6}}, {20, []int{2, 3}}, {40, []int{1}}, {100, nil}} {
		stamps := make([]float64, 100)
		for i := range stamps {
			stamps[i] = c.interval * float64(i)
		}
		f := flight(0, stamps, make([]float64, len(stamps)), make([]float64, len(stamps)))
		d := Default([]window.Flight{f}, window.Task{States: one, Inputs: 1, Horizon: 25 * c.interval}, 1)
		if err := d.History.Check(); err != nil || !reflect.DeepEqual(d.Rows, c.rows) {
			t.Errorf("samples each %g s: rows %v, %v", c.interval, d.Rows, err)
		}
	}
}
