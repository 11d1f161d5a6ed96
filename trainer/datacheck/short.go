package datacheck

import (
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// short reports segments that hold no window of the horizon, after all that has
// to be left out.
func (c *checker) short(usual float64) {
	h := c.opt.Horizon
	longest, tooShort := 0.0, 0
	used := slices.Concat(c.states(), places(c.channels, channel.Input))
	for _, s := range c.segs {
		l, whole := s.longestStretch(used)
		longest = max(longest, l)
		if l >= h && s.n() >= 10 {
			continue
		}
		tooShort++
		text := "This segment lasts %s and has %s: no window of %s fits in. It is of no use for training; use a shorter horizon or longer recordings."
		if whole >= h && s.n() >= 10 {
			text = "The longest stretch of this segment that is in order lasts %s (%s in all): no window of %s fits in. Mend what is reported above, or use a shorter horizon."
		}
		c.add(Short, Note, -1, s, 0, s.n(), text, interval(l), plural(s.n(), "sample"), interval(max(h, usual*9)))
	}
	if len(c.segs) == 0 {
		c.addLog(Short, Stop, -1, 0, "The log holds no samples. Record something.")
	} else if tooShort == len(c.segs) {
		c.addLog(Short, Stop, -1, 0, "No segment has a stretch in order that is as long as the horizon of %s; the longest lasts %s. Record longer, mend what is reported, or train a shorter horizon (--horizon).",
			interval(h), interval(longest))
	}
}

// longestStretch returns the duration of the longest stretch of samples to be
// used, s, and that of the segment as it was recorded.
func (s *segment) longestStretch(channels []int) (longest, whole float64) {
	for _, p := range s.pieces() {
		start := -1
		for _, i := range s.keep[p[0]:p[1]] {
			if slices.ContainsFunc(channels, func(k int) bool { return s.mask[k][i]&BadSpan != 0 }) {
				start = -1
				continue
			}
			if start < 0 {
				start = i
			}
			longest = max(longest, s.t[i]-s.t[start])
		}
	}
	return longest, s.t[s.n()-1] - s.t[0]
}
