package window

import (
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
