package priordynamics

import (
	"github.com/tphakala/simd/f32"

	"github.com/dgm-robotics/dgm/estimator/numeric/panelnet"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// batchNet evaluates the net of a model, and its Jacobian, at many places, a block of
// sixteen at a time, in single precision.
type batchNet struct {
	m       *Model
	unit    simd.Unit
	forward []panelnet.Layer
	back    []panelnet.Layer // of all layers but the last: weights transposed
	seeds   [][]float32      // K: of the last layer, [In][Width], each weight of output k at all points, times its scale

	in       []float32   // [L+P][Width], of one block
	out      [][]float32 // of each layer
	adjoint  [2][]float32
	gradient []float32 // [K][L+P, padded][Width]: derivatives of each output
	scratch  []float32
	ones     []float32
	parts    []simd.Part
}

// newBatchNet returns nil for a model without a net.
func newBatchNet(m *Model, unit simd.Unit) *batchNet {
	if !m.hasNet() {
		return nil
	}
	b := &batchNet{
		m: m, unit: unit, in: make([]float32, m.Net.In()*simd.Width), ones: make([]float32, simd.Width), parts: make([]simd.Part, 2),
		gradient: make([]float32, len(m.NetScale)*simd.Padded(m.Net.In())*simd.Width),
	}
	for i := range b.ones {
		b.ones[i] = 1
	}
	last, most := len(m.Net.Layers)-1, 0
	for i := range m.Net.Layers {
		l := &m.Net.Layers[i]
		b.forward = append(b.forward, panelnet.New(l, 0, l.Out))
		b.out = append(b.out, make([]float32, simd.Padded(l.Out)*simd.Width))
		if i < last {
			b.back = append(b.back, panelnet.Transposed(l, 0, l.In))
			most = max(most, simd.Padded(l.Out)*simd.Width)
		}
	}
	b.adjoint, b.scratch = [2][]float32{make([]float32, most), make([]float32, most)}, make([]float32, most)
	output := &m.Net.Layers[last]
	for k, scale := range m.NetScale {
		seed := make([]float32, output.In*simd.Width)
		for i := range seed {
			seed[i] = simd.Single(scale * output.W[i/simd.Width*output.Out+k])
		}
		b.seeds = append(b.seeds, seed)
	}
	return b
}

// evaluate fills out at a block of at most sixteen rows of coordinates v.
func (b *batchNet) evaluate(v []float64) {
	V := b.m.Net.In()
	for point := 0; len(v) > 0; point++ {
		for r, c := range v[:V] {
			b.in[r*simd.Width+point] = float32(c) // |c| is bounded
		}
		v = v[V:]
	}
	x := b.in
	for l := range b.forward {
		b.forward[l].Forward(b.unit, b.parts, b.ones, x, b.out[l])
		x = b.out[l]
	}
}

// add adds the net's part of the increments at n coordinates v (n×(L+P)) to dst (n×K).
func (b *batchNet) add(dst, v []float64, n int) {
	if b == nil {
		return
	}
	V, K := b.m.Net.In(), len(b.m.NetScale)
	for from := 0; from < n; from += simd.Width {
		to := min(from+simd.Width, n)
		b.evaluate(v[from*V : to*V])
		out := b.out[len(b.out)-1]
		for i := from; i < to; i++ {
			for k, scale := range b.m.NetScale {
				dst[i*K+k] += scale * float64(out[k*simd.Width+i-from])
			}
		}
	}
}

// addJacobian adds the derivatives of that by the coordinates to d (n×(L+P)×K).
func (b *batchNet) addJacobian(d, v []float64, n int) {
	if b == nil {
		return
	}
	hidden, K, V := len(b.back), len(b.seeds), b.m.Net.In()
	rows := len(b.gradient) / K
	for from := 0; from < n; from += simd.Width {
		to := min(from+simd.Width, n)
		b.evaluate(v[from*V : to*V])
		for l, y := range b.out[:hidden] {
			panelnet.Derivatives(b.forward[l].Act, y[:b.forward[l].Out*simd.Width], b.scratch)
		}
		for k, seed := range b.seeds {
			at := b.adjoint[0][:len(seed)]
			f32.Mul(at, seed, b.out[hidden-1])
			for l := hidden - 1; l > 0; l-- {
				next := b.adjoint[(hidden-l)%2][:simd.Padded(b.back[l].Out)*simd.Width]
				b.back[l].Multiply(b.unit, b.parts, at, next)
				at = next[:b.back[l].Out*simd.Width]
				f32.Mul(at, at, b.out[l-1])
			}
			b.back[0].Multiply(b.unit, b.parts, at, b.gradient[k*rows:(k+1)*rows])
		}
		for i := from; i < to; i++ {
			for l := range V {
				row, gradient := d[(i*V+l)*K:(i*V+l+1)*K], b.gradient[l*simd.Width+i-from:]
				for k := range row {
					row[k] += float64(gradient[k*rows])
				}
			}
		}
	}
}
