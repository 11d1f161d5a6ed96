package program

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// featureSum evaluates the mean of random features, y = w·[cos Ωz; sin Ωz], of which nothing else is read, as one: three
// operations for which the vector units have a kernel. With the gradient
//
//	g = Σ_j Ω_j (v_j cos Ω_j z − w_j sin Ω_j z)      w, v: the weights of cosines and sines
//
// its tangent is gᵀ ż, its adjoint z̄ += g ȳ.
type featureSum[T Float] struct {
	y, z     operand
	half, D  int
	omega    []float64 // half × D
	weights  []float64 // 2·half
	gradient operand   // D; none where nothing differentiates

	turns, pairs, cosines []float32 // in single precision: half turns, weights half×2, the same as phases and amplitudes
	features              []float32 // 2·half × width
	back                  []float32 // panels, D × 2·half
}

// newFeatureSum prepares the sum of a SinCos, which the Affine that reads it evaluates; false where it is not one.
func newFeatureSum[T Float](m *Machine[T], o *SinCos) bool {
	linear, sum := m.fusions.angles[o.X], m.fusions.sums[o.Out]
	if linear == nil || sum == nil || m.layouts[o.Out].n == 1 || m.layouts[linear.X].n != m.layouts[o.Out].n {
		return false
	}
	f := &featureSum[T]{z: m.asIs(linear.X), half: m.layouts[o.X].rows, D: m.layouts[linear.X].rows, omega: linear.M, weights: sum.Parts[0].M}
	l := m.layouts[o.Out]
	if m.o.Seeds > 0 || m.o.Adjoint {
		f.gradient = m.asIs(m.fresh(newLayout(f.D, l.cols, l.lanes), false))
	}
	if m.single {
		f.turns, f.features = halfTurns(f.omega), make([]float32, simd.Padded(2*f.half)*width)
		for j := range f.half {
			f.pairs = append(f.pairs, simd.Single(f.weights[j]), simd.Single(f.weights[f.half+j]))
		}
		f.cosines = simd.Cosines(f.pairs)
		f.back = simd.Packed(f.D, 2*f.half, func(d, j int) float64 {
			if j < f.half {
				return f.omega[j*f.D+d] * f.weights[f.half+j]
			}
			return -f.omega[(j-f.half)*f.D+d] * f.weights[j-f.half]
		})
	}
	m.kernels[sum.Out] = func(y operand) instruction[T] {
		f.y = y
		return f
	}
	return true
}

// halfTurns returns frequencies in single precision.
func halfTurns(omega []float64) (out []float32) {
	for _, v := range omega {
		out = append(out, simd.Single(v/math.Pi))
	}
	return out
}

func (f *featureSum[T]) value(m *Machine[T]) {
	differentiated := f.gradient.blocks > 0
	for b := range f.y.blocks {
		y, z := rowOf(m.v[f.y.r], &f.y, 0, b), m.v[f.z.r][b%f.z.blocks*f.z.stride:]
		clear(y)
		switch {
		case m.single && differentiated:
			m.unit.RandomFeatures(f.features, any(y).([]float32), f.turns, f.pairs, any(z).([]float32), f.D)
			g := any(m.v[f.gradient.r][b*f.gradient.stride:]).([]float32)
			m.unit.Product(g, simd.Panels(f.D), append(m.parts[:0], simd.Part{L: f.back, X: f.features, K: 2 * f.half}))
		case m.single:
			m.unit.RandomMeans(any(y).([]float32), f.turns, f.pairs, f.cosines, any(z).([]float32), f.D)
		default:
			f.double(m, y, z, b, differentiated)
		}
	}
}

// double evaluates block b in double precision.
func (f *featureSum[T]) double(m *Machine[T], y, z []T, b int, differentiated bool) {
	for d := 0; d < f.D && differentiated; d++ {
		clear(rowOf(m.v[f.gradient.r], &f.gradient, d, b))
	}
	for i := range y {
		sum := 0.0
		for j := range f.half {
			omega, angle := f.omega[j*f.D:(j+1)*f.D], 0.0
			for d, o := range omega {
				angle += o * float64(z[d*width+i])
			}
			sin, cos := math.Sincos(angle)
			w, v := f.weights[j], f.weights[f.half+j]
			sum += w*cos + v*sin
			for d, o := range omega {
				if !differentiated {
					break
				}
				m.v[f.gradient.r][b*f.gradient.stride+d*width+i] += T(o * (v*cos - w*sin))
			}
		}
		y[i] = T(sum)
	}
}

func (f *featureSum[T]) tangent(m *Machine[T]) {
	if !f.y.active {
		return
	}
	t := &f.y.t
	for c := range t.copies {
		for b := range t.blocks {
			y := tangentRow(m.d[f.y.r], t, 0, b, c)
			clear(y)
			for d := range f.D {
				addProduct(y, 1, rowOf(m.v[f.gradient.r], &f.gradient, d, b), tangentRow(m.d[f.z.r], &f.z.t, d, b, c))
			}
		}
	}
}

func (f *featureSum[T]) adjoint(m *Machine[T]) {
	for b := range f.y.blocks {
		bar := rowOf(m.a[f.y.r], &f.y, 0, b)
		for d := range f.D {
			addProduct(rowOf(m.a[f.z.r], &f.z, d, b), 1, rowOf(m.v[f.gradient.r], &f.gradient, d, b), bar)
		}
	}
}
