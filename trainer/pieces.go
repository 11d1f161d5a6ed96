package trainer

import (
	"math"
	"slices"
	"time"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/trainer/datacheck"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// add makes flights of segment s of a log, without what the check leaves out.
func (d *Data) add(seg *flightlog.Segment, s int, found *datacheck.Result, cfg Config) {
	states, inputs := channel.Select(d.Channels, channel.State), channel.Select(d.Channels, channel.Input)
	k, p := len(states), len(inputs)
	good := *seg
	if blanks := found.Blanked(s); len(blanks) > 0 {
		good.X, good.U = slices.Clone(seg.X), slices.Clone(seg.U)
		for _, b := range blanks {
			erase(good.X, k, channel.Index(states, b.Channel), b)
			erase(good.U, p, channel.Index(inputs, b.Channel), b)
		}
	}
	number := len(d.Flights)
	for _, r := range pieces(len(seg.T), found.Excluded(s), found.Cuts(s)) {
		part := window.Series{Name: seg.Name}
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
			d.Flights = append(d.Flights, window.Prepare(number, part, states, p, window.Options{MaxGap: time.Duration(cfg.MaxGap)})...)
		}
	}
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
