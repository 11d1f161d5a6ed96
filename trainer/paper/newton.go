package paper

import (
	"context"
	"math"
	"runtime"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
	"github.com/dgm-robotics/dgm/trainer/cores"
)

// newton refines a flow by the method of Gauss and Newton, damped after Levenberg
// and Marquardt.
type newton struct {
	*Flow
	group  []int // of each parameter
	d      *Data
	z0, y  []float64
	first  []int     // of each trajectory, the first of its observations in y
	until  float64   // observations later than this are left out
	rows   []int     // of each trajectory, the row of its first observation among those that are not
	J      []float64 // rows·K×P, divided by σ, of the rows that are not left out
	e      []float64 // rows·K, (y − z)/σ
	H, inv []float64 // P×P
	second []float64 // P×P, the later rows' share of H
	L      []float64
	g      []float64
	works  [2]matmul.Work // of the two that share the large products
	factor matmul.Packed  // L⁻ᵀ, scratch
	tans   []*tangent
	bad    []bool
	mu     float64 // damping
}

func newNewton(f *Flow, d *Data) *newton {
	K, P, M := d.K, len(f.Theta), len(d.Trajectories)
	of, _ := f.groups()
	n := &newton{Flow: f, group: of, d: d, mu: 1, z0: make([]float64, M*K), first: make([]int, M), rows: make([]int, M), bad: make([]bool, M)}
	row := 0
	for j := range d.Trajectories {
		tr := &d.Trajectories[j]
		f.Inputs.Lift.Apply(n.z0[j*K:(j+1)*K], tr.X0)
		n.first[j] = row
		row += len(tr.T)
		for i, v := range tr.Y {
			n.y = append(n.y, (v-f.Inputs.Lift.Mean[i%K])/f.Inputs.Lift.Std[i%K])
		}
	}
	n.J, n.e = make([]float64, row*K*P), make([]float64, row*K)
	n.observe(d.End())
	n.H, n.L, n.inv, n.g = make([]float64, P*P), make([]float64, P*P), make([]float64, P*P), make([]float64, P)
	for range 2 * runtime.GOMAXPROCS(0) {
		n.tans = append(n.tans, f.tangent(true))
	}
	return n
}

// observe leaves out observations later than until; e and J are unknown then.
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
	workers := min(M, runtime.GOMAXPROCS(0))
	cores.Each(workers, func(w int) {
		t := n.tans[w]
		t.sensitivity = jacobian
		for j := w; j < M; j += workers {
			n.bad[j] = !n.trajectory(t, j, jacobian)
		}
	})
	for _, bad := range n.bad {
		if bad {
			return 0, false
		}
	}
	for _, v := range n.e {
		half += 0.5 * v * v
	}
	return half, true
}

// trajectory sets e and, if asked for, J at the observations of trajectory j.
func (n *newton) trajectory(t *tangent, j int, jacobian bool) (ok bool) {
	K, P := n.d.K, t.P
	times := n.d.Trajectories[j].until(n.until)
	return t.through(n.Inputs, n.z0[j*K:(j+1)*K], times, func(i int) {
		row, observed := (n.rows[j]+i)*K, (n.first[j]+i)*K
		for k := range K {
			y := n.y[observed+k]
			n.e[row+k] = 0
			if !math.IsNaN(y) {
				n.e[row+k] = (y - t.z[k]) / n.Sigma[k]
			}
			if !jacobian {
				continue
			}
			dst := n.J[(row+k)*P : (row+k+1)*P]
			for p, v := range t.S[k*P : (k+1)*P] {
				dst[p] = v / n.Sigma[k]
			}
			if math.IsNaN(y) {
				clear(dst)
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

// system sets H = JᵀJ + diag α and g = Jᵀe − αθ.
func (n *newton) system() {
	P, R := len(n.Theta), len(n.e)
	from := [3]int{0, R, R}
	if R > 1 && R*P*P > 1e7 { // the halves' sum is the same on one processor
		from[1] = R / 2
		if n.second == nil {
			n.second = make([]float64, P*P)
		}
	}
	cores.Each(2, func(i int) {
		rows := from[i+1] - from[i]
		if i > 0 && rows == 0 {
			return
		}
		J, H := matmul.Matrix(rows, P, n.J[from[i]*P:]), n.H
		if i > 0 {
			H = n.second
		}
		n.works[i].MulLower(n.square(H), 1, true, J, false, J, 0)
	})
	if from[1] < R {
		for r := range P {
			for c := range r + 1 {
				n.H[r*P+c] += n.second[r*P+c]
			}
		}
	}
	clear(n.g)
	for i, e := range n.e {
		if e != 0 {
			blas64.Axpy(e, blas64.Vector{N: P, Inc: 1, Data: n.J[i*P : (i+1)*P]}, blas64.Vector{N: P, Inc: 1, Data: n.g})
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

// descent is a run of damped steps.
type descent struct {
	cost    float64
	mu      float64 // damping
	current bool    // J and e belong to Theta

	kept            []float64 // e of the parameters before a step
	old, delta, tmp []float64 // P
}

// iterate takes up to most damped steps; it stops early when they gain nothing, and fails
// where ctx ends.
func (n *newton) iterate(ctx context.Context, most int) (ok bool) {
	P := len(n.Theta)
	half, ok := n.residuals(true)
	if !ok {
		return false
	}
	s := &descent{
		cost: half + n.prior(), mu: math.Max(n.mu, 1e-3), current: true,
		kept: make([]float64, len(n.e)), old: make([]float64, P), delta: make([]float64, P), tmp: make([]float64, P),
	}
	defer func() {
		n.mu = s.mu
		if !s.current {
			_, fine := n.residuals(true)
			ok = ok && fine
		}
	}()
	for range most {
		if ctx.Err() != nil {
			return false
		}
		if !s.current {
			if _, ok := n.residuals(true); !ok {
				return false
			}
			s.current = true
		}
		n.system()
		if !n.descend(s) {
			break
		}
	}
	n.Cost = s.cost
	return true
}

// descend raises the damping until a step lowers the cost, and reports whether that gains
// enough to go on.
func (n *newton) descend(s *descent) (gained bool) {
	P, inv := len(n.Theta), n.square(n.inv)
	vec := func(d []float64) blas64.Vector { return blas64.Vector{N: P, Inc: 1, Data: d} }
	for range 8 {
		if !n.factorise(s.mu) {
			s.mu *= 8
			continue
		}
		blas64.Gemv(blas.NoTrans, 1, inv, vec(n.g), 0, vec(s.tmp))
		blas64.Gemv(blas.Trans, 1, inv, vec(s.tmp), 0, vec(s.delta))
		if s.mu < 1 && 0.5*dot(n.g, s.delta) < 1e-3+1e-4*s.cost {
			return false // the expected gain is less than what counts as a gain
		}
		copy(s.old, n.Theta)
		for i, v := range s.delta {
			n.Theta[i] += v
		}
		copy(s.kept, n.e)
		half, ok := n.residuals(false)
		if now := half + n.prior(); ok && now < s.cost {
			gained = s.cost-now > 1e-3+1e-4*s.cost
			s.cost, s.current = now, false
			s.mu = math.Max(s.mu/6, 1e-6)
			return gained
		}
		copy(n.Theta, s.old)
		copy(n.e, s.kept)
		s.mu *= 6
	}
	return false
}
