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

// Where samples are evenly apart, a row of a plan holds the input of one sample alone.
func TestPlanRows(t *testing.T) {
	for _, c := range []struct {
		name          string
		dt, jitter, H float64
		rows          int
		oneSample     bool
	}{
		{name: "100 Hz", dt: 0.01, H: 0.5, rows: 50, oneSample: true},
		{name: "30 Hz", dt: 1. / 30, H: 1, rows: 60, oneSample: true},
		{name: "30 Hz, stamps of a tenth of a millisecond", dt: 1. / 30, jitter: 1e-4, H: 1, rows: 60},
		{name: "a horizon of 12.5 samples", dt: 0.04, H: 0.5, rows: 50, oneSample: true},
		{name: "one of two thirds of a sample", dt: 0.3, H: 0.2, rows: 50, oneSample: true},
		{name: "samples that do not divide it", dt: 0.0437, H: 0.5, rows: 100},
		{name: "1 kHz", dt: 0.001, H: 2, rows: 100},
	} {
		f := Flight{K: 1, P: 1, constant: []bool{false}, integral: []float64{0}}
		for i := range 4000 {
			at := c.dt * float64(i)
			if c.jitter > 0 {
				at = math.Round(at/c.jitter) * c.jitter
			}
			if f.T, f.X, f.U = append(f.T, at), append(f.X, 0), append(f.U, float64(i%7)); i > 0 {
				f.integral = append(f.integral, f.integral[i-1]+f.U[i-1]*(f.T[i]-f.T[i-1]))
			}
		}
		rows := PlanRows([]Flight{f}, c.H)
		if rows != c.rows {
			t.Errorf("%s: %d rows, want %d", c.name, rows, c.rows)
		}
		for r := range rows {
			var mean [1]float64
			from, to := c.H*float64(r)/float64(rows), c.H*float64(r+1)/float64(rows)
			f.InputMean(mean[:], from, to)
			if whole := math.Abs(mean[0]-math.Round(mean[0])) < 1e-9; c.oneSample && !whole {
				t.Errorf("%s: row %d is of the inputs of two samples: %v", c.name, r, mean[0])
			}
		}
	}
	if rows := PlanRows(nil, 1); rows != evenPlanRows {
		t.Errorf("%d rows of no flight", rows)
	}
}
