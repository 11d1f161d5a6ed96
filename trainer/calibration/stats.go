package calibration

import (
	"cmp"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// normal50 and normal95 are the 50 and 95 % points of |z|.
const normal50, normal95 = model.Gaussian50, 1.959964

// Mean returns the mean and its standard error; 0 of one value.
func Mean(v []float64) (mean, standardError float64) {
	n, squares := float64(len(v)), 0.0
	for _, x := range v {
		mean += x / n
		squares += x * x / n
	}
	return mean, math.Sqrt(math.Max(0, squares-mean*mean) / math.Max(1, n-1))
}

// PairedDifference returns the mean of a − b and its standard error.
func PairedDifference(a, b []float64) (mean, standardError float64) {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return Mean(d)
}

// quantile95 returns the 95 % quantile of |z| over that of a standard normal; 1
// of nothing.
func quantile95(z []float64) float64 {
	if len(z) == 0 {
		return 1
	}
	a := make([]float64, len(z))
	for i, v := range z {
		a[i] = math.Abs(v)
	}
	slices.Sort(a)
	return a[min(int(0.95*float64(len(a))), len(a)-1)] / normal95
}

// weighted is a value with a weight.
type weighted struct{ value, weight float64 }

// quantile returns the quantile p of weighted values, which it sorts; 0 of nothing.
func quantile(v []weighted, p float64) float64 {
	slices.SortFunc(v, func(a, b weighted) int { return cmp.Compare(a.value, b.value) })
	total := 0.0
	for _, x := range v {
		total += x.weight
	}
	sum := 0.0
	for _, x := range v {
		if sum += x.weight; sum >= p*total {
			return x.value
		}
	}
	return 0
}
