// Package ood measures how far a prediction is from the training data of its model: the
// distance of the state from the training states, that of the input from its range, and
// the running RMS displacement. Trainer and predictor use this one package, so that a
// distance means the same to both.
package ood

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// Detector describes the training states by reference points in whitened
// coordinates: Inverse·(lifted − Mean), the distance of a state is
// the Euclidean one to the nearest of them.
type Detector struct {
	Mean     []float64   // L, of the lifted, standardised states
	Inverse  []float64   // L(L+1)/2: whitening matrix, lower triangle packed by rows
	Points   [][]float64 // m × L, whitened
	Limits               // where the score is 1
	Near     float64     // distance from which intervals grow; 0 = they never grow
	Far      float64     // distance from which they grow no further
	Low      [][]float64 // per readout: P, least training input as the net sees it
	High     [][]float64 // per readout: P, largest
	Variance float64     // posterior over prior variance at which the score is 1; 0 = not used
}

// Limits are where the out-of-distribution score is 1.
type Limits struct {
	Distance float64 // of the start from the training states; 0 = not used
	Leverage float64 // of state, history and plan; 0 = not used
	Input    float64 // score of the input; 1 where it is less
}

// Dim returns the number L of coordinates.
func (r *Detector) Dim() int { return len(r.Mean) }

// Whiten writes the whitened coordinates of a lifted, standardised state (L) to
// dst (L). They may be the same slice.
func (r *Detector) Whiten(dst, lifted []float64) {
	L := r.Dim()
	for i := range L {
		dst[i] = lifted[i] - r.Mean[i]
	}
	for i, o := L-1, len(r.Inverse); i >= 0; i-- { // from the last: a row needs those above it
		o -= i + 1
		dst[i] = dot(r.Inverse[o:o+i+1], dst[:i+1])
	}
}

// Nearest returns the distance of a whitened state from the nearest reference
// point; 0 if there is none.
func (r *Detector) Nearest(white []float64) float64 {
	distance, _ := r.nearest(white)
	return distance
}

// nearest returns the nearest reference point as well, nil if there is none.
func (r *Detector) nearest(white []float64) (distance float64, at []float64) {
	if len(r.Points) == 0 {
		return 0, nil
	}
	best := math.Inf(1)
	for _, p := range r.Points {
		sum := 0.0
		for i, v := range p {
			d := white[i] - v
			sum += d * d
		}
		if !(sum >= best) { // a state that is not finite has such a distance
			best, at = sum, p
		}
	}
	return math.Sqrt(best), at
}

// DistanceFactor returns the factor of an interval at a distance over one near the
// training states: (distance/Near)^exponent, between Near and Far.
func (r *Detector) DistanceFactor(distance, exponent float64) float64 {
	if r.Near <= 0 || exponent == 0 {
		return 1
	}
	return math.Pow(math.Min(math.Max(distance, r.Near), math.Max(r.Far, r.Near))/r.Near, exponent)
}

// inputSlack is the distance beyond the range of the training inputs, as a fraction of
// that range, at which the score of an input is 1.
const inputSlack = 0.25

// InputScore returns the distance of an input u (P) from the middle of the training range
// of a readout: 1 at a quarter of the range beyond its ends; the largest of all
// channels.
func (r *Detector) InputScore(u []float64, readout int) float64 {
	worst := 0.0
	for p, lo := range r.Low[readout] {
		hi := r.High[readout][p]
		middle := 0.5 * (lo + hi)
		// The range of a constant input is 0: rounding must not raise its score.
		reach := (0.5+inputSlack)*(hi-lo) + 1e-6*(1+math.Abs(middle))
		worst = math.Max(worst, math.Abs(u[p]-middle)/reach)
	}
	return worst
}

func dot(x, y []float64) float64 {
	return blas64.Dot(blas64.Vector{N: len(x), Inc: 1, Data: x}, blas64.Vector{N: len(x), Inc: 1, Data: y})
}

// NearestGradient is Nearest that also writes the derivative of the distance by the lifted,
// standardised state to dst (L): 0 on a reference point, and where there is none.
func (r *Detector) NearestGradient(dst, white []float64) (distance float64) {
	clear(dst)
	distance, nearest := r.nearest(white)
	if distance == 0 {
		return 0
	}
	o := 0
	for i := range nearest { // transposed rows of Inverse
		d := (white[i] - nearest[i]) / distance
		for j, v := range r.Inverse[o : o+i+1] {
			dst[j] += v * d
		}
		o += i + 1
	}
	return distance
}
