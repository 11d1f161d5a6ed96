package window

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/trainer/datacheck"
)

// Checked cuts a segment into flights by the mask that a check of its log returned:
// samples with wrong stamps are taken out of their flight, wrong values become NaN, and
// no flight crosses a bad span or a break in time. number is the Segment of the
// flights, see Prepare; channels are states, then inputs.
func Checked(number int, seg *flightlog.Segment, mask datacheck.Mask, channels []channel.Channel, opt Options) []Flight {
	states := channel.Select(channels, channel.State)
	k, p := len(states), len(channels)-len(states)
	x, u := withoutBadValues(seg.X, mask[:k]), withoutBadValues(seg.U, mask[k:k+p])
	reasons := mask.Samples(k + p)
	var out []Flight
	for _, r := range pieces(reasons) {
		part := Series{Name: seg.Name}
		if r[0] == 0 {
			part.X0 = seg.X0
		}
		for i := r[0]; i < r[1]; i++ {
			if reasons[i]&datacheck.BadStamp == 0 {
				part.T = append(part.T, seg.T[i])
				part.X = append(part.X, x[i*k:(i+1)*k]...)
				part.U = append(part.U, u[i*p:(i+1)*p]...)
			}
		}
		if len(part.T) >= 2 {
			part.Before = part.T[0] - seg.T[0]
			out = append(out, Prepare(number, part, states, p, opt)...)
		}
	}
	return out
}

// AllChecked cuts all segments of a log with Checked, each of its own number, and returns
// the share of the values of states and inputs that the masks leave out.
func AllChecked(log *flightlog.Log, masks []datacheck.Mask, channels []channel.Channel, opt Options) (flights []Flight, left float64) {
	kept, all := 0, 0
	for s := range log.Segments {
		seg, mask := &log.Segments[s], masks[s]
		flights = append(flights, Checked(s, seg, mask, channels, opt)...)
		for i, sample := range mask.Samples(len(channels)) {
			all += len(channels)
			if sample&(datacheck.BadSpan|datacheck.BadStamp) != 0 {
				continue
			}
			for _, col := range mask[:len(channels)] {
				if col[i]&datacheck.BadValue == 0 {
					kept++
				}
			}
		}
	}
	return flights, 1 - float64(kept)/float64(max(all, 1))
}

// withoutBadValues returns the row-major x with NaN, not measured, for single wrong
// values.
func withoutBadValues(x []float64, mask datacheck.Mask) []float64 {
	clean := x
	for c, col := range mask {
		for i, r := range col {
			if r&(datacheck.BadValue|datacheck.Missing) == 0 {
				continue
			}
			if &clean[0] == &x[0] {
				clean = slices.Clone(x)
			}
			clean[i*len(mask)+c] = math.NaN()
		}
	}
	return clean
}

// pieces returns the ranges of samples that no window may leave: without bad spans,
// parted where time is broken.
func pieces(reasons []datacheck.Reason) [][2]int {
	var out [][2]int
	for i := 0; i < len(reasons); i++ {
		if reasons[i]&datacheck.BadSpan != 0 {
			continue
		}
		j := i + 1
		for j < len(reasons) && reasons[j]&(datacheck.BadSpan|datacheck.TimeBreak) == 0 {
			j++
		}
		out = append(out, [2]int{i, j})
		i = j - 1
	}
	return out
}
