package window

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/actuator"
)

// InputAt writes the input that holds at time t (s after Origin) to dst (P). At
// a sample it is the value that begins there; before the first sample the first
// value, after the last the last one.
func (f *Flight) InputAt(dst []float64, t float64) {
	held := f.Input(max(f.at(t), 0))
	if f.acting == nil {
		copy(dst[:f.P], held)
		return
	}
	whole, _ := f.Past(0)
	for p, r := range f.acting {
		dst[p] = whole.output(p, r, t)
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
	interval, left := -1.0, 0.0
	for k := j + 1; k <= i; k++ {
		end := t
		if k < i {
			end = f.T[k+1]
		}
		if dt := end - f.T[k]; math.Abs(dt-interval) > snap {
			interval, left = dt, math.Exp(-math.Max(dt, 0)/r.Lag)
		}
		u := f.command(k, p)
		v = u + (v-u)*left
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

// InputMean writes the exact mean of the held input over [a, b] (s after Origin,
// a ≤ b) to dst (P), in O(log n). Over less than a nanosecond it is the value at
// a: such an interval is what rounding has left of none.
func (f *Flight) InputMean(dst []float64, a, b float64) {
	if f.P == 0 {
		return
	}
	if !(a <= b+snap) {
		panic(badInterval)
	}
	if b-a <= snap {
		f.InputAt(dst, a)
		return
	}
	i, j := max(f.at(a), 0), max(f.at(b), 0)
	if f.acting != nil {
		whole, _ := f.Past(0)
		for p, r := range f.acting {
			dst[p] = whole.commands(p, b-r.Dead) - whole.commands(p, a-r.Dead)
			if r.Lag > 0 {
				dst[p] -= r.Lag * (whole.output(p, r, b) - whole.output(p, r, a))
			}
			dst[p] /= b - a
		}
		f.unlessKnown(dst, f.Input(i))
		return
	}
	if i == j {
		copy(dst[:f.P], f.Input(i))
		return
	}
	for p := range f.P {
		if f.constant[p] { // exactly, so that no regression takes rounding for a signal
			dst[p] = f.U[p]
			continue
		}
		from := f.integral[i*f.P+p] + f.U[i*f.P+p]*(a-f.T[i])
		to := f.integral[j*f.P+p] + f.U[j*f.P+p]*(b-f.T[j])
		dst[p] = (to - from) / (b - a)
	}
}

// Input is the recorded input of one window, its time counted from the window's
// start. Set Flight and Start, and reuse it from window to window.
type Input struct {
	Flight *Flight
	Start  int // sample
}

// At writes u(t) to dst (P).
func (in *Input) At(dst []float64, t float64) {
	in.Flight.InputAt(dst, in.Flight.T[in.Start]+t)
}

// Mean writes the mean of u over [a, b] to dst (P).
func (in *Input) Mean(dst []float64, a, b float64) {
	t0 := in.Flight.T[in.Start]
	in.Flight.InputMean(dst, t0+a, t0+b)
}

// Next returns the time of the first sample after t, at which u may change.
func (in *Input) Next(t float64) float64 {
	f := in.Flight
	i := max(f.at(f.T[in.Start]+t), 0) + 1
	if i >= f.N() {
		return math.Inf(1)
	}
	return f.T[i] - f.T[in.Start]
}

const badInterval = "window: the mean of an input needs a ≤ b"
