package estimator

import (
	"fmt"
	"math"
)

// agreeTolerance is how far a Fast may be from the Predictor away from the self-checks, in
// standard deviations of a measurement.
const agreeTolerance = 1e-3

// mostCompared is at how many of its times a Fast is compared with the Predictor: the first
// ones, some between, and the last.
const mostCompared = 24

// Verify predicts with a Fast at its own times and with a Predictor, and returns an error
// where they differ: with and without plan, history and covariance of the start.
func (f *Fast) Verify() error {
	if f.c == nil {
		return nil // it is a Predictor
	}
	m, times := f.plain.m, f.plain.times
	at := compared(len(times))
	some := make([]float64, len(at))
	for i, j := range at {
		some[i] = times[j]
	}
	plain := build(m, some)
	widths := agreeTolerance
	if f.g.interpolated() {
		widths += widthTolerance
	}
	want, got := plain.NewPrediction(), f.NewPrediction()
	for i, q := range probes(m) {
		if !plain.Predict(want, &q) {
			continue // so far from the training states
		}
		if !f.Predict(got, &q) {
			return fmt.Errorf("the fast predictor does not answer probe %d, the plain one does: set predictor = \"plain\"", i)
		}
		if math.Abs(got.OOD-want.OOD) > agreeTolerance*(1+want.OOD) {
			return fmt.Errorf("the out-of-distribution score of probe %d is %g by the fast predictor, %g by the plain one: set predictor = \"plain\"", i, got.OOD, want.OOD)
		}
		for a, b := range at {
			for k := range m.K {
				j, l := a*m.K+k, b*m.K+k
				d, most := math.Abs(got.Mean[l]-want.Mean[j]), agreeTolerance*want.ObsStd[j]
				if d <= most {
					d, most = math.Max(math.Abs(got.Std[l]-want.Std[j]), math.Abs(got.ObsStd[l]-want.ObsStd[j])), widths*want.ObsStd[j]
				}
				if !(d <= most) {
					return fmt.Errorf("channel %q at %g s differs by %g standard deviations between the fast predictor and the plain one, in probe %d: set predictor = \"plain\"",
						m.Channels[k].Name, times[b], d/want.ObsStd[j], i)
				}
			}
		}
	}
	return nil
}

// compared returns which of n times are compared, in order, with the last.
func compared(n int) (at []int) {
	if n <= mostCompared {
		for i := range n {
			at = append(at, i)
		}
		return at
	}
	const first = mostCompared / 2
	for i := range mostCompared {
		if i < first {
			at = append(at, i)
		} else {
			at = append(at, first-1+(i-first+1)*(n-first)/(mostCompared-first))
		}
	}
	return at
}
