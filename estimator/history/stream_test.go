package history

import (
	"math"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

const ms = int64(1e6)

// sample is one of a stream of two states, the second an angle, and one input.
type sample struct {
	t int64
	x [2]float64
	u [1]float64
}

var states = []channel.Channel{{Name: "position", Role: channel.State}, {Name: "angle", Role: channel.State, Period: channel.Angle}}

// evenly returns rows of equal width, s.
func evenly(rows int, width float64) Spec {
	var s Spec
	for j := range rows {
		s.Edges = append(s.Edges, width*float64(j+1))
	}
	return s
}

// widening has five rows of 10 ms and three that become wider.
var widening = Spec{Edges: []float64{0.01, 0.02, 0.03, 0.04, 0.05, 0.1, 0.2, 0.4}}

func newBuffer(s Spec) *Buffer { return NewBuffer(states, 1, s) }

// stream is a motion sampled at times, ns, its angle wrapped to (−π, π].
func stream(times []int64) []sample {
	var out []sample
	for _, t := range times {
		s := float64(t) * 1e-9
		out = append(out, sample{t, [2]float64{math.Sin(3 * s), math.Remainder(9*s+math.Cos(s), 2*math.Pi)}, [1]float64{math.Cos(11 * s)}})
	}
	return out
}

func even(n int, step int64) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i) * step
	}
	return out
}

func add(b *Buffer, samples []sample) (resets []Reset) {
	for _, s := range samples {
		if r := b.Add(s.t, s.x[:], s.u[:]); r != Continued {
			resets = append(resets, r)
		}
	}
	return resets
}

// defined computes the rows at the last sample by their definition from all samples, which
// have no gap.
func defined(samples []sample, spec Spec) (out []float64) {
	samples = slices.Clone(samples)
	last := len(samples) - 1
	for i := last - 1; i >= 0; i-- {
		for s := &samples[i].x[1]; math.Abs(samples[i+1].x[1]-*s) > math.Pi; {
			*s += math.Copysign(2*math.Pi, samples[i+1].x[1]-*s)
		}
	}
	end := samples[last].t
	for _, e := range spec.Edges {
		begin := samples[last].t - int64(math.Round(e*1e9))
		if begin < samples[0].t {
			break
		}
		var row [3]float64
		for i := range last {
			a, b := samples[i], samples[i+1]
			from, to := max(a.t, begin), min(b.t, end)
			if to <= from {
				continue
			}
			share := float64(to-from) / float64(end-begin)
			for k := range 2 {
				at := func(t int64) float64 { return a.x[k] + (b.x[k]-a.x[k])*float64(t-a.t)/float64(b.t-a.t) }
				row[k] += share * (at(from) + at(to)) / 2
			}
			row[2] += share * a.u[0]
		}
		out = append(out, row[:]...)
		end = begin
	}
	return out
}

func filled(b *Buffer, last sample) []float64 {
	dst := make([]float64, 3*b.Rows())
	return dst[:3*b.Fill(dst, last.t, last.x[:])]
}

func same(t *testing.T, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d numbers, want %d", len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance) {
			t.Fatalf("row %d, column %d: %g, want %g", i/3+1, i%3, got[i], want[i])
		}
	}
}
