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

func fit(t *testing.T, flights []window.Flight, cfg Config) *Model {
	t.Helper()
	task := window.Task{States: one, Inputs: flights[0].P, Horizon: cfg.Horizons[len(cfg.Horizons)-1]}
	m, err := Fit(context.Background(), flights, task, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// accuracy returns the RMSE over that of holding, and the share within 1.96 standard
// deviations, at the last horizon of windows that have history.
func accuracy(m *Model, f window.Flight, most int) (ratio, inside float64) {
	T := len(m.Horizons)
	mean, std := make([]float64, T), make([]float64, T)
	windows := window.Cut([]window.Flight{f}, m.Horizons[T-1], 0)[30:]
	square, hold := 0.0, 0.0
	for w := range replay.Each([]window.Flight{f}, windows, m.Horizons) {
		m.Predict(mean, std, w, most)
		e := w.Measured[T-1] - mean[T-1]
		square += e * e
		hold += w.Measured[T-1] * w.Measured[T-1]
		if math.Abs(e) <= 1.96*std[T-1] {
			inside++
		}
	}
	return math.Sqrt(square / hold), inside / float64(len(windows))
}

func TestDelayNeedsHistory(t *testing.T) {
	m := fit(t, several(0), Config{Horizons: []float64{step, 2 * step}, History: []int{0, 1, 2, 3, 5}})
	if got := m.History(); !reflect.DeepEqual(got, []int{0, 1, 2, 3, 5}) {
		t.Fatalf("levels %v", got)
	}
	unseen := delayed(9, 400, 0)
	for most, exact := range map[int]bool{0: false, 2: false, 3: true, 5: true, 99: true} {
		ratio, _ := accuracy(m, unseen, most)
		if exact != (ratio < 1e-4) || !exact && ratio < 0.3 {
			t.Errorf("%d earlier samples: %v of the error of holding", most, ratio)
		}
	}
}

func TestIntervalsCover(t *testing.T) {
	m := fit(t, several(0.05), Config{Horizons: []float64{2 * step}, History: []int{5}})
	ratio, inside := accuracy(m, delayed(9, 4000, 0.05), 5)
	if ratio > 0.5 || math.Abs(inside-0.95) > 0.02 {
		t.Errorf("error %v, %v inside of 95 %%", ratio, inside)
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
		m := fit(t, flights, Config{Horizons: []float64{10 * step}, Readout: readout})
		ratio, _ := accuracy(m, integrator(9), 0)
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
	m := fit(t, []window.Flight{oscillation(1), oscillation(2), oscillation(3), oscillation(4)}, Config{Horizons: []float64{10 * step}, History: []int{2}})
	unseen := oscillation(9)
	without, _ := accuracy(m, unseen, 0)
	with, _ := accuracy(m, unseen, 2)
	if without < 0.2 || with > 0.1 {
		t.Errorf("errors over holding: %v without history, %v with", without, with)
	}
}

// predictions returns what a model predicts at a sample, with all history there is.
func predictions(m *Model, f *window.Flight, start int) (mean, std []float64, history int) {
	T := len(m.Horizons)
	w := replay.New(1, m.Horizons)
	w.Read(f, start)
	mean, std = make([]float64, T), make([]float64, T)
	history = m.Predict(mean, std, w, 99)
	return mean, std, history
}

func TestHistoryStaysInItsFlight(t *testing.T) {
	m := fit(t, several(0.05), Config{Horizons: []float64{2 * step, 4 * step}, History: []int{1, 2, 5}})
	f := delayed(9, 100, 0.05)
	part := f.Slice(40, 100)
	for start, want := range map[int]int{0: 0, 1: 1, 2: 2, 4: 2, 5: 5, 30: 5} {
		_, _, got := predictions(m, &part, start)
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
	if _, _, got := predictions(m, &holed, 50); got != 2 {
		t.Errorf("after missing values: history of %d", got)
	}
}

// What is predicted at a horizon depends on no input after it and on no sample after the
// start.
func TestNothingOfTheFutureIsRead(t *testing.T) {
	m := fit(t, several(0.05), Config{Horizons: []float64{2 * step, 4 * step}, History: []int{5}})
	f := delayed(9, 100, 0.05)
	const start = 50
	x, u := append([]float64(nil), f.X...), append([]float64(nil), f.U...)
	for i := start + 1; i < len(x); i++ {
		x[i] += 100
	}
	for i := start + 2; i < len(u); i++ {
		u[i] += 100
	}
	changed := flight(9, even(100), x, u)
	a, _, _ := predictions(m, &f, start)
	b, _, _ := predictions(m, &changed, start)
	if math.Abs(a[0]-b[0]) > 1e-9 || math.Abs(a[1]-b[1]) < 1e-3 {
		t.Errorf("predicted %v, and %v with another future", a, b)
	}
}

// A fold's rows come from its own flights alone: the fit to flights of two segments is not
// changed by their order.
func TestSegmentsAreNotJoined(t *testing.T) {
	flights := several(0.05)
	swapped := []window.Flight{flights[1], flights[0], flights[2], flights[3], flights[4]}
	cfg := Config{Horizons: []float64{2 * step}, History: []int{5}, Folds: 5}
	a, b := fit(t, flights, cfg), fit(t, swapped, cfg)
	f := delayed(9, 100, 0.05)
	mean, std, _ := predictions(a, &f, 50)
	other, otherStd, _ := predictions(b, &f, 50)
	if math.Abs(mean[0]-other[0]) > 1e-6 || math.Abs(std[0]/otherStd[0]-1) > 1e-6 {
		t.Errorf("%v ± %v, in another order %v ± %v", mean, std, other, otherStd)
	}
}

func TestColumns(t *testing.T) {
	states := []channel.Channel{
		{Name: "position", Role: channel.State, Invariant: true},
		{Name: "angle", Role: channel.State, Period: channel.Angle},
		{Name: "rate", Role: channel.State},
	}
	s := window.Series{}
	for i := range 200 {
		s.T = append(s.T, int64(i)*1e7)
		s.X = append(s.X, 0.1*float64(i), math.Sin(0.1*float64(i)), math.Cos(0.1*float64(i)))
		s.U = append(s.U, float64(i%7), float64(i%5))
	}
	flights := window.Prepare(0, s, states, 2, window.Options{})
	task := window.Task{States: states, Inputs: 2, Horizon: 0.1}
	windows := window.Cut(flights, 0.1, 0)
	plan, hold := newFeatures(flights, windows, task, model.Plan), newFeatures(flights, windows, task, model.Hold)
	if plan.base() != 3+2+5*2 || hold.base() != 3+2 || plan.linear(4) != 15+4*5 || plan.columns(4) != 35+15*16/2 {
		t.Errorf("columns %d, %d, %d, %d", plan.base(), hold.base(), plan.linear(4), plan.columns(4))
	}
	w := replay.New(3, []float64{0.1})
	w.Read(&flights[0], 50)
	past := make([]float64, 2*5)
	if n := hold.history(past, w, 2); n != 2 {
		t.Fatalf("history of %d", n)
	}
	row := make([]float64, hold.columns(2))
	hold.write(row, w, 0.1, past)
	if math.Abs(past[0]+0.1) > 1e-9 || past[3] != float64(49%7) || row[5] != past[0] || math.Abs(row[len(row)-1]-row[4]*row[4]) > 1e-12 {
		t.Errorf("past %v, row %v", past, row)
	}
}

func TestErrorsOfFit(t *testing.T) {
	flights := several(0.05)
	for want, c := range map[string]struct {
		cfg     Config
		flights int
	}{
		"horizons []":             {Config{}, 5},
		"horizons [0.2 0.1]":      {Config{Horizons: []float64{0.2, 0.1}}, 5},
		"horizons [9]":            {Config{Horizons: []float64{9}}, 5},
		"history [5 1]":           {Config{Horizons: []float64{0.1}, History: []int{5, 1}}, 5},
		"stride -1":               {Config{Horizons: []float64{0.1}, Stride: -1}, 5},
		"1 folds":                 {Config{Horizons: []float64{0.1}, Folds: 1}, 5},
		"make no two folds":       {Config{Horizons: []float64{0.1}}, 1},
		"0 earlier samples: too ": {Config{Horizons: []float64{0.1}, Stride: 4}, 5},
	} {
		_, err := Fit(context.Background(), flights[:c.flights], window.Task{States: one, Inputs: 1, Horizon: 1.1}, c.cfg)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", want, err)
		}
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Fit(stopped, flights, window.Task{States: one, Inputs: 1, Horizon: 0.1}, Config{Horizons: []float64{0.1}}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// More history than the flights have windows for is left out.
func TestTooMuchHistoryIsLeftOut(t *testing.T) {
	m := fit(t, several(0.05), Config{Horizons: []float64{0.1}, History: []int{2, 350}, Stride: 0.05})
	if got := m.History(); !reflect.DeepEqual(got, []int{0, 2}) {
		t.Errorf("levels %v", got)
	}
}
