package planning

import "math"

// boxQP minimises ½ dᵀHd + gᵀd with low ≤ d ≤ high, by the projected Newton method with the
// active set of Bertsekas (1982), Projected Newton methods for optimization problems with simple
// constraints.
type boxQP struct {
	low, high []float64 // n; low ≤ 0 ≤ high but for rounding
	slope     []float64 // n, Hd + g
	free      []int
	factor    []float64 // n×n, Cholesky factor of the free part
	move      []float64 // n
	next      []float64 // n
}

func newBoxQP(n int) *boxQP {
	return &boxQP{
		low: make([]float64, n), high: make([]float64, n), slope: make([]float64, n),
		free: make([]int, 0, n), factor: make([]float64, n*n), move: make([]float64, n), next: make([]float64, n),
	}
}

const boxSteps = 8

// solve writes the minimiser to d. H (n×n) is positive definite, its lower triangle counts. ok
// is false where it is not.
func (q *boxQP) solve(d, H, g []float64) (ok bool) {
	for i := range d {
		d[i] = min(max(0, q.low[i]), q.high[i])
	}
	for range boxSteps {
		value := q.gradient(d, H, g)
		q.choose(d)
		if len(q.free) == 0 {
			return true
		}
		if !q.newton(H) {
			return false
		}
		if !q.search(d, H, g, value) {
			return true
		}
	}
	return true
}

// gradient sets slope at d and returns the objective.
func (q *boxQP) gradient(d, H, g []float64) (value float64) {
	n := len(d)
	for i := range d {
		s := 0.0
		for j := 0; j <= i; j++ {
			s += H[i*n+j] * d[j]
		}
		for j := i + 1; j < n; j++ {
			s += H[j*n+i] * d[j]
		}
		value += d[i] * (0.5*s + g[i])
		q.slope[i] = s + g[i]
	}
	return value
}

// choose sets the free variables: those that are not held at a bound by the slope.
func (q *boxQP) choose(d []float64) {
	q.free = q.free[:0]
	for i, s := range q.slope {
		if !(d[i] <= q.low[i] && s > 0 || d[i] >= q.high[i] && s < 0) {
			q.free = append(q.free, i)
		}
	}
}

// newton sets move to −H⁻¹ slope of the free variables.
func (q *boxQP) newton(H []float64) (ok bool) {
	n, m, L := len(q.slope), len(q.free), q.factor
	for a, i := range q.free {
		for b, j := range q.free[:a+1] {
			s := H[i*n+j]
			for c := range b {
				s -= L[a*m+c] * L[b*m+c]
			}
			if a > b {
				L[a*m+b] = s / L[b*m+b]
				continue
			}
			if !(s > 0) {
				return false
			}
			L[a*m+a] = math.Sqrt(s)
		}
	}
	for a, i := range q.free {
		s := -q.slope[i]
		for c := range a {
			s -= L[a*m+c] * q.move[c]
		}
		q.move[a] = s / L[a*m+a]
	}
	for a := m - 1; a >= 0; a-- {
		s := q.move[a]
		for c := a + 1; c < m; c++ {
			s -= L[c*m+a] * q.move[c]
		}
		q.move[a] = s / L[a*m+a]
	}
	return true
}

// search moves d along the projected move, halved until the objective falls. It returns false
// where it does not by more than rounding.
func (q *boxQP) search(d, H, g []float64, value float64) bool {
	for size := 1.0; size > 1e-3; size /= 2 {
		copy(q.next, d)
		for a, i := range q.free {
			q.next[i] = min(max(d[i]+size*q.move[a], q.low[i]), q.high[i])
		}
		if now := q.gradient(q.next, H, g); now < value-1e-12*math.Abs(value) {
			copy(d, q.next)
			return true
		}
	}
	return false
}
