package replay

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// ramp is a flight of ten seconds whose state is 3t, and whose input is t.
func ramp() []window.Flight {
	s := window.Series{Name: "ramp"}
	for i := range 101 {
		s.T, s.X, s.U = append(s.T, int64(i)*1e8), append(s.X, 0.3*float64(i)), append(s.U, 0.1*float64(i))
	}
	return window.Prepare(0, s, []channel.Channel{{Name: "x", Role: channel.State}}, 1, window.Options{})
}

// Factors of three bytes a number are kept where the standard deviations are those of four.
func TestVersionOfTheFormat(t *testing.T) {
	m := artificial.New(artificial.Size{K: 1, P: 1, Features: 20, Basis: 1, Points: 10, Horizon: 1, Members: 1, Core: []int{8}}, 1)
	got, err := SelfChecked(m, ramp(), []window.Window{{Start: 10}, {Start: 20}, {Start: 30}})
	if err != nil {
		t.Fatal(err)
	}
	if got.Format != model.Version || len(got.Checks) != checks {
		t.Errorf("version %d, %d self-checks", got.Format, len(got.Checks))
	}
	for change, same := range map[float64]bool{0: true, 0.9e-4: true, -0.9e-4: true, 1.1e-4: false, -1.1e-4: false, math.NaN(): false} {
		other := slices.Clone(got.Checks)
		other[1].Std = slices.Clone(other[1].Std)
		other[1].Std[2] *= 1 + change
		if sameDeviations(other, got.Checks) != same {
			t.Errorf("a change by %v of a standard deviation: same %v", change, !same)
		}
	}
}

// A window has its start, its displacements and its number; what lies behind the flight
// is not measured.
func TestEach(t *testing.T) {
	flights := ramp()
	windows := []window.Window{{Start: 10}, {Start: 95}}
	var starts []float64
	for w := range Each(flights, windows, []float64{0.25, 1}) {
		starts = append(starts, w.X0[0])
		if w.Number != len(starts)-1 || math.Abs(w.Measured[0]-0.75) > 1e-12 {
			t.Errorf("window %d: measured %v", w.Number, w.Measured)
		}
		if last := w.Measured[1]; (w.Number == 0) != (math.Abs(last-3) < 1e-12) || (w.Number == 1) != math.IsNaN(last) {
			t.Errorf("window %d: %v after 1 s", w.Number, last)
		}
		u := []float64{0}
		w.Input.At(u, 0.2)
		if want := 0.1*float64(w.Start) + 0.2; math.Abs(u[0]-want) > 1e-9 {
			t.Errorf("window %d: input %v after 0.2 s, want %v", w.Number, u[0], want)
		}
	}
	if !slices.Equal(starts, []float64{3, 28.5}) {
		t.Errorf("starts %v", starts)
	}
	for range Each(flights, nil, nil) {
		t.Error("a window of none")
	}
}

// Of a channel that is measured in two of five samples, the value after a time counts where it
// is next to a sample; where no window ends next to one, what is between samples counts.
func TestEachHasSamples(t *testing.T) {
	s := window.Series{Name: "slow"}
	var windows []window.Window
	for i := range 101 {
		x := math.NaN()
		if i%5 == 0 || i%5 == 3 {
			x = 0.01 * float64(i*i)
			if i < 90 {
				windows = append(windows, window.Window{Start: i})
			}
		}
		s.T, s.X = append(s.T, int64(i)*1e8), append(s.X, x)
	}
	flights := window.Prepare(0, s, []channel.Channel{{Name: "x", Role: channel.State}}, 0, window.Options{})
	for w := range Each(flights, windows, []float64{0.1, 0.2, 0.5}) {
		if math.IsNaN(w.Measured[0]) || math.IsNaN(w.Measured[2]) || math.IsNaN(w.Measured[1]) != (w.Start%5 == 0) {
			t.Errorf("from sample %d: %v", w.Start, w.Measured)
		}
	}
}

// A readout decides whether the input is the recorded one or held; without inputs there
// is none.
func TestSignal(t *testing.T) {
	flights := ramp()
	w := New(1, nil)
	w.Read(&flights[0], 20)
	for readout, want := range map[model.Readout]float64{model.Plan: 2.5, model.Hold: 2} {
		u := []float64{math.NaN()}
		if w.Signal(readout).Mean(u, 0.5, 0.6); math.Abs(u[0]-want) > 1e-9 {
			t.Errorf("readout %v: mean input %v, expected %v", readout, u[0], want)
		}
	}
	free := window.Flight{K: 1, T: []float64{0, 1}, X: []float64{0, 1}}
	if w.Read(&free, 0); w.Signal(model.Plan) != nil || w.Signal(model.Hold) != nil {
		t.Error("an input of a flight without inputs")
	}
}

