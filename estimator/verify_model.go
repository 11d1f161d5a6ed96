package estimator

import (
	"fmt"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/model"
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
	at, times := compared(len(f.plain.times)), []float64(nil)
	for _, j := range at {
		times = append(times, f.plain.times[j])
	}
	return f.agrees(probed(build(f.plain.m, times), f.plain.m), f.g.interpolated(), at)
}

// VerifyFirst is Verify of other Fasts of the same model, whose times are the first of those of f, by comparison
// with f, which was verified. Nothing else may use them meanwhile.
func (f *Fast) VerifyFirst(others []*Fast) error {
	want := probed(f, f.plain.m)
	for _, other := range others {
		n := len(other.plain.times)
		if f.c == nil || other.c == nil || len(f.plain.times) < n || !slices.Equal(other.plain.times, f.plain.times[:n]) {
			if err := other.Verify(); err != nil {
				return err
			}
			continue
		}
		at := make([]int, n)
		for i := range at {
			at[i] = i
		}
		if err := other.agrees(want, true, at); err != nil {
			return err
		}
	}
	return nil
}

// probed returns the answers to probes; nil where there is none, so far from the training states.
func probed(p checkable, m *model.Model) (out []*Prediction) {
	for _, q := range probes(m) {
		d := p.NewPrediction()
		if !p.Predict(d, &q) {
			d = nil
		}
		out = append(out, d)
	}
	return out
}

// agrees compares the answers to probes with those of another predictor, whose times are these of f. Between nodes
// standard deviations may differ.
func (f *Fast) agrees(probed []*Prediction, interpolated bool, at []int) error {
	m, times := f.plain.m, f.plain.times
	widths := agreeTolerance
	if interpolated {
		widths += widthTolerance
	}
	got := f.NewPrediction()
	for i, q := range probes(m) {
		want := probed[i]
		if want == nil {
			continue
		}
		if !f.Predict(got, &q) {
			return fmt.Errorf("the fast predictor does not answer probe %d, the plain one does: set predictor = \"plain\"", i)
		}
		if last := times[len(times)-1] == want.Times[len(want.Times)-1]; last && math.Abs(got.OOD-want.OOD) > agreeTolerance*(1+want.OOD) {
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
