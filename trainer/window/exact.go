package window

import (
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// ExactError says where a log of exact states does not fit the measured one.
type ExactError struct {
	Segment string
	T       int64  // ns, of the measured sample; meaningless where Text speaks of the segment
	Text    string // what is wrong
}

func (e *ExactError) Error() string {
	return fmt.Sprintf("segment %q: %s; both logs must be recorded together", e.Segment, e.Text)
}

// AddExact gives the flights of a log (FromLog) the exact states that another log
// holds, of the same flights at the same times: sensors lie, simulators and motion
// capture need not. The exact log may have samples that the sensors lost; every
// sample of the flights must be in it. The states are those of the flights, in
// their order. The error is an *ExactError.
func AddExact(flights []Flight, exact *flightlog.Log) error {
	states := channel.Select(exact.Channels, channel.State)
	for i := range flights {
		f := &flights[i]
		if f.Segment >= len(exact.Segments) || exact.Segments[f.Segment].Name != f.Name {
			return &ExactError{Segment: f.Name, Text: fmt.Sprintf("it is number %d of the log, and not of the exact one", f.Segment+1)}
		}
		if err := f.addExact(&exact.Segments[f.Segment], states); err != nil {
			return err
		}
	}
	return nil
}

func (f *Flight) addExact(seg *flightlog.Segment, states []channel.Channel) error {
	f.Exact = make([]float64, len(f.X))
	turn := make([]float64, f.K) // between the two ways to unwrap an angle
	at := 0
	for i := range f.T {
		t := f.Origin + int64(math.Round(f.T[i]*1e9))
		for at < len(seg.T) && seg.T[at] < t {
			at++
		}
		if at == len(seg.T) || seg.T[at] != t {
			return &ExactError{Segment: f.Name, T: t, Text: fmt.Sprintf("the sample at %d ns (%.6f s after its first) has no exact one", t, f.T[i]-f.T[0])}
		}
		for k, c := range states {
			v := seg.X[at*f.K+k]
			if x := f.X[i*f.K+k]; c.Period > 0 && finite(x) && finite(v) {
				turn[k] = c.Period * math.Round((x-v)/c.Period)
			}
			if v += turn[k]; !finite(v) {
				v = math.NaN()
			}
			f.Exact[i*f.K+k] = v
		}
	}
	return nil
}
