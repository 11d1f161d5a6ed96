package panelnet_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/numeric/panelnet"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// A block of points has the outputs and the gradients of the net of package mlp, up to
// single precision, on every unit.
func TestLayersAreThoseOfTheNet(t *testing.T) {
	const in, hidden, out = 5, 7, 3
	for _, act := range []mlp.Activation{mlp.Linear, mlp.Sigmoid, mlp.Tanh} {
		rng := rand.New(rand.NewPCG(1, uint64(act)))
		net := mlp.New([]int{in, hidden, out}, []mlp.Activation{act, mlp.Linear})
		net.Glorot(rng)
		for i := range net.Layers[0].B {
			net.Layers[0].B[i] = rng.NormFloat64()
		}
		points, direction := make([]float64, simd.Width*in), make([]float64, simd.Width*in)
		x := make([]float32, in*simd.Width)
		for i := range points {
			points[i], direction[i] = rng.NormFloat64(), rng.NormFloat64()
			x[i%in*simd.Width+i/in] = float32(points[i])
		}
		tape := mlp.NewTape(&net, simd.Width, true)
		net.Forward(tape, simd.Width, points, direction)
		ones := make([]float32, simd.Width)
		for i := range ones {
			ones[i] = 1
		}
		for _, u := range simd.Units() {
			parts := make([]simd.Part, 2)
			h, y := make([]float32, simd.Padded(hidden)*simd.Width), make([]float32, simd.Padded(out)*simd.Width)
			first, last := panelnet.New(&net.Layers[0], 0, hidden), panelnet.New(&net.Layers[1], 1, out)
			first.Forward(u, parts, ones, x, h)
			last.Forward(u, parts, ones, h, y)
			// The gradient of output 2 by the inputs from 1 on.
			panelnet.Derivatives(act, h, make([]float32, len(h)))
			for j := range hidden {
				for lane := range simd.Width {
					h[j*simd.Width+lane] *= float32(net.Layers[1].W[j*out+2])
				}
			}
			back := panelnet.Transposed(&net.Layers[0], 1, in)
			gradient := make([]float32, simd.Padded(in-1)*simd.Width)
			back.Multiply(u, parts, h, gradient)
			for lane := range simd.Width {
				for k := 1; k < out; k++ {
					if got, want := float64(y[(k-1)*simd.Width+lane]), tape.Out()[lane*out+k]; math.Abs(got-want) > 3e-6 {
						t.Fatalf("%v on %v: output %d is %v, want %v", act, u, k, got, want)
					}
				}
				tangent := 0.0
				d0 := make([]float64, in)
				d0[0] = direction[lane*in]
				single := mlp.NewTape(&net, 1, true)
				net.Forward(single, 1, points[lane*in:(lane+1)*in], d0)
				for i := 1; i < in; i++ {
					tangent += float64(gradient[(i-1)*simd.Width+lane]) * direction[lane*in+i]
				}
				if want := tape.DOut()[lane*out+2] - single.DOut()[2]; math.Abs(tangent-want) > 1e-5 {
					t.Fatalf("%v on %v: tangent %v, want %v", act, u, tangent, want)
				}
			}
		}
	}
}
