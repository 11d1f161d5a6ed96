package window

import (
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// FromLog makes the flights of all segments of a log.
func FromLog(log *flightlog.Log, opt Options) []Flight {
	states := channel.Select(log.Channels, channel.State)
	inputs := len(channel.Select(log.Channels, channel.Input))
	var out []Flight
	for i, s := range log.Segments {
		out = append(out, Prepare(i, Series{Name: s.Name, T: s.T, X: s.X, U: s.U, X0: s.X0}, states, inputs, opt)...)
	}
	return out
}

// Longest returns the duration of the longest flight, s; 0 if there is none.
func Longest(flights []Flight) float64 {
	d := 0.0
	for i := range flights {
		d = max(d, flights[i].Duration())
	}
	return d
}
