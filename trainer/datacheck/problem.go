package datacheck

// Kind names what is wrong. The names are part of the JSON output.
type Kind string

// The kinds of problems.
const (
	Gap       Kind = "gap"       // no samples for a while
	Backwards Kind = "backwards" // stamps before the one ahead of them
	Duplicate Kind = "duplicate" // a stamp that occurs again
	Frozen    Kind = "frozen"    // a value that does not change while it should
	Clipped   Kind = "clipped"   // a value at the end of its range
	Outlier   Kind = "outlier"   // spikes, bursts, beyond full scale, extrapolated ends, outside forces
	NonFinite Kind = "nonfinite" // NaN or Inf
	Rate      Kind = "rate"      // sampled unevenly, at an odd rate, or filled in
	Clock     Kind = "clock"     // the clock stepped, or counts in another unit
	Constant  Kind = "constant"  // one value throughout
	Short     Kind = "short"     // too short for the horizon
	Unexcited Kind = "unexcited" // too little motion to learn from
	Unit      Kind = "unit"      // a channel and its derivative disagree by a factor
	Swapped   Kind = "swapped"   // two channels trade places
	Gimbal    Kind = "gimbal"    // the nose points nearly straight up or down
	Angle     Kind = "angle"     // a state looks like an angle and is not declared as one, or its period does not fit
	Axes      Kind = "axes"      // accelerometer and attitude have other axes
	Invalid   Kind = "invalid"   // the estimator of the robot declared values invalid
)

// Severity is what to do about a problem.
type Severity string

// From harmless to fatal.
const (
	Note    Severity = "note"    // good to know, nothing need be done
	Exclude Severity = "exclude" // the trainer leaves this span out
	Stop    Severity = "stop"    // training makes no sense until it is mended
)

// Place is one of several places of a problem, in its terms.
type Place struct {
	Segment string  `json:"segment"`
	Index   int     `json:"index"`
	From    float64 `json:"from"` // s
	To      float64 `json:"to"`   // s
	Count   int     `json:"count"`
}

// Problem is one finding: of one cause in one channel, or in several that have no value in
// the same places. Where it occurs in several places the
// times are those of the longest one, the count is of all, and Places lists them. Times are seconds after the first sample of the segment; both
// ends are samples that are affected, except for a gap, whose ends are the last sample
// before it and the first one after it.
type Problem struct {
	Kind     Kind     `json:"kind"`
	Channel  string   `json:"channel"` // empty: the stamps, or all channels
	Segment  string   `json:"segment"` // name; empty: the whole log
	Index    int      `json:"index"`   // number of the segment; -1: the whole log
	From     float64  `json:"from"`    // s
	To       float64  `json:"to"`      // s
	Count    int      `json:"count"`   // samples affected (for a gap: samples missing)
	Severity Severity `json:"severity"`
	Text     string   `json:"text"`               // cause, place and remedy, in one or two sentences
	Places   []Place  `json:"places,omitempty"`   // all, where there are several
	Channels []string `json:"channels,omitempty"` // all, where there are several, of which each is affected alike

	// Misread: the values are not what they are taken for, in unit, axes or time, or are held
	// between measurements. It is mended in logger or map; more flights are misread alike.
	Misread bool `json:"-"`

	cause string // what findings of one cause have in common; "" = it stands alone
}

// Result is what a check found.
type Result struct {
	Problems []Problem `json:"problems"`
	Masks    []Mask    `json:"-"` // by segment: what training leaves out
}

// Timing returns the masks as if nothing were wrong but time: stamps, and where time is
// broken.
func (r Result) Timing() []Mask {
	out := make([]Mask, len(r.Masks))
	for i, m := range r.Masks {
		out[i] = m.Only(BadStamp | TimeBreak)
	}
	return out
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
