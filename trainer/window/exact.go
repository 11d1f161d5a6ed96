package window

import (
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// ExactError is the place where a log of exact states does not fit the measured one.
type ExactError struct {
	Segment string
	T       int64  // ns, of the measured sample; meaningless where Text speaks of the segment
	Text    string // what is wrong
}

func (e *ExactError) Error() string {
	return fmt.Sprintf("segment %q: %s; both logs must be recorded together", e.Segment, e.Text)
}

// AddExact gives the flights of a log (FromLog) the exact states that another log
// holds, of the same flights: those of a simulator or of motion capture.
// Between two exact samples the state is interpolated linearly, so that stamps may
// differ; samples that the exact log lacks, though it goes on for long before and
// after, are an error. Stamps that jitter beyond its ends are left without a state
// (NaN). The states are those of the flights, in their order. The error is an
// *ExactError.
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
	return together(flights, states)
}

// together returns an error where no channel of the measurements follows the exact states:
// flights that have nothing to do with each other differ by √2 of what each of them moves.
func together(flights []Flight, states []channel.Channel) error {
	const apart = 1.2
	least, at := math.Inf(1), 0
	for k := range states {
		off, moves, n := 0.0, 0.0, 0
		for i := range flights {
			f := &flights[i]
			sum, squares, m := 0.0, 0.0, 0
			for j := range f.N() {
				x, e := f.X[j*f.K+k], f.Exact[j*f.K+k]
				if d := x - e; !math.IsNaN(d) {
					off += d * d
					sum, squares, m = sum+x, squares+x*x, m+1
				}
			}
			if m > 0 {
				moves += squares - sum*sum/float64(m)
				n += m
			}
		}
		if n == 0 || !(moves > 0) {
			continue // nothing to compare
		}
		if r := math.Sqrt(off / moves); r < least {
			least, at = r, k
		}
	}
	if least <= apart || math.IsInf(least, 1) {
		return nil
	}
	return fmt.Errorf("the states are not those of the same flights: %s, the nearest channel, is off by %.2g times what it moves; both logs must be recorded together", states[at].Name, least)
}

const (
	widestExact  = 1.5 // median intervals that a state is interpolated over
	beyondEither = 10  // median intervals beyond the first and the last sample that a stamp may lie
)

func (f *Flight) addExact(seg *flightlog.Segment, states []channel.Channel) error {
	f.Exact = make([]float64, len(f.X))
	all := make([]int, len(seg.T))
	for i := range all {
		all[i] = i
	}
	step := 1e9 * medianInterval(seg.T, all, func(int) bool { return true }) // ns
	turn := make([]float64, f.K)                                             // between the two ways to unwrap an angle
	at := 0                                                                  // the first exact sample that is not before
	for i := range f.T {
		t := f.Origin + int64(math.Round(f.T[i]*1e9))
		for at < len(seg.T) && seg.T[at] < t {
			at++
		}
		row := f.Exact[i*f.K : (i+1)*f.K]
		switch {
		case at < len(seg.T) && seg.T[at] == t:
			copy(row, seg.X[at*f.K:])
		case at > 0 && at < len(seg.T) && float64(seg.T[at]-seg.T[at-1]) <= widestExact*step:
			w := float64(t-seg.T[at-1]) / float64(seg.T[at]-seg.T[at-1])
			between(row, seg.X[(at-1)*f.K:at*f.K], seg.X[at*f.K:(at+1)*f.K], w, states)
		case at == 0 && len(seg.T) > 0 && float64(seg.T[0]-t) <= beyondEither*step,
			at > 0 && at == len(seg.T) && float64(t-seg.T[at-1]) <= beyondEither*step:
			nan(row)
		default:
			return &ExactError{Segment: f.Name, T: t, Text: fmt.Sprintf("the sample at %d ns (%.6f s after its first) has no exact one", t, f.T[i]-f.T[0])}
		}
		for k, c := range states {
			v := row[k]
			if x := f.X[i*f.K+k]; c.Period > 0 && finite(x) && finite(v) {
				turn[k] = c.Period * math.Round((x-v)/c.Period)
			}
			if v += turn[k]; !finite(v) {
				v = math.NaN()
			}
			row[k] = v
		}
	}
	return nil
}

// between writes the states at the share w of the way from a to b, by the shorter
// way around where they are angles.
func between(dst, a, b []float64, w float64, states []channel.Channel) {
	for k, c := range states {
		d := b[k] - a[k]
		if c.Period > 0 {
			d = math.Remainder(d, c.Period)
		}
		dst[k] = a[k] + w*d
	}
}
