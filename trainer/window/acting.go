package window

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/actuator"
)

// Acting returns the flights with inputs that are what acts of the commands: in InputAt and InputMean, and so in windows. U stays the
// commands.
func Acting(flights []Flight, responses []actuator.Response) []Flight {
	if !actuator.Acts(responses) {
		return flights
	}
	out := slices.Clone(flights)
	for i := range out {
		out[i].acting = responses
	}
	return out
}

// settled is after how many lags a command does not matter any more: e⁻²⁰.
const settled = 20

// output returns what acts of input p at t, see package actuator: of commands that no longer matter the last one was held.
func (f *Flight) output(p int, r actuator.Response, t float64) (v float64) {
	t -= r.Dead
	i := max(f.at(t), 0)
	if r.Lag == 0 {
		return f.command(i, p)
	}
	j := max(f.at(t-settled*r.Lag), 0)
	v = f.command(j, p)
	for k := j + 1; k <= i; k++ {
		end := t
		if k < i {
			end = f.T[k+1]
		}
		v = r.Follow(v, f.command(k, p), end-f.T[k])
	}
	return v
}

// command returns input p as it is held from sample i on; before it is known the first that is.
func (f *Flight) command(i, p int) float64 {
	for ; i < f.N(); i++ {
		if u := f.U[i*f.P+p]; !math.IsNaN(u) {
			return u
		}
	}
	return 0
}

// commands returns the integral of the commands of input p up to t.
func (f *Flight) commands(p int, t float64) float64 {
	i := max(f.at(t), 0)
	return f.integral[i*f.P+p] + f.command(i, p)*(t-f.T[i])
}

// outputs writes what acts at t to dst (P), where held are the commands.
func (f *Flight) outputs(dst, held []float64, t float64) {
	whole, _ := f.Past(0)
	for p, r := range f.acting {
		dst[p] = whole.output(p, r, t)
	}
	f.unlessKnown(dst, held)
}

// meanOutputs writes the mean of what acts from a to b to dst (P), where held are the commands at a.
func (f *Flight) meanOutputs(dst, held []float64, a, b float64) {
	whole, _ := f.Past(0)
	for p, r := range f.acting {
		dst[p] = r.Mean(whole.commands(p, b-r.Dead)-whole.commands(p, a-r.Dead), whole.output(p, r, a), whole.output(p, r, b), b-a)
	}
	f.unlessKnown(dst, held)
}

// unlessKnown replaces what acts of inputs that are constant, exactly, and of those that are not known yet, by what is held.
func (f *Flight) unlessKnown(dst, held []float64) {
	for p, u := range held {
		if f.constant[p] || math.IsNaN(u) {
			dst[p] = u
		}
	}
}
