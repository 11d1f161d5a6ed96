package datacheck

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

const (
	loneKinks  = 8    // times what is usual that a lone sample lies off its neighbours
	loneScale  = 0.8  // quantile of the roughness that is usual, however many spikes there are
	loneApart  = 5    // times as far off as the neighbours are off each other
	loneFloor  = 0.05 // of what the channel does in half a second
	loneReach  = 2    // neighbours on either side
	loneLevels = 4    // steps of the sensor's resolution
)

// lone finds single samples that lie far off their neighbours where those lie on one
// line with each other. Spikes that come often are what is usual among all kinks;
// what is between two of them is not. Commands jump as they please.
func (c *checker) lone(k int, tracks []track, kk *kinked) {
	if c.channels[k].Role == channel.Input {
		return
	}
	var all []float64
	for _, r := range kk.rough {
		all = append(all, r...)
	}
	sv := sketch(values(tracks))
	least := math.Max(loneKinks*quantile(sketch(all), loneScale),
		math.Max(loneFloor*math.Max(c.far, c.reach(k, tracks, sv)), loneLevels*resolution(sv)))
	if least == 0 {
		return
	}
	for _, tr := range tracks {
		for i := loneReach; i < len(tr.x)-loneReach; i++ {
			off := tr.off(i, i-1, i+1)
			if off <= least || !tr.seg.good(k, tr.at[i]) {
				continue
			}
			others := math.Max(tr.off(i-1, i-2, i+1), tr.off(i+1, i-1, i+2))
			if off > loneApart*others {
				c.burst(k, tr, i, i+1)
			}
		}
	}
}

// off returns how far sample i is from the line through samples a and b.
func (tr *track) off(i, a, b int) float64 {
	w := (tr.t[i] - tr.t[a]) / (tr.t[b] - tr.t[a])
	return math.Abs(tr.x[i] - tr.x[a] - w*(tr.x[b]-tr.x[a]))
}
