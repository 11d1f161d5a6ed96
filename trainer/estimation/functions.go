package estimation

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/trainer/window"
)

const (
	mostColumns = 260
	delays      = 11 // means of each input, one before the other, and one of what follows
	groups      = 4  // of them, whose means multiply functions of the states
)

// harmonics of a state that is not declared as an angle, rad for one standard deviation; it may be one, in radians, or in degrees where it varies by
// more than mostRadians.
var harmonics = [...]float64{0.8, 1.6}

const mostRadians = 10

// functions are those of the states and of the inputs up to now that a slope may follow from: powers and harmonics of the states, inputs as
// they were, and products of both, as many as the number of rows and mostColumns allow.
type functions struct {
	states    []channel.Channel
	mean, std []float64
	span      float64 // s, of the line that the states are averaged over
	reach     float64 // s: inputs are read back to then
	columns   int     // at most
	inputs    []float64
}

func newFunctions(flights []window.Flight, states []channel.Channel, span float64) *functions {
	f := &functions{states: states, span: span, reach: math.Max(recent, recentBy*window.Interval(flights)), inputs: make([]float64, flights[0].P)}
	f.columns = min(mostColumns, window.Samples(flights)/leastRows)
	for k := range states {
		mean, std := moments(flights, k)
		f.mean, f.std = append(f.mean, mean), append(f.std, math.Max(std, math.SmallestNonzeroFloat32))
	}
	return f
}

// at returns the functions of the states between two samples of a flight, and of the inputs up to a time; nil where a state was not measured.
func (b *functions) at(f *window.Flight, from, to int, t float64) []float64 {
	var linear, periodic []float64
	for k, c := range b.states {
		v := level(f, k, from, to)
		if math.IsNaN(v) {
			return nil
		}
		for _, phase := range b.phases(k, v) {
			sin, cos := math.Sincos(phase)
			periodic = append(periodic, sin, cos)
		}
		if c.Period == 0 {
			linear = append(linear, (v-b.mean[k])/b.std[k])
		}
	}
	out, means := b.delayed(linear, f, t)
	out = append(out, periodic...)
	all := append(linear, periodic...)
	for _, group := range [...][2][]float64{{linear, linear}, {means, means}, {means, all}} {
		if products := product(group[0], group[1]); len(out)+len(products) <= b.columns {
			out = append(out, products...)
		}
	}
	return out
}

// phases returns those of the harmonics of a state, rad.
func (b *functions) phases(k int, v float64) []float64 {
	if period := b.states[k].Period; period > 0 {
		turn := 2 * math.Pi / period * v
		return []float64{turn, 2 * turn}
	}
	x, turn := (v-b.mean[k])/b.std[k], v
	if b.std[k] > mostRadians {
		turn *= math.Pi / 180
	}
	return []float64{harmonics[0] * x, harmonics[1] * x, turn}
}

// delayed appends the means of each input before a time to a copy of dst, and returns those of groups of them, too.
func (b *functions) delayed(dst []float64, f *window.Flight, t float64) (out, means []float64) {
	out = append(out, dst...)
	if f.P == 0 {
		return out, nil
	}
	means = make([]float64, groups*f.P)
	for d := range delays + 1 {
		before, until := t-float64(d)*b.reach/delays, t-float64(d-1)*b.reach/delays
		if d == 0 {
			until = t + b.span/2
		}
		f.InputMean(b.inputs, before, until)
		for p, v := range b.inputs {
			out = append(out, v)
			means[d*groups/(delays+1)*f.P+p] += v
		}
	}
	return out, means
}

// product returns the products of the values of a and b; of those of one with itself each once.
func product(a, b []float64) (out []float64) {
	same := len(a) > 0 && len(a) == len(b) && &a[0] == &b[0]
	for i, v := range a {
		first := 0
		if same {
			first = i
		}
		for _, w := range b[first:] {
			out = append(out, v*w)
		}
	}
	return out
}

// level returns the mean of a state between two samples, or its last value before; NaN where there is none.
func level(f *window.Flight, k, from, to int) float64 {
	sum, n := 0.0, 0.0
	for i := to; i >= 0 && (i >= from || n == 0); i-- {
		if v := f.X[i*f.K+k]; !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	return sum / n
}

// moments returns mean and standard deviation of a state.
func moments(flights []window.Flight, k int) (mean, std float64) {
	n := 0.0
	for i := range flights {
		f := &flights[i]
		for j := k; j < len(f.X); j += f.K {
			if v := f.X[j]; !math.IsNaN(v) {
				n++
				d := v - mean
				mean += d / n
				std += d * (v - mean)
			}
		}
	}
	return mean, math.Sqrt(std / math.Max(n, 1))
}
