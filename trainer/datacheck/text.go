package datacheck

import (
	"fmt"
	"strconv"
)

// sec prints a time for people: three decimals.
func sec(t float64) string { return strconv.FormatFloat(t, 'f', 3, 64) + " s" }

// span prints a stretch of time.
func span(a, b float64) string { return fmt.Sprintf("%.3f-%.3f s", a, b) }

// num prints a value with four figures.
func num(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// interval prints a short time with the unit that suits it.
func interval(t float64) string {
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

// value prints a number of channel k with its unit.
func (c *checker) value(k int, v float64) string {
	if u := c.channels[k].Unit; u != "" {
		return num(v) + " " + u
	}
	return num(v)
}
