package judge

import (
	"math"
	"time"
)

// histogram counts durations in bins that are 2 % wide, from a microsecond to
// ten seconds, so that quantiles of an endless flight need no memory.
type histogram struct {
	bins [816]int
	n    int
	max  time.Duration
}

const binWidth = 1.02

func (h *histogram) add(d time.Duration) {
	i := math.Log(max(1, float64(d)/float64(time.Microsecond))) / math.Log(binWidth)
	h.bins[min(int(i), len(h.bins)-1)]++
	h.n++
	h.max = max(h.max, d)
}

// at returns the q-quantile, to 2 %; 0 of nothing.
func (h *histogram) at(q float64) time.Duration {
	if h.n == 0 {
		return 0
	}
	rank := min(int(q*float64(h.n)), h.n-1)
	for i, n := range h.bins {
		if rank -= n; rank < 0 {
			return min(h.max, time.Duration(math.Pow(binWidth, float64(i)+0.5)*float64(time.Microsecond)))
		}
	}
	return h.max
}
