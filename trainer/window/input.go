package window

import "math"

// InputAt writes the input that holds at time t (s after Origin) to dst (P). At
// a sample it is the value that begins there; before the first sample the first
// value, after the last the last one.
func (f *Flight) InputAt(dst []float64, t float64) {
	held := f.Input(max(f.at(t), 0))
	if f.acting == nil {
		copy(dst[:f.P], held)
		return
	}
	f.outputs(dst, held, t)
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
		f.meanOutputs(dst, f.Input(i), a, b)
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
