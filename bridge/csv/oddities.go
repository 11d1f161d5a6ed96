package csv

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Oddities counts what is no error and what the user should know.
type Oddities struct {
	Duplicates Count     // rows whose time is that of the row before
	Backwards  Count     // rows before which the time runs backwards
	Gaps       Count     // rows before which there is more than max_gap
	LongestGap int64     // ns
	Missing    []Missing // per channel, in the map's order, then per attitude
	Crooked    []Missing // per attitude: rows whose quaternion is not of length 1 and became NaN
}

// Missing counts the rows in which a channel was not measured.
type Missing struct {
	Channel string
	Count
}

// Count is a number of rows and where the first of them stands.
type Count struct {
	N    int
	File string
	Line int
}

func (c *Count) add(file string, line int) {
	if c.N == 0 {
		c.File, c.Line = file, line
	}
	c.N++
}

// where names the file without its folder: the text goes into the log, which does
// not depend on where it was made.
func (c Count) where() string {
	file := filepath.Base(c.File)
	if c.N == 1 {
		return fmt.Sprintf("in %s line %d", file, c.Line)
	}
	return fmt.Sprintf("first in %s line %d", file, c.Line)
}

func newOddities(m *Map) *Oddities {
	o := &Oddities{}
	for _, c := range m.Channels {
		o.Missing = append(o.Missing, Missing{Channel: c.Name})
	}
	for i := range m.Attitudes {
		names := Missing{Channel: strings.Join(m.Attitudes[i].names(), ", ")}
		o.Missing, o.Crooked = append(o.Missing, names), append(o.Crooked, names)
	}
	return o
}

// Texts says it in sentences, one for each kind that occurred.
func (o *Oddities) Texts(duplicates, backwards Policy, rows int) []string {
	var out []string
	if o.Duplicates.N > 0 {
		done := "dropped"
		if duplicates == Keep {
			done = "kept"
		}
		out = append(out, fmt.Sprintf("%s with the time of the row before %s, %s", number(o.Duplicates.N, "row"), done, o.Duplicates.where()))
	}
	if o.Backwards.N > 0 {
		done := "a segment was begun at each"
		if backwards == Keep {
			done = "kept as they are"
		}
		out = append(out, fmt.Sprintf("time runs backwards at %s (%s), %s", number(o.Backwards.N, "row"), done, o.Backwards.where()))
	}
	if o.Gaps.N > 0 {
		out = append(out, fmt.Sprintf("%s longer than max_gap, the longest %s, %s", number(o.Gaps.N, "gap"), seconds(o.LongestGap), o.Gaps.where()))
	}
	for _, m := range o.Crooked {
		if m.N > 0 {
			out = append(out, fmt.Sprintf("quaternion of %q was not of length 1 in %d of %d rows, which hold nothing (NaN) there, %s", m.Channel, m.N, rows, m.where()))
		}
	}
	for _, m := range o.Missing {
		switch {
		case m.N == 0:
		case m.N == rows:
			out = append(out, fmt.Sprintf("channel %q was never measured", m.Channel))
		default:
			out = append(out, fmt.Sprintf("channel %q was not measured in %d of %d rows, %s", m.Channel, m.N, rows, m.where()))
		}
	}
	return out
}

// number prints a count with its noun: "1 row", "2 rows".
func number(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
