package estimator

import (
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// References are models that between them have every part of the format, each with the
// answers to its probes at referenceTimes, little-endian float64.
//
//go:embed reference
var referenceFiles embed.FS

// ReferenceNames are the references.
var ReferenceNames = [...]string{"windows", "stack", "body", "paper", "exact"}

// referencePoints is how many times a reference is predicted at: more than two blocks of a
// Fast, the last of them not full.
const referencePoints = 35

// VerifyBuild predicts the reference models with a Predictor and a Fast and returns an error
// unless they answer as when they were made: with and without plan, history and covariance
// of the start, with scores and derivatives. It finds a program that was built wrongly, or a
// processor that calculates wrongly, where a model's own self-checks do not reach.
func VerifyBuild() error {
	for _, name := range ReferenceNames {
		if err := verifyReference(name); err != nil {
			return fmt.Errorf("reference %s: %w: this program, or the processor, does not calculate as it should; install it again", name, err)
		}
	}
	return nil
}

func verifyReference(name string) error {
	m, want, err := reference(name)
	if err != nil {
		return err
	}
	times := referenceTimes(m)
	plain := build(m, times)
	if err := answersAs(plain, m, want, plainTolerance); err != nil {
		return fmt.Errorf("plain predictor: %w", err)
	}
	if c := compile(m, simd.Best()); c != nil {
		if err := answersAs(newFast(plain, c), m, want, fastTolerance); err != nil {
			return fmt.Errorf("fast predictor on %v: %w", c.unit, err)
		}
	}
	return nil
}

func reference(name string) (m *model.Model, answers []float64, err error) {
	file, err := referenceFiles.ReadFile("reference/" + name + ".dgm")
	if err != nil {
		return nil, nil, err
	}
	if m, err = model.Decode(file); err != nil {
		return nil, nil, err
	}
	b, err := referenceFiles.ReadFile("reference/" + name + ".answers")
	if err != nil {
		return nil, nil, err
	}
	for ; len(b) >= 8; b = b[8:] {
		answers = append(answers, math.Float64frombits(binary.LittleEndian.Uint64(b)))
	}
	return m, answers, nil
}

// referenceTimes are in no order, the last of them at the end of the horizon.
func referenceTimes(m *model.Model) []float64 {
	times := make([]float64, referencePoints)
	for i := range times {
		times[i] = m.Horizon * float64((i+1)*8%referencePoints) / referencePoints
	}
	times[referencePoints-1] = m.Horizon
	return times
}

// answersAs compares the answers to all probes of a reference with those wanted.
func answersAs(p checkable, m *model.Model, want []float64, tolerance float64) error {
	d := p.NewPrediction().WithDerivatives()
	var got []float64
	for i, q := range append(probes(m), farProbe(m)) {
		if !p.Predict(d, &q) {
			return fmt.Errorf("the answer to probe %d is not finite", i)
		}
		got = appendAnswer(got[:0], d)
		if len(want) < len(got) {
			return errors.New("it has too few answers")
		}
		n := len(d.Mean)
		for j, w := range want[:len(got)] {
			unit := math.Max(1, math.Abs(w)) // of a score or ratio
			switch {
			case j < 3*n: // mean, std, obs_std
				unit = want[2*n+j%n]
			case j < 5*n: // derivatives
				unit = want[4*n+j%n] + 1e-3*math.Abs(w)
			}
			if !(math.Abs(got[j]-w) <= tolerance*unit) {
				return fmt.Errorf("number %d of the answer to probe %d is %g and should be %g", j, i, got[j], w)
			}
		}
		want = want[len(got):]
	}
	return nil
}

func appendAnswer(dst []float64, d *Prediction) []float64 {
	for _, v := range [...][]float64{d.Mean, d.Std, d.ObsStd, d.DMean, d.DStd, d.RMSRatio} {
		dst = append(dst, v...)
	}
	dst = append(dst, d.Distance, d.Leverage, d.InputScore, d.OOD, d.Half50, float64(d.Readout))
	for _, b := range [...]bool{d.NoHistory, d.OutOfDistribution} {
		v := 0.0
		if b {
			v = 1
		}
		dst = append(dst, v)
	}
	return dst
}

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
