package datacheck

import "slices"

// short reports segments that hold no window of the horizon, after all that is left out.
func (r *recording) short(usual float64) {
	h := r.horizon
	longest, tooShort := 0.0, 0
	for _, s := range r.segs {
		usable := r.longestUsable(s)
		longest = max(longest, usable)
		if usable >= h && s.n() >= 10 {
			continue
		}
		tooShort++
		text := "This segment lasts %s and has %s: no window of %s fits. It cannot be used for training; use a shorter horizon or longer recordings."
		if s.t[s.n()-1]-s.t[0] >= h && s.n() >= 10 {
			text = "The longest gap-free section of this segment lasts %s (%s in all): no window of %s fits. Correct what is reported above, or use a shorter horizon."
		}
		r.add(Short, Note, -1, s.whole(), text, duration(usable), plural(s.n(), "sample"), duration(max(h, usual*9)))
	}
	if len(r.segs) == 0 {
		r.addLog(Short, Stop, -1, 0, "The log has no samples. Record at least one segment.")
	} else if tooShort == len(r.segs) {
		r.addLog(Short, Stop, -1, 0, "No gap-free section is long enough for the horizon of %s; the longest lasts %s. Record longer, correct what is reported, or train a shorter horizon (--horizon).",
			duration(h), duration(longest))
	}
}

// longestUsable returns the duration of the longest stretch of samples to be used, s.
func (r *recording) longestUsable(s *segment) (longest float64) {
	used := r.used()
	excluded := func(i int) bool {
		return slices.ContainsFunc(used, func(k int) bool { return s.mask[k][i]&BadSpan != 0 })
	}
	for _, piece := range s.pieces() {
		for i, j := range where(0, len(piece), func(i int) bool { return !excluded(piece[i]) }) {
			longest = max(longest, s.t[piece[j-1]]-s.t[piece[i]])
		}
	}
	return longest
}
