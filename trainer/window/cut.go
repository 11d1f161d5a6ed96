package window

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Window is one trajectory: it starts at a sample of a flight.
type Window struct {
	Flight int // index into the flights it was cut from
	Start  int // sample
}

// Cut lists the windows of horizon H, s, in all flights, starts about stride
// seconds apart (0 = every sample).
func Cut(flights []Flight, H, stride float64) []Window {
	var out []Window
	var starts []int
	for i := range flights {
		starts = flights[i].Starts(starts[:0], H, stride)
		for _, s := range starts {
			out = append(out, Window{Flight: i, Start: s})
		}
	}
	return out
}

// Starts appends to dst the samples at which a window of horizon H, s, can
// start. They are the first ones at or after the times of a grid with step
// stride, s (0 = every sample), so that a jittering clock does not stretch the
// mean distance.
func (f *Flight) Starts(dst []int, H, stride float64) []int {
	if len(f.T) == 0 {
		return dst
	}
	last := f.T[len(f.T)-1] + snap
	next := f.T[0]
	for i, t := range f.T {
		if t+H > last {
			break
		}
		if t < next-snap || !f.Known(i) {
			continue
		}
		dst = append(dst, i)
		if stride > 0 {
			next += stride * (math.Floor((t+snap-next)/stride) + 1)
		}
	}
	return dst
}

// Known reports whether sample i has every state and every input.
func (f *Flight) Known(i int) bool {
	return !slices.ContainsFunc(f.State(i), math.IsNaN) && !slices.ContainsFunc(f.Input(i), math.IsNaN)
}

// Task is what is predicted of flights: their states, over a horizon, from a state and
// the inputs.
type Task struct {
	States  []channel.Channel // K
	Inputs  int               // P
	Horizon float64           // H, s
}

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
