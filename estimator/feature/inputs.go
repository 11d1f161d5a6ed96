package feature

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Inputs defines a row of the smoother's input S:
// (t, lifted x0, knots), all standardised, knots in time order.
type Inputs struct {
	Horizon           float64      // H, s
	TimeMean, TimeStd float64      // s; standardised time is (t − TimeMean)/TimeStd
	Lift              channel.Lift // x0 → its coordinates
	Knots             int          // J
	InputMean         []float64    // P
	InputStd          []float64    // P, all > 0
	Causal            bool         // knot j grows with t through its block; else it is the block's value at all t
}

// Dim returns I, the width of a row of S.
func (in *Inputs) Dim() int { return 1 + in.Lift.Dim() + in.Knots*len(in.InputMean) }

// Standard returns standardised time.
func (in *Inputs) Standard(t float64) float64 { return (t - in.TimeMean) / in.TimeStd }

// Block returns the part of block j that knot j is of at t, s, and the length of a block; none
// where to ≤ from.
func (in *Inputs) Block(j int, t float64) (from, to, length float64) {
	length = in.Horizon / float64(in.Knots)
	from, to = float64(j)*length, float64(j+1)*length
	if in.Causal {
		to = min(t, to)
	}
	return from, to, length
}

// Row writes one row of S to s (I) and its derivative by standardised time to ds
// (I; nil leaves it out): x0 is the lifted start state (L), u the input over the
// horizon (nil when there is none), scratch has room for P numbers.
//
// A causal knot is q_j(t) = (J/H) ∫ u dt over block j up to t: a later input
// cannot change an earlier row. Its derivative is (J/H) u(t) inside the block.
func (in *Inputs) Row(s, ds []float64, t float64, x0 []float64, u channel.Signal, scratch []float64) {
	L, P := in.Lift.Dim(), len(in.InputMean)
	s[0] = in.Standard(t)
	copy(s[1:1+L], x0[:L])
	if ds != nil {
		clear(ds[:in.Dim()])
		ds[0] = 1
	}
	block := in.Horizon / float64(in.Knots)
	for j := range in.Knots {
		q := s[1+L+j*P : 1+L+(j+1)*P]
		from, to := float64(j)*block, float64(j+1)*block
		if !in.Causal {
			u.Mean(q, from, to)
			in.Standardise(q, 1)
			continue
		}
		last := j == in.Knots-1
		if t <= from {
			clear(q)
			if t < from || ds == nil {
				continue
			}
		} else {
			end := math.Min(t, to)
			u.Mean(q, from, end)
			in.Standardise(q, (end-from)/block)
		}
		if ds != nil && t >= from && (t < to || last) {
			u.At(scratch, t)
			dq := ds[1+L+j*P : 1+L+(j+1)*P]
			copy(dq, scratch[:P])
			in.Standardise(dq, in.TimeStd/block)
		}
	}
}

// Standardise sets q = weight·(q − mean)/std (P).
func (in *Inputs) Standardise(q []float64, weight float64) {
	for p := range q {
		q[p] = weight * (q[p] - in.InputMean[p]) / in.InputStd[p]
	}
}

// InputAt writes the standardised input at time t to dst (P), as the dynamics
// reads it.
func (in *Inputs) InputAt(dst []float64, t float64, u channel.Signal) {
	if len(dst) == 0 {
		return
	}
	u.At(dst, t)
	in.Standardise(dst, 1)
}

// Plan is a Signal made of equal steps over a horizon: Values holds rows×P.
// Beyond its end the last row is held.
type Plan struct {
	Values []float64 // rows×P
	P      int
	Step   float64 // s, length of a row
}

// At implements Signal.
func (p *Plan) At(dst []float64, t float64) {
	rows := len(p.Values) / p.P
	// The start of a step belongs to it, also after rounding of t.
	r := p.row(t/p.Step+1e-9, rows)
	copy(dst, p.Values[r*p.P:(r+1)*p.P])
}

// Next implements channel.Command.
func (p *Plan) Next(t float64) float64 {
	rows := len(p.Values) / p.P
	r := p.row(t/p.Step+1e-9, rows) + 1
	if r >= rows {
		return math.Inf(1)
	}
	return float64(r) * p.Step
}

// row returns the place of a row among so many, which may be farther than an int holds.
func (p *Plan) row(at float64, rows int) int {
	if at >= float64(rows) {
		return rows - 1
	}
	return max(int(at), 0)
}

// Mean implements Signal.
func (p *Plan) Mean(dst []float64, a, b float64) {
	dst = dst[:p.P]
	clear(dst)
	rows := len(p.Values) / p.P
	first := p.row(a/p.Step, rows)
	for r := first; r < rows; r++ {
		lo, hi := max(a, float64(r)*p.Step), float64(r+1)*p.Step
		if r == rows-1 || hi > b {
			hi = b
		}
		if part := hi - lo; part > 0 {
			for c, u := range p.Values[r*p.P : r*p.P+len(dst)] {
				dst[c] += part * u
			}
		}
		if hi >= b {
			break
		}
	}
	for c := range dst {
		dst[c] /= b - a
	}
}
