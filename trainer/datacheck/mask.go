package datacheck

import (
	"fmt"
	"slices"
	"strings"
)

// Reason holds why training does not use a value, one bit a reason. 0 = it is used.
type Reason uint8

// The reasons.
const (
	Missing   Reason = 1 << iota // the log holds NaN or Inf
	BadValue                     // the value is wrong, for few samples: it counts as not measured
	BadSpan                      // values are wrong for longer: the whole sample is left out, and no window crosses it
	BadStamp                     // the time stamp is wrong: the whole sample is left out, and the rest goes on without it
	TimeBreak                    // the value is used, but no window holds it and the sample ahead of it
)

var reasonNames = []string{"missing", "bad value", "bad span", "bad stamp", "time break"}

// String names the reasons, "used" without any.
func (r Reason) String() string {
	var names []string
	for i, name := range reasonNames {
		if r&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "used"
	}
	return strings.Join(names, ", ")
}

// Mask holds, for each value of one segment, the reasons why training does not use it:
// channels × samples. The channels are the states, then the inputs, then the auxiliary
// channels, each in the order of the header. BadSpan of a state or an input leaves out the whole sample; that of an
// auxiliary channel, which nothing is learned from, only names it.
type Mask [][]Reason

// Only returns the mask with the reasons given alone.
func (m Mask) Only(reasons Reason) Mask {
	out := make(Mask, len(m))
	for c, col := range m {
		out[c] = make([]Reason, len(col))
		for i, r := range col {
			out[c][i] = r & reasons
		}
	}
	return out
}

// Samples returns, by sample, the reasons of any of the first so many channels, at least
// one.
func (m Mask) Samples(channels int) []Reason {
	out := slices.Clone(m[0])
	for _, col := range m[1:channels] {
		for i, r := range col {
			out[i] |= r
		}
	}
	return out
}

// String prints, a line a channel, the ranges of samples that are not used and why.
func (m Mask) String() string {
	var b strings.Builder
	for c, col := range m {
		fmt.Fprintf(&b, "channel %d:", c)
		for i, j := range runs(len(col), func(first, i int) bool { return col[i] == col[first] }) {
			if col[i] != 0 {
				fmt.Fprintf(&b, " [%d, %d) %v;", i, j, col[i])
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
