package paper

import (
	"context"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
	"github.com/dgm-robotics/dgm/trainer/cores"
)

// newton refines a flow by the Gauss-Newton method, damped after Levenberg and Marquardt.
type newton struct {
	*Flow
	group    []int // of each parameter
	d        *Data
	until    float64        // observations later than this are left out
	rows     []int          // of each trajectory, the row of its first observation among those that are not
	J        []float64      // rows·K×P, divided by σ, of the rows that are not left out
	e        []float64      // rows·K, (y − z)/σ
	H, inv   []float64      // P×P
	laterH   []float64      // P×P, the later rows' share of H
	L        []float64      // P×P
	g        []float64      // P
	works    [2]matmul.Work // of the two that share the large products
	factor   matmul.Packed  // L⁻ᵀ, scratch
	tangents []*tangent
	diverged []bool  // of each trajectory, whether its state leaves all bounds
	mu       float64 // damping

	kept            []float64 // e of the parameters before a step
	old, delta, tmp []float64 // P
}

func newNewton(f *Flow, d *Data) *newton {
	P, M, R := len(f.Theta), len(d.Trajectories), d.Rows()*d.K
	v := func(n int) []float64 { return make([]float64, n) }
	n := &newton{
		Flow: f, d: d, mu: 1, rows: make([]int, M), diverged: make([]bool, M),
		J: v(R * P), e: v(R), H: v(P * P), L: v(P * P), inv: v(P * P), g: v(P), old: v(P), delta: v(P), tmp: v(P),
	}
	n.group, _ = f.groups()
	n.observe(d.End())
	for range min(M, runtime.GOMAXPROCS(0)) {
		n.tangents = append(n.tangents, f.tangent(true))
	}
	return n
}

// observe leaves out observations later than until; e and J are undefined then.
func (n *newton) observe(until float64) {
	n.until = until
	rows := 0
	for j, tr := range n.d.Trajectories {
		n.rows[j] = rows
		rows += len(tr.until(until))
	}
	n.e, n.J = n.e[:rows*n.d.K], n.J[:rows*n.d.K*len(n.Theta)]
}

// residuals integrates all trajectories and sets e and, if asked for, J. It
// returns ½ Σ e²; ok is false where a state leaves all bounds.
func (n *newton) residuals(jacobian bool) (half float64, ok bool) {
	M := len(n.d.Trajectories)
	workers := len(n.tangents)
	cores.Each(workers, func(w int) {
		t := n.tangents[w]
		t.sensitivity = jacobian
		for j := w; j < M; j += workers {
			n.diverged[j] = !n.trajectory(t, j, jacobian)
		}
	})
	if slices.Contains(n.diverged, true) {
		return 0, false
	}
	for _, v := range n.e {
		half += 0.5 * v * v
	}
	return half, true
}

// trajectory sets e and, if asked for, J at the observations of trajectory j.
func (n *newton) trajectory(t *tangent, j int, jacobian bool) (ok bool) {
	K, lift := n.d.K, &n.Inputs.Lift
	tr := &n.d.Trajectories[j]
	times := tr.until(n.until)
	from := n.rows[j] * K
	return t.through(n.Inputs, tr.X0, times, func(i int) {
		for k := range K {
			y := (tr.Y[i*K+k] - lift.Mean[k]) / lift.Std[k]
			noise := n.Sigma[k]
			if math.IsNaN(y) {
				y, noise = 0, math.Inf(1) // e and the derivatives become zero
			}
			n.e[from+i*K+k] = (y - t.z[k]) / noise
			if !jacobian {
				continue
			}
			dst := n.J[(from+i*K+k)*t.P:]
			for p, v := range t.S[k*t.P : (k+1)*t.P] {
				dst[p] = v / noise
			}
		}
	})
}

// prior returns ½ Σ α θ².
func (n *newton) prior() float64 {
	s := 0.0
	for i, v := range n.Theta {
		s += 0.5 * n.Alpha[n.group[i]] * v * v
	}
	return s
}

