package window

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/trainer/datacheck"
)

// Checked cuts a segment into flights without what a check of its log, in which it is
// segment s, says must be left out: samples whose stamps are wrong are taken out of
// their flight, values that are wrong become NaN, and no flight goes across the rest.
// number is what the flights are told to be of, see Prepare; channels are states, then
// inputs.
func Checked(number int, seg *flightlog.Segment, s int, found *datacheck.Result, channels []channel.Channel, opt Options) []Flight {
	states, inputs := channel.Select(channels, channel.State), channel.Select(channels, channel.Input)
	k, p := len(states), len(inputs)
	good := *seg
	if blanks := found.Blanked(s); len(blanks) > 0 {
		good.X, good.U = slices.Clone(seg.X), slices.Clone(seg.U)
		for _, b := range blanks {
			erase(good.X, k, channel.Index(states, b.Channel), b)
			erase(good.U, p, channel.Index(inputs, b.Channel), b)
		}
	}
	var out []Flight
	for _, r := range pieces(len(seg.T), found.Excluded(s), found.Cuts(s)) {
		part := Series{Name: seg.Name}
		if r[0] == 0 {
			part.X0 = seg.X0
		}
		for i, w := range without(r, found.Dropped(s)) {
			if i == 0 { // capped, so that what is appended goes elsewhere
				part.T, part.X, part.U = good.T[w[0]:w[1]:w[1]], good.X[w[0]*k:w[1]*k:w[1]*k], good.U[w[0]*p:w[1]*p:w[1]*p]
				continue
			}
			part.T = append(part.T, good.T[w[0]:w[1]]...)
			part.X = append(part.X, good.X[w[0]*k:w[1]*k]...)
			part.U = append(part.U, good.U[w[0]*p:w[1]*p]...)
		}
		if len(part.T) >= 2 {
			part.Before = part.T[0] - seg.T[0]
			out = append(out, Prepare(number, part, states, p, opt)...)
		}
	}
	return out
}

// AllChecked cuts all segments of a log with Checked, each of its own number, and says
// which share of the values of states and inputs was left out.
func AllChecked(log *flightlog.Log, found *datacheck.Result, channels []channel.Channel, opt Options) (flights []Flight, left float64) {
	kept, all := 0, 0
	for s := range log.Segments {
		seg := &log.Segments[s]
		flights = append(flights, Checked(s, seg, s, found, channels, opt)...)
		n, width := len(seg.T), len(channels)
		all += n * width
		for _, r := range pieces(n, found.Excluded(s), found.Cuts(s)) {
			for _, w := range without(r, found.Dropped(s)) {
				kept += (w[1] - w[0]) * width
			}
		}
		for _, b := range found.Blanked(s) {
			if channel.Index(channels, b.Channel) >= 0 {
				kept -= b.To - b.From
			}
		}
	}
	return flights, 1 - float64(kept)/float64(max(all, 1))
}

// erase takes samples of channel c out of the row-major x: NaN = not measured.
func erase(x []float64, width, c int, b datacheck.Blank) {
	if c < 0 {
		return
	}
	for i := b.From; i < b.To; i++ {
		x[i*width+c] = math.NaN()
	}
}

// pieces returns the ranges of n samples that no window may leave: without what
// is excluded, parted at the cuts.
func pieces(n int, excluded [][2]int, cuts []int) [][2]int {
	var out [][2]int
	for _, r := range without([2]int{0, n}, excluded) {
		first, _ := slices.BinarySearch(cuts, r[0]+1)
		for _, c := range cuts[first:] {
			if c >= r[1] {
				break
			}
			out = append(out, [2]int{r[0], c})
			r[0] = c
		}
		out = append(out, r)
	}
	return out
}

// without returns what remains of a range without others, which are sorted and
// disjoint.
func without(r [2]int, others [][2]int) [][2]int {
	var out [][2]int
	first, _ := slices.BinarySearchFunc(others, r[0]+1, func(o [2]int, from int) int { return o[1] - from })
	for _, o := range others[first:] {
		if o[0] >= r[1] {
			break
		}
		if o[0] > r[0] {
			out = append(out, [2]int{r[0], o[0]})
		}
		r[0] = o[1]
	}
	if r[0] < r[1] {
		out = append(out, r)
	}
	return out
}
