package replay

import (
	"math"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
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
