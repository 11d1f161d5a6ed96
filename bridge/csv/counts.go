package csv

import (
	"fmt"
	"path/filepath"
	"strconv"
)

// Counts counts what the user should know and what is no error.
type Counts struct {
	Duplicates Count // rows whose time is that of the row before
	Backwards  Count // rows before which the time runs backwards
	Gaps       Count // rows before which there is more than max_gap
	LongestGap int64 // ns
}

// Count is a number of rows and the place of the first.
type Count struct {
	N    int
	File string
	Line int
}

// Add counts a row.
func (c *Count) Add(file string, line int) {
	if c.N == 0 {
		c.File, c.Line = file, line
	}
	c.N++
}

// String returns the place. It names the file without its folder: the text goes into
// the log, which does not depend on where it was made.
func (c Count) String() string {
	file := filepath.Base(c.File)
	if c.N == 1 {
		return fmt.Sprintf("in %s line %d", file, c.Line)
	}
	return fmt.Sprintf("first in %s line %d", file, c.Line)
}

// Remarks returns the counts in sentences, one for each kind that occurred.
func (c *Counts) Remarks(t *Time) []string {
	var out []string
	if c.Duplicates.N > 0 {
		done := "dropped"
		if t.OnDuplicate == Keep {
			done = "kept"
		}
		out = append(out, fmt.Sprintf("%s with the time of the row before %s, %s", number(c.Duplicates.N, "row"), done, c.Duplicates))
	}
	if c.Backwards.N > 0 {
		done := "a segment was begun at each"
		if t.OnBackwards == Keep {
			done = "kept as they are"
		}
		out = append(out, fmt.Sprintf("time runs backwards at %s (%s), %s", number(c.Backwards.N, "row"), done, c.Backwards))
	}
	if c.Gaps.N > 0 {
		out = append(out, fmt.Sprintf("%s longer than max_gap, the longest %s, %s", number(c.Gaps.N, "gap"), seconds(c.LongestGap), c.Gaps))
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

// seconds prints a time in ns.
func seconds[T int64 | float64](ns T) string {
	return strconv.FormatFloat(1e-9*float64(ns), 'g', 6, 64) + " s"
}
