package estimator

import (
	"github.com/tphakala/simd/f32"

	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// batchedDirect is a direct map.
type batchedDirect struct {
	*direct.Batched
	constants
	states  int       // K
	factors []float32 // of the matrices behind the constant ones, at one block: [column][Width]

	input                *inputWork
	firstNumber, numbers int // of the last inputRun

	below []*batchedDirect // of the levels that bound one; nil = none is bounded
	level []float32        // [K, padded][Width], derivatives of one level at a point
}

func newBatchedDirect(m *direct.Map, K int, g *grid, sorted *direct.Sorted) *batchedDirect {
	return directOf(direct.NewBatched(m, g.points, sorted), m.Derivative(), K, g)
}

func directOf(of *direct.Batched, derivative []int, K int, g *grid) *batchedDirect {
	b := &batchedDirect{Batched: of, states: K}
	most := b.Matrices()
	b.constants, b.factors = newConstants(derivative, g, most), make([]float32, most*simd.Width)
	for _, below := range of.Bounding() {
		b.below = append(b.below, directOf(below, derivative, K, g))
		b.level = make([]float32, simd.Padded(K)*simd.Width)
	}
	return b
}

// bounding returns the levels that bound the one of the last start; nil where it stands alone.
func (b *batchedDirect) bounding() []*batchedDirect {
	if !b.Bounded() {
		return nil
	}
	return b.below
}

func (b *batchedDirect) evaluate(dst []float64) { b.Evaluate(dst) }

func (b *batchedDirect) memberVariance() []float64 { return b.Disagreement() }

func (b *batchedDirect) differentiate() {
	b.Jacobian(b.matrices.panels, b.matrices.columns, constantMatrices)
	for _, below := range b.bounding() {
		below.differentiate()
	}
}

// parts are those of the level by itself.
func (b *batchedDirect) parts(parts []simd.Part, block int) []simd.Part {
	parts = b.constants.parts(parts, block)
	first, n := b.Factors(b.factors, block*simd.Width, simd.Width)
	return append(parts, b.matrices.part(constantMatrices+first, n, b.factors))
}

// share writes the derivatives of the displacement of state k of K at a block of points by that of a level, 0 being the map's own, to dst.
func (b *batchedDirect) share(dst *[simd.Width]float32, level, k, K, block int) {
	shares := b.Shares()[level]
	for lane := range dst {
		dst[lane] = 0
		if at := (block*simd.Width+lane)*K + k; at < len(shares) {
			dst[lane] = simd.Single(shares[at])
		}
	}
}

func (b *batchedDirect) linearise() {
	b.Linearise()
	for _, below := range b.bounding() {
		below.Linearise()
	}
}

func (b *batchedDirect) inputRun(w *inputWork, first, numbers int) {
	b.input, b.firstNumber, b.numbers = w, first, numbers
}

func (b *batchedDirect) inputAt(dst []float32, lane int) {
	maps := b.bounding()
	if maps == nil {
		b.InputAt(dst, lane, b.input.plan.Share, b.firstNumber, b.numbers)
		return
	}
	shares := b.Shares()
	K := b.states
	b.addLevel(dst, b.Batched, shares[0][lane*K:(lane+1)*K], lane)
	for i, below := range maps {
		b.addLevel(dst, below.Batched, shares[1+i][lane*K:(lane+1)*K], lane)
	}
}

// addLevel adds the derivatives of a level at a point, times shares (K), to dst.
func (b *batchedDirect) addLevel(dst []float32, level *direct.Batched, shares []float64, lane int) {
	clear(b.level)
	level.InputAt(b.level, lane, b.input.plan.Share, b.firstNumber, b.numbers)
	for k, share := range shares {
		if share != 0 {
			f32.AddScaled(dst[k*simd.Width:(k+1)*simd.Width], simd.Single(share), b.level[k*simd.Width:(k+1)*simd.Width])
		}
	}
}
