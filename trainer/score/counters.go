package score

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Counters accumulates the scores of one set of points, of one channel at one horizon
// or of a whole trajectory. The zero value is empty, with Gaussian intervals. Means over no points are NaN.
type Counters struct {
	Half50                       float64 // half width of the 50 % interval over s; 0 = a Gaussian's
	N                            int
	Square, CRPSSum, LogLikSum   float64 // sums of (x−m)², CRPS, log likelihood
	StdSum                       float64 // sum of s
	Inside50, Inside90, Inside95 int
}

// Add scores one point. The caller has passed it through Check.
func (t *Counters) Add(x, m, s float64) {
	t.N++
	t.Square += (x - m) * (x - m)
	t.CRPSSum += CRPS(x, m, s)
	t.LogLikSum += LogLik(x, m, s)
	t.StdSum += s
	half := t.Half50
	if half == 0 {
		half = Z50
	}
	t.Inside50 += count(Covered(x, m, s, half))
	t.Inside90 += count(Covered(x, m, s, Z90))
	t.Inside95 += count(Covered(x, m, s, Z95))
}

// RMSE returns the root mean square error.
func (t *Counters) RMSE() float64 { return math.Sqrt(t.Square / float64(t.N)) }

// CRPS returns the mean CRPS.
func (t *Counters) CRPS() float64 { return t.CRPSSum / float64(t.N) }

// LogLik returns the mean log likelihood.
func (t *Counters) LogLik() float64 { return t.LogLikSum / float64(t.N) }

// Std returns the mean predicted standard deviation.
func (t *Counters) Std() float64 { return t.StdSum / float64(t.N) }

// Coverage returns the share of points inside the central 50, 90 and 95 %
// intervals.
func (t *Counters) Coverage() (c50, c90, c95 float64) {
	n := float64(t.N)
	return float64(t.Inside50) / n, float64(t.Inside90) / n, float64(t.Inside95) / n
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// GeoRatio returns the geometric mean of a[i]/b[i], such as the errors
// of a model over those of holding the last value. All values must be positive.
func GeoRatio(a, b []float64) float64 {
	logs := make([]float64, len(a))
	for i := range a {
		logs[i] = math.Log(a[i] / b[i])
	}
	return math.Exp(floats.Sum(logs) / float64(len(logs)))
}

// Merge adds the points of o.
func (t *Counters) Merge(o *Counters) {
	t.N += o.N
	t.Square, t.CRPSSum, t.LogLikSum, t.StdSum = t.Square+o.Square, t.CRPSSum+o.CRPSSum, t.LogLikSum+o.LogLikSum, t.StdSum+o.StdSum
	t.Inside50, t.Inside90, t.Inside95 = t.Inside50+o.Inside50, t.Inside90+o.Inside90, t.Inside95+o.Inside95
}
