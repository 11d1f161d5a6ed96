package matmul

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// leaf is the size up to which a matrix is factorised number by number.
const leaf = 12

// Cholesky replaces the lower triangle of the symmetric a (n×n) by its factor L
// and sets inv to L⁻¹, zero above the diagonal. ok is false where a is not
// positive definite. By halves, so that nearly all of the work is products:
//
//	L21 = A21 L11⁻ᵀ      A22 ← A22 − L21 L21ᵀ      (L⁻¹)21 = −L22⁻¹ L21 L11⁻¹
func (w *Work) Cholesky(a, inv blas64.General) (ok bool) {
	n := a.Rows
	if a.Cols != n || inv.Rows != n || inv.Cols != n {
		panic(badShape)
	}
	if need := (n/2 + 1) * (n/2 + 1); len(w.corner) < need {
		w.corner = make([]float64, need)
	}
	return w.halves(a, inv)
}

func (w *Work) halves(a, inv blas64.General) (ok bool) {
	n := a.Rows
	if n <= leaf {
		return small(a, inv)
	}
	h := n / 2
	a11, a21, a22 := sub(a, 0, 0, h, h), sub(a, h, 0, n-h, h), sub(a, h, h, n-h, n-h)
	i11, i21, i22 := sub(inv, 0, 0, h, h), sub(inv, h, 0, n-h, h), sub(inv, h, h, n-h, n-h)
	if !w.halves(a11, i11) {
		return false
	}
	w.run(product{c: i21, alpha: 1, a: factor{m: a21}, b: factor{m: i11, trans: true, zero: below}})
	for i := range n - h {
		copy(a21.Data[i*a21.Stride:i*a21.Stride+h], i21.Data[i*i21.Stride:i*i21.Stride+h])
	}
	w.MulLower(a22, -1, false, a21, true, a21, 1)
	if !w.halves(a22, i22) {
		return false
	}
	c := blas64.General{Rows: n - h, Cols: h, Stride: h, Data: w.corner[:(n-h)*h]}
	w.run(product{c: c, alpha: 1, a: factor{m: a21}, b: factor{m: i11, zero: above}})
	w.run(product{c: i21, alpha: -1, a: factor{m: i22, zero: above}, b: factor{m: c}})
	for i := range h {
		clear(inv.Data[i*inv.Stride+h : i*inv.Stride+n])
	}
	return true
}

// Inverse sets the lower triangle of inv to A⁻¹ = L⁻ᵀL⁻¹ and may write some of the
// upper; linv is L⁻¹, as Cholesky sets it.
func (w *Work) Inverse(inv, linv blas64.General) {
	if linv.Rows != linv.Cols {
		panic(badShape)
	}
	w.run(product{
		c: inv, alpha: 1, lower: true,
		a: factor{m: linv, trans: true, zero: below}, b: factor{m: linv, zero: above},
	})
}

// small is halves number by number.
func small(a, inv blas64.General) (ok bool) {
	n := a.Rows
	for j := range n {
		rj := a.Data[j*a.Stride:]
		d := rj[j]
		for k := range j {
			d -= rj[k] * rj[k]
		}
		if !(d > 0) || math.IsInf(d, 1) {
			return false
		}
		d = math.Sqrt(d)
		rj[j] = d
		for i := j + 1; i < n; i++ {
			ri := a.Data[i*a.Stride:]
			s := ri[j]
			for k := range j {
				s -= ri[k] * rj[k]
			}
			ri[j] = s / d
		}
	}
	for i := range n {
		ri, vi := a.Data[i*a.Stride:], inv.Data[i*inv.Stride:i*inv.Stride+n]
		for j := range n {
			s := 0.0
			switch {
			case j > i:
			case j == i:
				s = 1 / ri[i]
			default:
				for k := j; k < i; k++ {
					s -= ri[k] * inv.Data[k*inv.Stride+j]
				}
				s /= ri[i]
			}
			vi[j] = s
		}
	}
	return true
}
