package direct

import (
	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// Matrices returns how many matrices a Jacobian has at most.
func (b *Batched) Matrices() (most int) {
	for _, l := range b.levels {
		most = max(most, len(l.H)/(l.K*l.K))
	}
	return most
}

// Jacobian writes the matrices whose sum, by the factors of Factors, is what the derivatives
// of the last Evaluate by the start state are beside v0: panels of K rows for each state with
// a column for each matrix. The derivative of state k by state c is row c of state k, the
// panels of which are those from k·Panels(K) on, each of columns columns; the first matrix is
// column first.
func (b *Batched) Jacobian(dst []float32, columns, first int) {
	l := b.level()
	b.sumTangents(l, l.mixes())
	K := l.K
	for n := range len(l.H) / (K * K) {
		matrix := l.H[n*K*K : (n+1)*K*K]
		for c := range K {
			for k, v := range matrix[c*K : (c+1)*K] {
				dst[((k*simd.Panels(K)+c/simd.Rows)*columns+first+n)*simd.Rows+c%simd.Rows] = simd.Single(v)
			}
		}
	}
}

// Factors writes those of the n matrices from first on at so many points (Width at most) from
// point from on to dst, [matrix][Width]; all others are 0. It is valid after Evaluate.
func (b *Batched) Factors(dst []float32, from, points int) (first, n int) {
	l := b.level()
	V := l.mixes()
	points = min(points, len(b.times)-from)
	low, high := l.at[from], min(l.at[from+points-1]+1, l.T-1)
	clear(dst[:(high-low+1)*V*simd.Width])
	for i := range points {
		t, at, share := b.times[from+i], l.at[from+i], l.share[from+i]
		row := dst[(at-low)*V*simd.Width+i:]
		for v, c := range l.columns[(from+i)*l.V : (from+i)*l.V+V] {
			row[v*simd.Width] = simd.Single(t * (1 - share) * c)
		}
		if share == 0 {
			continue
		}
		row = row[V*simd.Width:]
		for v, c := range l.columns[(from+i)*l.V : (from+i)*l.V+V] {
			row[v*simd.Width] = simd.Single(t * share * c)
		}
	}
	return low * V, (high - low + 1) * V
}

// sumTangents sets H, T × V × K·K, of which the first of the last two is the state that
// the derivative is by.
func (b *Batched) sumTangents(l *batchedLevel, V int) {
	d, K, L := b.d, l.K, b.d.m.Lift.Dim()
	F, TK := l.rows(l.tangents), l.T*l.K
	tangent := b.tangent[:K*F]
	clear(tangent)
	for z, of := range d.m.Lift.Of {
		tangent[of*F+z] = d.slope[z]
	}
	start := d.column[1 : 1+l.starts]
	for c := range K {
		row := tangent[c*F : (c+1)*F]
		row[L+c] = 1
		if l.Degree == 2 {
			setProductTangents(row[L+K:], row[:L], start)
		}
	}
	sums := b.sums[:K*TK]
	b.work.Affine(matmul.Matrix(K, TK, sums), matmul.Matrix(K, F, tangent), matmul.Matrix(F, TK, l.tangents), nil)
	for c := range K {
		for j := range l.T {
			copy(l.H[j*V*K*K+c*K:], sums[c*TK+j*K:c*TK+(j+1)*K])
		}
	}
	if V == 1 {
		return
	}
	n := len(l.own)
	sums = b.sums[:K*n]
	states := matmul.Matrix(K, L, tangent)
	states.Stride = F
	b.work.Affine(matmul.Matrix(K, n, sums), states, matmul.Matrix(L, n, l.mixed), nil)
	for c := range K {
		for j := range l.T {
			for p := range l.plan {
				copy(l.H[((j*V+1+p)*K+c)*K:], sums[c*n+(j*l.plan+p)*K:c*n+(j*l.plan+p+1)*K])
			}
		}
	}
}

// setProductTangents sets dst to the tangents of the products of columns, those of the
// first of which are dz, and of the others 0.
func setProductTangents(dst, dz, columns []float64) {
	at := 0
	for i, a := range columns {
		for j := i; j < len(columns); j++ {
			dst[at] = 0
			if i < len(dz) {
				dst[at] += dz[i] * columns[j]
			}
			if j < len(dz) {
				dst[at] += a * dz[j]
			}
			at++
		}
	}
}