// system sets H = JᵀJ + diag α and g = Jᵀe − αθ. The product of many rows is the sum of
// those of two halves, on one processor too: its bits do not depend on their number.
func (n *newton) system() {
	P, R := len(n.Theta), len(n.e)
	split := R
	if R > 1 && R*P*P > 1e7 {
		split = R / 2
		if n.laterH == nil {
			n.laterH = make([]float64, P*P)
		}
	}
	product := func(H []float64, work, from, to int) {
		J := matmul.Matrix(to-from, P, n.J[from*P:])
		n.works[work].MulLower(n.square(H), 1, true, J, false, J, 0)
	}
	cores.Each(2, func(i int) {
		switch {
		case i == 0:
			product(n.H, 0, 0, split)
		case split < R:
			product(n.laterH, 1, split, R)
		}
	})
	if split < R {
		for r := range P {
			for c := range r + 1 {
				n.H[r*P+c] += n.laterH[r*P+c]
			}
		}
	}
	clear(n.g)
	for i, e := range n.e {
		if e != 0 {
			blas64.Axpy(e, n.vector(n.J[i*P:(i+1)*P]), n.vector(n.g))
		}
	}
	for i, v := range n.Theta {
		alpha := n.Alpha[n.group[i]]
		n.H[i*P+i] += alpha
		n.g[i] -= alpha * v
	}
}

// factorise sets L and inv of H + μI; ok is false where it cannot.
func (n *newton) factorise(mu float64) (ok bool) {
	P := len(n.Theta)
	copy(n.L, n.H)
	for i := range P {
		n.L[i*P+i] += mu
	}
	return n.works[0].Cholesky(n.square(n.L), n.square(n.inv))
}

// square returns numbers as a matrix of P×P.
func (n *newton) square(d []float64) blas64.General {
	return matmul.Matrix(len(n.Theta), len(n.Theta), d)
}

// vector returns numbers as a vector of P.
func (n *newton) vector(d []float64) blas64.Vector {
	return blas64.Vector{N: len(n.Theta), Inc: 1, Data: d}
}

// iterate takes up to most damped steps; it stops early when they gain nothing, and fails
// where ctx ends. e and J belong to the parameters afterwards.
func (n *newton) iterate(ctx context.Context, most int) (ok bool) {
	half, ok := n.residuals(true)
	if !ok {
		return false
	}
	n.Cost, n.mu = half+n.prior(), math.Max(n.mu, 1e-3)
	for range most {
		if ctx.Err() != nil {
			return false
		}
		n.system()
		moved, gained := n.descend()
		if moved {
			if _, ok := n.residuals(true); !ok {
				return false
			}
		}
		if !gained {
			break
		}
	}
	return true
}

// descend raises the damping until a step lowers the cost. It reports whether one did, the
// derivatives being those of the parameters before it, and whether that gains enough to go on.
func (n *newton) descend() (moved, gained bool) {
	inv := n.square(n.inv)
	for range 8 {
		if !n.factorise(n.mu) {
			n.mu *= 8
			continue
		}
		blas64.Gemv(blas.NoTrans, 1, inv, n.vector(n.g), 0, n.vector(n.tmp))
		blas64.Gemv(blas.Trans, 1, inv, n.vector(n.tmp), 0, n.vector(n.delta))
		least := 1e-3 + 1e-4*n.Cost // that counts as a gain
		gain := 0.5 * dot(n.g, n.delta)
		if n.mu < 1 && gain < least {
			return false, false
		}
		copy(n.old, n.Theta)
		for i, v := range n.delta {
			n.Theta[i] += v
		}
		n.kept = append(n.kept[:0], n.e...)
		half, ok := n.residuals(false)
		if now := half + n.prior(); ok && now < n.Cost {
			gained = n.Cost-now > least
			n.Cost, n.mu = now, math.Max(n.mu/6, 1e-6)
			return true, gained
		}
		copy(n.Theta, n.old)
		copy(n.e, n.kept)
		n.mu *= 6
	}
	return false, false
}
