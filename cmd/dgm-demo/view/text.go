package view

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// number prints a value with three figures.
func number(v float64) string {
	a := math.Abs(v)
	switch {
	case a < 5e-7:
		return "0"
	case a >= 1e5 || a < 1e-3:
		return strconv.FormatFloat(v, 'e', 1, 64)
	}
	d := min(max(2-int(math.Floor(math.Log10(a))), 0), 4)
	s := strconv.FormatFloat(v, 'f', d, 64)
	for d > 0 && s[len(s)-1] == '0' {
		s, d = s[:len(s)-1], d-1
	}
	if s[len(s)-1] == '.' {
		s = s[:len(s)-1]
	}
	return s
}

// percent prints a share, or a dash while there is none.
func percent(c Coverage) string {
	if c.Total == 0 {
		return "-"
	}
	return strconv.FormatFloat(100*c.Share(), 'f', 1, 64) + " %"
}

func millis(s float64) string { return strconv.FormatFloat(1e3*s, 'f', 2, 64) + " ms" }

func elapsed(f *Frame) string {
	if f.Total > 0 {
		return fmt.Sprintf("%.0f of %.0f s", f.Elapsed, f.Total)
	}
	return fmt.Sprintf("%.0f s", f.Elapsed)
}

// clip cuts plain text to a width.
func clip(s string, columns int) string {
	if utf8.RuneCountInString(s) <= columns {
		return s
	}
	return string([]rune(s)[:columns-1]) + "…"
}
