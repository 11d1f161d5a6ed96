package window

import (
	"math"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

func TestFlightsOfALog(t *testing.T) {
	log := &flightlog.Log{Header: flightlog.Header{Channels: []channel.Channel{
		{Name: "u", Role: channel.Input}, {Name: "x", Role: channel.State}, {Name: "volt", Role: channel.Aux}, {Name: "y", Role: channel.State},
	}}}
	for range 2 {
		log.Segments = append(log.Segments, flightlog.Segment{
			Name: "hop", T: times(3, ms), X: []float64{1, 2, 3, 4, 5, 6}, U: []float64{7, 8, 9}, Aux: []float64{0, 0, 0},
		})
	}
	f := fromLog(log, Options{})
	if len(f) != 2 || f[1].Segment != 1 || f[1].Name != "hop" || f[1].K != 2 || f[1].P != 1 {
		t.Fatalf("flights %+v", f)
	}
	if f[0].State(1)[1] != 4 || f[0].Input(2)[0] != 9 {
		t.Error("values are at the wrong place")
	}
	if d := Longest(f); d != 0.002 {
		t.Errorf("longest %v", d)
	}
	if d := Longest(nil); d != 0 {
		t.Errorf("longest of none %v", d)
	}
}

// The interval is that of the state that is measured most often, not of the rows.
func TestStateInterval(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name string
		x    []float64 // two states
		want float64
	}{
		{"every row", []float64{1, 1, 2, 2, 3, 3, 4, 4}, 0.001},
		{"every second row", []float64{1, 1, nan, nan, 3, 3, nan, nan, 5, 5}, 0.002},
		{"one of two states", []float64{nan, 1, nan, 2, 3, 3, nan, 4}, 0.001},
		{"one sample", []float64{1, 1, nan, nan}, 0},
		{"none", nil, 0},
	} {
		var flights []Flight
		if n := len(c.x) / 2; n > 0 {
			f := Flight{K: 2, X: c.x}
			for i := range n {
				f.T = append(f.T, 0.001*float64(i))
			}
			flights = append(flights, f)
		}
		if got := StateInterval(flights); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v s, want %v", c.name, got, c.want)
		}
	}
}

// fromLog makes the flights of all segments of a log.
func fromLog(log *flightlog.Log, opt Options) []Flight {
	states := channel.Select(log.Channels, channel.State)
	inputs := len(channel.Select(log.Channels, channel.Input))
	var out []Flight
	for i, s := range log.Segments {
		out = append(out, Prepare(i, Series{Name: s.Name, T: s.T, X: s.X, U: s.U, X0: s.X0}, states, inputs, opt)...)
	}
	return out
}

// Times end at a sample.
func TestTimesAtSamples(t *testing.T) {
	at := func(step float64) []Flight {
		f := Flight{K: 1}
		for i := range 50 {
			f.T, f.X = append(f.T, step*float64(i)), append(f.X, 0)
		}
		return []Flight{f}
	}
	times := []float64{0.01, 0.025, 0.05, 0.1, 0.2, 0.5}
	for step, want := range map[float64][]float64{
		0.005: times,
		0.002: {0.01, 0.026, 0.05, 0.1, 0.2, 0.5},
		0.04:  {0.04, 0.12, 0.2, 0.48},
		0.1:   {0.1, 0.2, 0.5},
		0.101: {0.1, 0.2, 0.404},
		0.3:   {0.3},
	} {
		if got := AtSamples(times, 0.5, at(step)); !slices.Equal(got, want) {
			t.Errorf("every %v s: %v, want %v", step, got, want)
		}
	}
}
