package window

import "math"

// Thin returns at most n of the windows, evenly spread.
func Thin(w []Window, n int) []Window {
	if len(w) <= n {
		return w
	}
	out := make([]Window, n)
	for i := range out {
		out[i] = w[i*len(w)/n]
	}
	return out
}

// InputScale returns mean and standard deviation (population) of the p inputs
// over all samples at which they are known; one that never changes has standard
// deviation 1, so that it reads 0.
func InputScale(flights []Flight, p int) (mean, std []float64) {
	mean, std = make([]float64, p), make([]float64, p)
	for c := range p {
		var n, sq float64
		for i := range flights {
			for j := range flights[i].N() {
				v := flights[i].Input(j)[c]
				if math.IsNaN(v) {
					continue
				}
				n++
				d := v - mean[c]
				mean[c] += d / n
				sq += d * (v - mean[c])
			}
		}
		std[c] = math.Sqrt(sq / math.Max(n, 1))
		if !(std[c] > 1e-12*(1+math.Abs(mean[c]))) {
			std[c] = 1
		}
	}
	return mean, std
}
