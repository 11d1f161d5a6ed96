package datacheck

import (
	"fmt"
	"strconv"
)

// sec prints a time with three decimals.
func sec(t float64) string { return strconv.FormatFloat(t, 'f', 3, 64) + " s" }

// printSpan prints a stretch of time.
func printSpan(a, b float64) string { return fmt.Sprintf("%.3f-%.3f s", a, b) }

// num prints a value with four figures.
func num(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// exact prints a value so that it is read as the same one.
func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// duration prints a short time in a unit that suits it.
func duration(t float64) string {
	switch {
	case t < 1e-3:
		return num(t*1e6) + " µs"
	case t < 1:
		return num(t*1e3) + " ms"
	}
	return num(t) + " s"
}

// plural prints a count with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// were prints a count of samples as the subject of a passive sentence.
func were(n int) string {
	if n == 1 {
		return "1 sample is"
	}
	return plural(n, "sample") + " are"
}

func (r *recording) value(k int, v float64) string {
	if u := r.channels[k].Unit; u != "" {
		return num(v) + " " + u
	}
	return num(v)
}
