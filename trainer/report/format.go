package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dgm-robotics/dgm/trainer/evaluate"
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

// number is one of those that stand at the head of a report.
type number struct {
	Name, Value, Note string
	Bad               bool // outside of what USE asks for
}

// numbers returns those by which a model is judged: its error beside two baselines, the coverage of its intervals as a mean and where it
// is least, and how far the test is from the training.
func numbers(t *evaluate.Table) []number {
	name, ratio := t.Geo.Best()
	low, high := t.CoverageRange()
	least, where := 1.0, ""
	for _, h := range t.Horizons {
		for _, c := range h.Channels {
			if c.Coverage95 <= least {
				least, where = c.Coverage95, fmt.Sprintf("%s, %s ahead", c.Name, evaluate.Seconds(h.T))
			}
		}
	}
	flagged := t.FlaggedOOD()
	calibration := "windows of the training flights calibrated it"
	if n := t.CalibrationFlights; n != nil && *n > 0 {
		calibration = fmt.Sprintf("mean over channels; calibrated on %d whole flights", *n)
	}
	return []number{
		{"Error relative to hold", value(t.Geo.Model), "RMSE, geometric mean over channels and horizons", t.Geo.Model > 1},
		{"Error relative to the best", value(ratio), "baseline, " + baselinePhrase[name], ratio > beats},
		{"95 % intervals covered", evaluate.Percent(low, high), calibration, low < meanNarrow || high > meanWide},
		{"Least coverage", evaluate.Percent(least, least), where, least < cellNarrow},
		{"Unlike the training", evaluate.Percent(flagged, flagged), "of the predictions are flagged out of distribution", flagged >= mostFlagged},
	}
}
