package report

import (
	"math"
	"strconv"
	"strings"
)

// spread returns n entries: the first, the last, and those evenly between.
func spread[T any](all []T, n int) []T {
	if len(all) <= n {
		return all
	}
	var out []T
	for i := range n {
		out = append(out, all[int(math.Round(float64(i)*float64(len(all)-1)/float64(n-1)))])
	}
	return out
}

// value prints a number with three significant digits.
func value(v float64) string {
	s := strconv.FormatFloat(v, 'e', 2, 64)
	exponent, _ := strconv.Atoi(s[strings.IndexByte(s, 'e')+1:]) // after rounding: that of 0.9996 is 0
	switch {
	case v == 0:
		s = "0"
	case exponent < -3 || exponent >= 5:
		s = strconv.FormatFloat(v, 'e', 1, 64)
	default:
		s = strconv.FormatFloat(v, 'f', max(0, 2-exponent), 64)
	}
	return strings.Replace(s, "-", "\u2212", 1)
}

// percent prints a share.
func percent(v float64) string { return strconv.FormatFloat(100*v, 'f', 0, 64) + "\u2009%" }

// percents prints a share with one decimal.
func percents(v float64) string { return strconv.FormatFloat(100*v, 'f', 1, 64) }

// keep keeps numbers with their per cent signs and their exponents on one line.
func keep(text string) string { return unbroken.Replace(text) }

var unbroken = strings.NewReplacer(" %", "\u00a0%", "e-0", "e\u20110")

// seconds prints a horizon.
func seconds(v float64) string {
	return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'g', -1, 64) + "\u2009s"
}
