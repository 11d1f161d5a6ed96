package program

import (
	"github.com/tphakala/simd/f32"
	"github.com/tphakala/simd/f64"

	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// Kernels on rows. A factor is a row of the same length, or one number for all of it.

func fillRow[T Float](dst []T, x T) {
	for i := range dst {
		dst[i] = x
	}
}

func sum[T Float](x []T) (s T) {
	for _, v := range x {
		s += v
	}
	return s
}

// addTerms adds terms of blocks of double precision.
func (m *Machine[T]) addTerms(dst, a, b []T, terms *simd.Terms, sparse bool) {
	m.unit.AddTerms(any(dst).([]float64), any(a).([]float64), any(b).([]float64), terms, sparse)
}

// addProduct adds s·a·b to dst; a is a factor.
func addProduct[T Float](dst []T, s T, a, b []T) {
	if len(a) == 1 {
		addScaled(dst, s*a[0], b)
		return
	}
	a, b = a[:len(dst)], b[:len(dst)]
	if s == 1 && len(dst) >= width {
		switch d := any(dst).(type) {
		case []float32:
			f32.FMA(d, any(a).([]float32), any(b).([]float32), d)
		case []float64:
			f64.FMA(d, any(a).([]float64), any(b).([]float64), d)
		}
		return
	}
	for i := range dst {
		dst[i] += s * a[i] * b[i]
	}
}

// multiplyRows writes a·b, number by number, to dst.
func multiplyRows[T Float](dst, a, b []T) {
	switch d := any(dst).(type) {
	case []float32:
		f32.Mul(d, any(a).([]float32), any(b).([]float32))
	case []float64:
		f64.Mul(d, any(a).([]float64), any(b).([]float64))
	}
}

// clampRows writes x between low and high to dst: NaN stays NaN.
func (m *Machine[T]) clampRows(dst, x, low, high []T) {
	if d, single := any(dst).([]float32); single && len(d) >= width {
		m.unit.Clamp(d, any(x).([]float32), any(low).([]float32), any(high).([]float32))
		return
	}
	for i := range dst {
		dst[i] = min(max(x[i], low[i]), high[i])
	}
}

// addScaled adds s·x to dst.
func addScaled[T Float](dst []T, s T, x []T) {
	x = x[:len(dst)]
	if len(dst) >= width {
		switch d := any(dst).(type) {
		case []float32:
			f32.AddScaled(d, float32(s), any(x).([]float32))
		case []float64:
			f64.AddScaled(d, float64(s), any(x).([]float64))
		}
		return
	}
	for i := range dst {
		dst[i] += s * x[i]
	}
}
