package datacheck

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// scale finds a channel that from some time on moves by a factor between two units more,
// or less, than before, while the others go on as they did. Only some robots have a
// measured derivative for every channel, by which a unit is known.
func (r *recording) scale(paces []pace, k int) {
	name := r.channels[k].Name
	known := slices.ContainsFunc(r.found.problems, func(p Problem) bool {
		return p.Kind == Unit && (p.Channel == name || p.Channel == r.channels[k].Derivative)
	})
	if known || r.channels[k].Role == channel.Aux {
		return
	}
	at, ratio := changeOfPace(paces, k)
	if at < 0 || r.othersChange(paces, k, at) {
		return
	}
	s := paces[at].seg
	after := span{s, r.begins(paces, k, at), s.n()}
	r.add(Unit, Note, k, after,
		"%s moves %s times as much from %s on as before, and the other channels do not: if its unit changed there (radians, degrees, thousandths), split the log and import each part with its own map; if the robot was used differently, no action is needed.",
		name, num(math.Exp(ratio)), sec(after.from()))
}

// pace is how far every channel moves within scaleLag in a piece of a segment: the
// logarithm of the 0.9 quantile, NaN where it is not known.
type pace struct {
	span
	log []float64
}

func (r *recording) paces() []pace {
	var out []pace
	for _, s := range r.segs {
		for _, b := range s.blocks(scalePiece) {
			p := pace{span: b}
			for k := range r.channels {
				v := math.NaN()
				if m := r.lagMoves(b, k); len(m) >= 20 {
					v = math.Log(quantile(sketch(m), 0.9))
				}
				if math.IsInf(v, 0) {
					v = math.NaN()
				}
				p.log = append(p.log, v)
			}
			out = append(out, p)
		}
	}
	return out
}

// lagSamples is scaleLag in samples.
func (s *segment) lagSamples() int {
	return max(1, int(math.Round(scaleLag/math.Max(s.dt, 1e-9))))
}

// lagMoves lists how far channel k moves in scaleLag within a span.
func (r *recording) lagMoves(at span, k int) []float64 {
	lag := at.seg.lagSamples()
	var out []float64
	for i := at.first; i+lag < at.last; i++ {
		if at.seg.good(k, i) && at.seg.good(k, i+lag) {
			out = append(out, math.Abs(r.change(at.seg, k, i, i+lag)))
		}
	}
	return out
}

// sides returns the medians of channel k before piece at and from it on; ok is false where
// there are too few pieces, or a side is not steady.
func sides(paces []pace, k, at int) (before, after float64, ok bool) {
	side := func(p []pace) (float64, bool) {
		var v []float64
		for _, x := range p {
			if l := x.log[k]; !math.IsNaN(l) {
				v = append(v, l)
			}
		}
		slices.Sort(v)
		return quantile(v, 0.5), len(v) >= scaleSides && quantile(v, 0.9)-quantile(v, 0.1) <= math.Log(scaleSpread)
	}
	before, a := side(paces[:at])
	after, b := side(paces[at:])
	return before, after, a && b
}

// changeOfPace returns the piece from which on channel k moves by another unit, and the
// logarithm of the factor; −1 if there is none.
func changeOfPace(paces []pace, k int) (at int, ratio float64) {
	at = -1
	for i := range paces {
		before, after, ok := sides(paces, k, i)
		if r := after - before; ok && math.Abs(r) > math.Abs(ratio) && betweenUnits(r) {
			at, ratio = i, r
		}
	}
	return at, ratio
}

// betweenUnits reports whether a factor, as its logarithm, is one between units.
func betweenUnits(ratio float64) bool {
	near := func(factor float64) bool {
		return math.Abs(math.Abs(ratio)-math.Log(factor)) < math.Log(scaleNear)
	}
	return near(180/math.Pi) || near(1000)
}

// othersChange reports whether most other channels change at a piece too, as they do when
// a robot takes off, or whether there are too few to compare.
func (r *recording) othersChange(paces []pace, k, at int) bool {
	var change []float64
	for _, j := range r.used() {
		if j != k {
			// A side that is not steady is no change of unit either.
			before, after, _ := sides(paces, j, at)
			change = append(change, math.Abs(after-before))
		}
	}
	return len(change) < 3 || median(change) > math.Log(scaleOthers)
}

// begins returns the sample at which the pace of channel k becomes another: in piece at, or
// the one before.
func (r *recording) begins(paces []pace, k, at int) int {
	p := paces[at]
	first := p.first
	if at > 0 && paces[at-1].seg == p.seg {
		first = paces[at-1].first
	}
	before, after, _ := sides(paces, k, at)
	lag := p.seg.lagSamples()
	n := turningPoint(p.last-lag-first, func(i int) float64 {
		d := math.Abs(r.change(p.seg, k, first+i, first+i+lag))
		if !finite(d) || d == 0 {
			return 0
		}
		if high := math.Log(d) > 0.5*(before+after); high == (after > before) {
			return -1
		}
		return 1
	})
	if n == 0 {
		return p.first
	}
	return first + n - 1 + lag
}
