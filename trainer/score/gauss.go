// Package score scores predicted distributions: Gaussian log likelihood, CRPS,
// coverage of central intervals with its bootstrap interval, root mean square
// error, probability integral transform.
//
// Every score of a point takes the measured (or true) value x, the predicted
// mean m and standard deviation s. A prediction with s ≤ 0, or with anything not
// finite, is not scored: Check reports it. Higher log likelihood and lower CRPS
// are better; both reward intervals that are right and narrow.
//
// Sources: Gneiting & Raftery 2007, "Strictly proper scoring rules, prediction,
// and estimation", for CRPS; Politis & Romano 1992 for the circular block
// bootstrap; Dawid 1984 for the probability integral transform.
package score

import (
	"fmt"
	"math"
)

// Half-widths of the central intervals of a Gaussian, in standard deviations.
const (
	Z50 = 0.6744897501960817
	Z90 = 1.6448536269514722
	Z95 = 1.959963984540054
)

// LogLik returns the log density of x under N(m, s²):
//
//	−½((x−m)/s)² − log s − ½ log 2π
func LogLik(x, m, s float64) float64 {
	u := (x - m) / s
	return -0.5*u*u - math.Log(s) - 0.5*math.Log(2*math.Pi)
}

// CRPS returns the continuous ranked probability score of N(m, s²) at x, in the
// unit of x (Gneiting & Raftery 2007, eq. 21; here lower is better):
//
//	s [u (2Φ(u) − 1) + 2φ(u) − 1/√π]      u = (x−m)/s
func CRPS(x, m, s float64) float64 {
	u := (x - m) / s
	density := math.Exp(-0.5*u*u) / math.Sqrt(2*math.Pi)
	return s * (u*math.Erf(u/math.Sqrt2) + 2*density - 1/math.SqrtPi)
}

// Covered reports whether x lies within z standard deviations of m.
func Covered(x, m, s, z float64) bool { return math.Abs(x-m) <= z*s }

// PIT returns the probability integral transform Φ((x−m)/s). If the predicted
// distributions are right, it is uniform on [0, 1].
func PIT(x, m, s float64) float64 { return 0.5 * math.Erfc(-(x-m)/(s*math.Sqrt2)) }

// Check returns the reason why a prediction cannot be scored: x, m or s is not finite, or
// s is not positive.
func Check(x, m, s float64) error {
	switch {
	case !finite(x):
		return fmt.Errorf("value %v is not finite: omit unmeasured points", x)
	case !finite(m) || !finite(s):
		return fmt.Errorf("prediction %v ± %v is not finite", m, s)
	case !(s > 0):
		return fmt.Errorf("standard deviation %v is not positive: a certain prediction has no density", s)
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
