package datacheck

import "github.com/dgm-robotics/dgm/estimator/channel"

// updates reports a channel that is held between fewer true samples: most of its
// values repeat the one before, in runs of about one length.
// Inputs are held by nature.
func (c *checker) updates(k int) {
	if c.channels[k].Role == channel.Input {
		return
	}
	for _, s := range c.segs {
		var lengths []float64
		same, n := 0, 0
		for _, tr := range c.tracks(k) {
			if tr.seg != s {
				continue
			}
			n += len(tr.x)
			i := 0
			for i < len(tr.x) {
				j := i + 1
				for j < len(tr.x) && tr.x[j] == tr.x[i] {
					j++
				}
				if i > 0 && j < len(tr.x) {
					lengths = append(lengths, float64(j-i))
				}
				same += j - i - 1
				i = j
			}
		}
		if len(lengths) < 20 || same*5 < n*2 {
			continue
		}
		l := sorted(lengths)
		held := quantile(l, 0.5)
		if held < 2 || quantile(l, 0.9) > 1.5*held+1 || quantile(l, 0.1) < 0.5*held {
			continue
		}
		c.add(Rate, Note, k, s, 0, s.n(),
			"%s changes only about every %d samples (%s per second): it is measured more slowly than the log is sampled, and held between. Mark it as not measured (NaN) between, or log at its rate.",
			c.channels[k].Name, int(held), num(1/(held*s.dt)))
	}
}
