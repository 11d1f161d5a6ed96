package adapt

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator"
)

// Observed learns from a sample: the state x (K) at t, ns on the robot's clock, and the input u (P) held from
// then on. Samples that are not finite or implausible are left out. A gap, or a clock that goes back, drops the
// pending windows.
func (f *Filter) Observed(t int64, x, u []float64) {
	if len(u) != f.m.P || !f.plausible(x, u) || f.seen && t == f.last {
		return
	}
	gap := int64(f.m.Horizon * 1e9 / 4)
	if f.seen && (t < f.last || t-f.last > gap || t-f.last < 0) { // overflow
		f.age(math.Max(seconds(t-f.last), 0))
		f.forget()
	}
	f.inputs.add(t, u)
	if f.seen {
		for i := range f.n {
			f.read(&f.windows[(f.first+i)%len(f.windows)], t, x)
		}
		for f.n > 0 && f.windows[f.first].next == len(f.buckets) {
			f.first, f.n = (f.first+1)%len(f.windows), f.n-1
		}
	}
	if !f.seen || f.n == 0 || t-f.begun >= int64(f.m.Horizon*1e9/perHorizon*(1-slack)) {
		f.begin(t, x, u)
	}
	f.past.Add(t, x, u)
	f.seen, f.last = true, t
	copy(f.x, x)
}

// mostUnits bounds states and inputs, in their usual sizes.
const mostUnits = 1e6

// plausible reports whether a sample can be learned from.
func (f *Filter) plausible(x, u []float64) bool {
	for k, v := range x {
		if !(math.Abs(v) <= mostUnits*math.Max(f.m.Scale[k], 1)) {
			return false
		}
	}
	in := &f.m.Inputs
	for p, v := range u {
		if !(math.Abs(v-in.InputMean[p]) <= mostUnits*in.InputStd[p]) {
			return false
		}
	}
	return true
}

// slack is the share of a time by which stamps of a regular clock may be off.
const slack = 1e-3

// begin begins a window.
func (f *Filter) begin(t int64, x, u []float64) {
	if f.n > 0 {
		f.age(seconds(t - f.begun))
	}
	if f.n == len(f.windows) {
		f.first, f.n = (f.first+1)%len(f.windows), f.n-1
	}
	w := &f.windows[(f.first+f.n)%len(f.windows)]
	f.n++
	f.number++
	f.begun = t
	w.t, w.number, w.next = t, f.number, 0
	copy(w.x, x)
	copy(w.u, u)
	w.n = f.past.Fill(w.rows, t, x) * (f.m.K + f.m.P)
	copy(w.theta, f.state.Theta)
	copy(w.covariance, f.state.Covariance)
	copy(w.errors, f.state.Errors)
	copy(w.rests, f.state.Rests)
	copy(w.weights, f.state.Weights)
	of, by := len(w.past)/f.state.readouts(), len(w.pastBy)/f.state.readouts()
	for r := range f.state.readouts() {
		var wanted [Buckets]bool
		for b := range wanted {
			wanted[b] = w.reads(b, r)
		}
		if !slices.Contains(wanted[:], true) {
			continue
		}
		f.before.start(w.x, w.rows[:w.n], estimator.Readout(r).Condition(w.n < len(w.rows)), w.theta, true)
		f.before.parts(w.past[r*of:(r+1)*of], w.pastBy[r*by:(r+1)*by], wanted[:])
	}
}

// read learns from the buckets of a window that end between the last sample and this one.
func (f *Filter) read(w *window, t int64, x []float64) {
	for w.next < len(f.buckets) {
		b := w.next
		end := w.t + int64(math.Round(f.buckets[b]*1e9))
		if end > t {
			return
		}
		w.next++
		if seconds(t-f.last) > f.buckets[b]*(1+slack) {
			continue
		}
		share := float64(end-f.last) / float64(t-f.last)
		for k, c := range f.m.Channels[:f.m.K] {
			d := x[k] - f.x[k]
			if c.Period > 0 {
				d -= c.Period * math.Round(d/c.Period)
			}
			f.y[k] = f.x[k] + share*d
		}
		f.learn(w, b)
	}
}
