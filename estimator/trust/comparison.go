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

// at interpolates a prediction to a time; ok is false beyond its last row.
func (m *Monitor) at(w *waiting, age float64) (ok bool) {
	times, K := m.cfg.Times[:w.rows], m.cfg.K
	i := 0
	for i < w.rows && times[i] < age {
		i++
	}
	if i == w.rows {
		if i--; age > times[i]*(1+1e-3) {
			return false
		}
	}
	j, f := i, 0.
	if i > 0 {
		j, f = i-1, min((times[i]-age)/(times[i]-times[i-1]), 1)
		f = max(f, 0)
	}
	for k := range K {
		m.mean[k] = w.mean[i*K+k] + f*(w.mean[j*K+k]-w.mean[i*K+k])
		m.std[k] = w.std[i*K+k] + f*(w.std[j*K+k]-w.std[i*K+k])
	}
	return true
}

// off returns the error d of a channel, of an angle the shorter way round.
func (m *Monitor) off(k int, d float64) float64 {
	if turn := m.cfg.Period[k]; turn > 0 {
		d -= turn * math.Round(d/turn)
	}
	return d
}
