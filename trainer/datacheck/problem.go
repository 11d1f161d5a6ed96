package datacheck

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Kind names what is wrong. The names are part of the JSON output.
type Kind string

// The kinds of problems.
const (
	Gap       Kind = "gap"       // no samples for a while
	Backwards Kind = "backwards" // stamps that lie before the one ahead of them
	Duplicate Kind = "duplicate" // a stamp that occurs again
	Frozen    Kind = "frozen"    // a value that stands still while it should move
	Clipped   Kind = "clipped"   // a value held at the end of its range
	Outlier   Kind = "outlier"   // spikes, bursts, beyond full scale, extrapolated tails, outside forces
	NonFinite Kind = "nonfinite" // NaN or Inf
	Rate      Kind = "rate"      // sampled unevenly, at an odd rate, or filled in
	Clock     Kind = "clock"     // the clock stepped, or counts in another unit
	Constant  Kind = "constant"  // one value throughout
	Short     Kind = "short"     // too short for the horizon
	Unexcited Kind = "unexcited" // too little motion to learn from
	Unit      Kind = "unit"      // a channel and its derivative disagree by a factor
	Swapped   Kind = "swapped"   // two channels trade places
	Gimbal    Kind = "gimbal"    // the nose points nearly straight up or down
)

// Severity says what to do about a problem.
type Severity string

// From harmless to fatal.
const (
	Note    Severity = "note"    // good to know, nothing need be done
	Exclude Severity = "exclude" // the trainer must leave this span out
	Stop    Severity = "stop"    // training makes no sense until it is mended
)

// Problem is one finding. Times are seconds after the first sample of the
// segment; both ends are samples that are affected, except for a gap, whose ends
// are the last sample before it and the first one after it.
type Problem struct {
	Kind     Kind     `json:"kind"`
	Channel  string   `json:"channel"` // empty: the stamps, or all channels
	Segment  string   `json:"segment"` // name; empty: the whole log
	Index    int      `json:"index"`   // number of the segment; -1: the whole log
	From     float64  `json:"from"`    // s
	To       float64  `json:"to"`      // s
	Count    int      `json:"count"`   // samples affected (for a gap: samples missing)
	Severity Severity `json:"severity"`
	Text     string   `json:"text"` // what, where, and the mend, in one or two sentences

	first, last int // samples [first, last) of the segment that it speaks of
	leave       leave
}

// leave says how a span that training must leave out is left out.
type leave uint8

const (
	asGap  leave = iota // nothing goes on across it
	singly              // the stamps are wrong: without these samples the rest goes on
	blank               // one channel is wrong, for few samples: as if it had not been measured
)

// Result is what a check found.
type Result struct {
	Problems []Problem `json:"problems"`

	excluded [][][2]int
	dropped  [][][2]int
	blanked  [][]Blank
	cuts     [][]int
}

// Blank is a range of samples [From, To) at which one channel is not to be
// believed.
type Blank struct {
	Channel  string
	From, To int
}

// Excluded returns the sample ranges [from, to) of a segment that training must
// leave out, with no window across them: sorted, disjoint.
func (r Result) Excluded(segment int) [][2]int { return r.excluded[segment] }

// Dropped returns the sample ranges [from, to) of a segment whose stamps are
// wrong: sorted, disjoint. Without them the segment is in order.
func (r Result) Dropped(segment int) [][2]int { return r.dropped[segment] }

// Blanked returns where single channels of a segment are to be taken as not
// measured. The rest of these samples is good.
func (r Result) Blanked(segment int) []Blank { return r.blanked[segment] }

// Cuts returns the samples of a segment before which time is broken: no window
// may hold such a sample and the one ahead of it. Sorted.
func (r Result) Cuts(segment int) []int { return r.cuts[segment] }

// Stamps returns the result as if nothing were wrong but the stamps: what is dropped
// and where time is broken.
func (r Result) Stamps() Result {
	n := len(r.dropped)
	return Result{Problems: r.Problems, excluded: make([][][2]int, n), dropped: r.dropped, blanked: make([][]Blank, n), cuts: r.cuts}
}

// Stop returns the first problem that makes training senseless, or nil.
func (r Result) Stop() *Problem {
	for i := range r.Problems {
		if r.Problems[i].Severity == Stop {
			return &r.Problems[i]
		}
	}
	return nil
}

// MarshalJSON writes {"problems": [...]}, an empty list rather than null.
func (r Result) MarshalJSON() ([]byte, error) {
	list := r.Problems
	if list == nil {
		list = []Problem{}
	}
	return json.Marshal(struct {
		Problems []Problem `json:"problems"`
	}{list})
}

var severityRank = map[Severity]int{Stop: 0, Exclude: 1, Note: 2}

// order sorts problems: the grave ones first, then by place in the log, what
// stands for many ahead of them.
func order(p []Problem) {
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(severityRank[a.Severity], severityRank[b.Severity]),
			cmp.Compare(a.Index, b.Index),
			cmp.Compare(a.From, b.From),
			cmp.Compare(b.To, a.To),
			cmp.Compare(a.Channel, b.Channel),
			cmp.Compare(a.Kind, b.Kind),
		)
	})
}
