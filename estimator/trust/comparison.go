package trust

import "math"

// Comparison scores two predictions, a and b, of the same windows: B times after each start, K
// channels. It is not safe for concurrent use.
type Comparison struct {
	Windows   int
	Covered   [2][]float64 // B×K, share of measurements within mean ± 1.96 standard deviations
	CRPS      [2][]float64 // B×K, mean, in the unit of the channel
	Mean, Std float64      // over windows, of the difference of their scores b − a

	scale   []float64 // B×K, standard deviations of a in the first window
	squares float64   // of the difference about its mean
}

// NewComparison allocates all memory.
func NewComparison(n int) *Comparison {
	c := &Comparison{scale: make([]float64, n)}
	for i := range c.Covered {
		c.Covered[i], c.CRPS[i] = make([]float64, n), make([]float64, n)
	}
	return c
}

// Add adds a window: errors and standard deviations of a and b, B×K each. A window with a
// number that is not finite is left out, which Add reports. The score of a window is the mean of
// its CRPS, each in the standard deviation that a gave in the first window.
func (c *Comparison) Add(off, std [2][]float64) (ok bool) {
	difference := 0.0
	for i := range c.scale {
		scale := c.scale[i]
		if c.Windows == 0 {
			scale = std[0][i]
		}
		difference += (crps(off[1][i], std[1][i]) - crps(off[0][i], std[0][i])) / scale / float64(len(c.scale))
	}
	if math.IsNaN(difference) || math.IsInf(difference, 0) {
		return false
	}
	if c.Windows == 0 {
		copy(c.scale, std[0])
	}
	c.Windows++
	share := 1 / float64(c.Windows)
	for j := range c.Covered {
		for i := range c.scale {
			c.Covered[j][i] += share * (indicator(math.Abs(off[j][i]) <= width*std[j][i]) - c.Covered[j][i])
			c.CRPS[j][i] += share * (crps(off[j][i], std[j][i]) - c.CRPS[j][i])
		}
	}
	before := difference - c.Mean
	c.Mean += share * before
	c.squares += before * (difference - c.Mean)
	if c.Windows > 1 {
		c.Std = math.Sqrt(c.squares / float64(c.Windows-1))
	}
	return true
}

// crps is the continuous ranked probability score of a normal distribution for a measurement
// that is off by an error (Gneiting & Raftery 2007, equation 21, with its sign changed: less is
// better).
func crps(off, std float64) float64 {
	z := off / std
	density := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
	return std * (z*math.Erf(z/math.Sqrt2) + 2*density - 1/math.Sqrt(math.Pi))
}