// A plan has the means of the input over its rows; with the input held there is none.
func TestQuery(t *testing.T) {
	flights := ramp()
	w := New(1, nil)
	w.Read(&flights[0], 20)
	m := &model.Model{K: 1, P: 1, Horizon: 1}
	var q estimator.Query
	w.Query(&q, m, model.Plan, 2)
	if q.X0[0] != 6 || q.U[0] != 2 || len(q.Plan) != 2 || math.Abs(q.Plan[0]-2.2) > 1e-9 || math.Abs(q.Plan[1]-2.7) > 1e-9 {
		t.Errorf("%+v", q)
	}
	if w.Query(&q, m, model.Hold, 2); q.Plan != nil || q.U[0] != 2 {
		t.Errorf("held: %+v", q)
	}
	if w.Query(&q, &model.Model{K: 1, Horizon: 1}, model.Plan, 2); q.U != nil || q.Plan != nil {
		t.Errorf("without inputs: %+v", q)
	}
}

// The history of a window is what precedes it in its flight.
func TestHistory(t *testing.T) {
	spec := history.Spec{Edges: []float64{0.1, 0.2, 0.5}}
	flights := ramp()
	part, block := flights[0].Slice(20, 101), flights[0].Following(10, 101)
	rest := block.Slice(10, 50)
	holed := ramp()[0]
	holed.X = slices.Clone(holed.X)
	holed.X[50] = math.NaN() // interpolated over
	for i := 60; i < 66; i++ {
		holed.X[i] = math.NaN() // a gap
	}
	all := func(t float64) []float64 { // states 3t and inputs t in the middle of the rows
		return []float64{3 * (t - 0.05), t - 0.1, 3 * (t - 0.15), t - 0.2, 3 * (t - 0.35), t - 0.4}
	}
	w := New(1, nil)
	for _, c := range []struct {
		name   string
		flight *window.Flight
		start  int
		want   []float64
	}{
		{"within", &flights[0], 20, all(2)},
		{"at the beginning", &flights[0], 0, nil},
		{"soon after it", &flights[0], 4, all(0.4)[:4]},
		{"at the beginning of a part", &part, 0, nil},
		{"soon after it", &part, 5, all(2.5)},
		{"at the beginning of a block", &block, 0, all(1)},
		{"at the beginning of a part of it", &rest, 0, all(2)},
		{"at the beginning of a block", &block, 0, all(1)},
		{"at the beginning of a part of it", &rest, 0, all(2)},
		{"after a missing state", &holed, 52, []float64{3 * 5.15, 5.1, 3 * 5.05, 4.9, 3 * 4.85, 14.4 / 3}},
		{"after a gap", &holed, 67, all(6.7)[:2]},
		{"well after it", &holed, 71, all(7.1)},
	} {
		w.Read(c.flight, c.start)
		got := w.History(spec)
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
			continue
		}
		for i, v := range c.want {
			if math.Abs(got[i]-v) > 1e-9 {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
				break
			}
		}
	}
	w.Read(&flights[0], 20)
	var q estimator.Query
	w.Query(&q, &model.Model{K: 1, P: 1, Horizon: 1, History: spec}, model.Hold, 0)
	if len(q.History) != 6 || math.Abs(q.History[0]-all(2)[0]) > 1e-9 {
		t.Errorf("a query has the history %v", q.History)
	}
	if w.History(history.Spec{}) != nil {
		t.Error("history of no rows")
	}
	if got := w.History(history.Spec{Edges: []float64{0.1}}); len(got) != 2 {
		t.Errorf("another spec: %v", got)
	}
}

// The rows of a window are those that a stream of the same samples gives on board, where
// angles are wrapped and times count from 1970.
func TestHistoryIsThatOfTheStream(t *testing.T) {
	states := []channel.Channel{{Name: "angle", Role: channel.State, Period: channel.Angle}, {Name: "rate", Role: channel.State}}
	spec := history.Spec{Edges: []float64{0.01, 0.02, 0.03, 0.1, 0.3}}
	rng := rand.New(rand.NewPCG(1, 2))
	s := window.Series{}
	stamp := int64(1772682400399326324)
	for i := range 400 {
		if stamp += 10e6 + int64(8e6*(rng.Float64()-0.5)); i == 200 {
			stamp += 30e6 // lost samples
		}
		s.T = append(s.T, stamp)
		s.X = append(s.X, math.Remainder(0.3*float64(i)+0.1*rng.NormFloat64(), channel.Angle), rng.NormFloat64())
		s.U = append(s.U, rng.NormFloat64())
	}
	flights := window.Prepare(0, s, states, 1, window.Options{})
	if len(flights) != 1 {
		t.Fatalf("%d flights", len(flights))
	}
	board, rows := history.NewBuffer(states, 1, spec), make([]float64, 15)
	w := New(2, nil)
	for i, stamp := range s.T {
		board.Add(stamp, s.X[2*i:2*i+2], s.U[i:i+1])
		n := board.Fill(rows, stamp, s.X[2*i:2*i+2])
		w.Read(&flights[0], i)
		got := w.History(spec)
		if len(got) != 3*n {
			t.Fatalf("sample %d: %d rows, on board %d", i, len(got)/3, n)
		}
		for j := range n {
			angle, wrapped := got[3*j]-w.X0[0], rows[3*j]-s.X[2*i]
			if math.Abs(angle-wrapped) > 1e-12 || math.Abs(got[3*j+1]-rows[3*j+1]) > 1e-12 || math.Abs(got[3*j+2]-rows[3*j+2]) > 1e-12 {
				t.Fatalf("sample %d, row %d: %v, on board %v", i, j+1, got[3*j:3*j+3], rows[3*j:3*j+3])
			}
		}
	}
}
