package frames

import "math"

// notOrthogonal is how far the products of the rows of a rotation matrix are from those of the unit matrix at most: it may be rounded to
// two digits, or be interpolated between two attitudes.
const notOrthogonal = 0.05

// FromMatrix returns the attitude of a rotation matrix (3×3, row-major, from body to world). Of a matrix that is no rotation all parts of
// it are 0, and NaN where a part of the matrix is.
func FromMatrix(m [9]float64) (q Quaternion) {
	if !isRotation(m) {
		for _, v := range m {
			if math.IsNaN(v) {
				return Quaternion{v, v, v, v}
			}
		}
		return q
	}
	// The square of each part, times four; the root is taken of the largest (Shepperd, 1978).
	squares := [4]float64{1 + m[0] + m[4] + m[8], 1 + m[0] - m[4] - m[8], 1 - m[0] + m[4] - m[8], 1 - m[0] - m[4] + m[8]}
	w := [3]float64{m[7] - m[5], m[2] - m[6], m[3] - m[1]} // products of w and x, y, z, times four
	xy, xz, yz := m[1]+m[3], m[2]+m[6], m[5]+m[7]
	products := [4][4]float64{
		{squares[0], w[0], w[1], w[2]},
		{w[0], squares[1], xy, xz},
		{w[1], xy, squares[2], yz},
		{w[2], xz, yz, squares[3]},
	}
	largest := 0
	for i, s := range squares {
		if s > squares[largest] {
			largest = i
		}
	}
	q = products[largest]
	n := q.Norm()
	for i := range q {
		q[i] /= n
	}
	return q
}

// isRotation reports whether rows are orthogonal, of length 1 and right-handed.
func isRotation(m [9]float64) bool {
	for i := range 3 {
		for j := range i + 1 {
			product := 0.0
			for k := range 3 {
				product += m[3*i+k] * m[3*j+k]
			}
			if i == j {
				product--
			}
			if !(math.Abs(product) <= notOrthogonal) {
				return false
			}
		}
	}
	return m[0]*(m[4]*m[8]-m[5]*m[7])-m[1]*(m[3]*m[8]-m[5]*m[6])+m[2]*(m[3]*m[7]-m[4]*m[6]) > 0
}
