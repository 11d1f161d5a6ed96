package reporting

import "slices"

// latency keeps the latest durations of one interval; in a longer or faster one the
// oldest are forgotten, but never the maximum.
type latency struct {
	recent [4096]int64 // ns
	n      int
	max    int64
}

func (l *latency) add(ns int64) {
	l.recent[l.n%len(l.recent)] = ns
	l.n++
	l.max = max(l.max, ns)
}

// reset returns quantiles and maximum in seconds, all 0 of nothing, and begins the
// next interval. scratch is memory for sorting.
func (l *latency) reset(scratch *[4096]int64) (p50, p99, most float64) {
	n := min(l.n, len(l.recent))
	if n > 0 {
		s := scratch[:copy(scratch[:], l.recent[:n])]
		slices.Sort(s)
		p50, p99, most = float64(s[n/2])*1e-9, float64(s[n*99/100])*1e-9, float64(l.max)*1e-9
	}
	l.n, l.max = 0, 0
	return p50, p99, most
}
