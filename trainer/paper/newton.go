package paper

import (
	"context"
	"math"
	"runtime"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/mlp"
	"github.com/dgm-robotics/dgm/trainer/matmul"
)

// Flow is a vector field, the mean of a fit's dynamics refined by shooting, with
// the Laplace approximation of its posterior.
type Flow struct {
	Inputs   *feature.Inputs
	Net      mlp.Net   // K → K
	Theta    []float64 // P, which Net is a view of
	Alpha    []float64 // precision of the prior, a group of parameters
	Sigma    []float64 // K, noise, standardised
	Free     float64   // effective number of parameters
	Cost     float64   // ½ Σ e²/σ² + ½ Σ α θ²
	Evidence float64   // −log evidence, up to a constant
	Inv      []float64 // P×P, inverse factor L⁻¹ of the posterior's precision
}

// maxStep is the longest step of the integrator, in standardised time.
const maxStep = 0.1

// newton refines a flow by the method of Gauss and Newton, damped after Levenberg
// and Marquardt.
type newton struct {
	*Flow
	group  []int // of each parameter
	d      *Data
	rows   int
	z0, y  []float64
	first  []int     // of each trajectory, the row of its first observation
	J      []float64 // rows·K×P, divided by σ
	e      []float64 // rows·K, (y − z)/σ
	H, inv []float64 // P×P
	L      []float64
	g      []float64
	work   matmul.Work
	tans   []*tangent
	until  float64 // observations later than this are left out
	bad    []bool
	mu     float64 // damping
}

// NewFlow takes the mean of the fit's dynamics.
func (f *Fit) NewFlow() *Flow {
	K := f.Params.Map.K
	src := &f.Params.Dynamics
	widths := []int{K}
	var acts []mlp.Activation
	for i := range src.Layers {
		widths = append(widths, src.Layers[i].Out)
		acts = append(acts, src.Layers[i].Act)
	}
	widths[len(widths)-1] = K
	fl := &Flow{Inputs: f.Inputs, Net: mlp.New(widths, acts)}
	for i := range src.Layers {
		a, b := &src.Layers[i], &fl.Net.Layers[i]
		for r := range a.In {
			copy(b.W[r*b.Out:(r+1)*b.Out], a.W[r*a.Out:])
		}
		copy(b.B, a.B)
	}
	fl.Theta = make([]float64, fl.Net.Params())
	fl.Net.Bind(fl.Theta)
	_, n := groups(&fl.Net)
	for range n {
		fl.Alpha = append(fl.Alpha, math.Max(f.Settings.Decay, 1e-3))
	}
	for k := range K {
		fl.Sigma = append(fl.Sigma, math.Exp(f.Params.LogSigma[k*noiseKnots]))
	}
	return fl
}

// Copy returns a flow of its own memory.
func (f *Flow) Copy() *Flow {
	c := *f
	c.Net.Layers = append([]mlp.Layer(nil), f.Net.Layers...)
	c.Theta = make([]float64, len(f.Theta))
	c.Net.Bind(c.Theta)
	c.Alpha = append([]float64(nil), f.Alpha...)
	c.Sigma = append([]float64(nil), f.Sigma...)
	c.Inv = nil
	return &c
}

func newNewton(f *Flow, d *Data) *newton {
	K, P, M := d.K, len(f.Theta), len(d.Trajectories)
	of, _ := groups(&f.Net)
	n := &newton{Flow: f, group: of, d: d, mu: 1, rows: d.Rows(), z0: make([]float64, M*K), first: make([]int, M), bad: make([]bool, M)}
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
	n.J, n.e = make([]float64, n.rows*K*P), make([]float64, n.rows*K)
	n.H, n.L, n.inv, n.g = make([]float64, P*P), make([]float64, P*P), make([]float64, P*P), make([]float64, P)
	for range 2 * runtime.GOMAXPROCS(0) {
		n.tans = append(n.tans, newTangent(&f.Net, true))
	}
	return n
}

// residuals integrates all trajectories and sets e and, if asked for, J. It
// returns ½ Σ e²; ok is false where a state leaves all bounds.
func (n *newton) residuals(jacobian bool) (half float64, ok bool) {
	M := len(n.d.Trajectories)
	workers := min(M, runtime.GOMAXPROCS(0))
	each(workers, func(w int) {
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

func (n *newton) trajectory(t *tangent, j int, jacobian bool) (ok bool) {
	K, P := n.d.K, t.P
	tr := &n.d.Trajectories[j]
	t.start(n.z0[j*K : (j+1)*K])
	now := n.Inputs.Standard(0)
	for i, at := range tr.T {
		row := (n.first[j] + i) * K
		if at > n.until {
			clear(n.e[row : row+K])
			if jacobian {
				clear(n.J[row*P : (row+K)*P])
			}
			continue
		}
		to := n.Inputs.Standard(at)
		if to > now {
			s := int(math.Ceil((to - now) / maxStep))
			if !t.advance((to-now)/float64(s), s) {
				return false
			}
			now = to
		}
		for k := range K {
			y := n.y[row+k]
			if math.IsNaN(y) {
				n.e[row+k] = 0
				if jacobian {
					clear(n.J[(row+k)*P : (row+k+1)*P])
				}
				continue
			}
			n.e[row+k] = (y - t.z[k]) / n.Sigma[k]
			if jacobian {
				dst := n.J[(row+k)*P : (row+k+1)*P]
				for p, v := range t.S[k*P : (k+1)*P] {
					dst[p] = v / n.Sigma[k]
				}
			}
		}
	}
	return true
}

// groups returns for every parameter the group that shares its prior: of the first
// layer a group for every input, so that inputs which say nothing can be left out
// (automatic relevance determination), of the last a group for every output, and
// one for the rest of each layer's weights and for its biases.
func groups(net *mlp.Net) (of []int, n int) {
	last := len(net.Layers) - 1
	for i := range net.Layers {
		l := &net.Layers[i]
		for a := range l.In {
			for o := range l.Out {
				switch {
				case i == 0:
					of = append(of, n+a)
				case i == last:
					of = append(of, n+o)
				default:
					of = append(of, n)
				}
			}
		}
		switch i {
		case 0:
			n += l.In
		case last:
			n += l.Out
		default:
			n++
		}
		for range l.Out {
			of = append(of, n)
		}
		n++
	}
	return of, n
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
	J := blas64.General{Rows: R, Cols: P, Stride: P, Data: n.J}
	n.work.MulLower(blas64.General{Rows: P, Cols: P, Stride: P, Data: n.H}, 1, true, J, false, J, 0)
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

// factorise sets L and inv of H + μ diag(α); ok is false where it cannot.
func (n *newton) factorise(mu float64) (ok bool) {
	P := len(n.Theta)
	copy(n.L, n.H)
	for i := range P {
		n.L[i*P+i] += mu
	}
	g := func(d []float64) blas64.General { return blas64.General{Rows: P, Cols: P, Stride: P, Data: d} }
	return n.work.Cholesky(g(n.L), g(n.inv))
}

// iterate takes up to most damped steps; it stops early when they gain nothing.
func (n *newton) iterate(ctx context.Context, most int) (ok bool) {
	P := len(n.Theta)
	half, ok := n.residuals(true)
	if !ok {
		return false
	}
	current := true // J belongs to Theta
	defer func() {
		if !current {
			_, fine := n.residuals(true)
			ok = ok && fine
		}
	}()
	cost := half + n.prior()
	mu := math.Max(n.mu, 1e-3)
	defer func() { n.mu = mu }()
	old, delta, tmp := make([]float64, P), make([]float64, P), make([]float64, P)
	vec := func(d []float64) blas64.Vector { return blas64.Vector{N: P, Inc: 1, Data: d} }
	inv := blas64.General{Rows: P, Cols: P, Stride: P, Data: n.inv}
	for range most {
		if ctx.Err() != nil {
			return true
		}
		if !current {
			if _, ok := n.residuals(true); !ok {
				return false
			}
			current = true
		}
		n.system()
		gained := false
		for range 8 {
			if !n.factorise(mu) {
				mu *= 8
				continue
			}
			blas64.Gemv(blas.NoTrans, 1, inv, vec(n.g), 0, vec(tmp))
			blas64.Gemv(blas.Trans, 1, inv, vec(tmp), 0, vec(delta))
			copy(old, n.Theta)
			for i, v := range delta {
				n.Theta[i] += v
			}
			half, ok := n.residuals(false)
			if now := half + n.prior(); ok && now < cost {
				gained = cost-now > 1e-3+1e-4*cost
				cost = now
				current = false
				mu = math.Max(mu/6, 1e-6)
				break
			}
			copy(n.Theta, old)
			mu *= 6
		}
		if !gained {
			break
		}
	}
	n.Cost = cost
	return true
}

// evidence updates the precision of the prior and the noise as MacKay (1992) does:
//
//	γ_g = P_g − α_g tr(H⁻¹)_g      α_g ← γ_g / ‖θ_g‖²      σ_k² ← Σ e_k² / (N_k − γ_k)
//
// γ_k being the leverage of the rows of channel k.
func (n *newton) evidence() (ok bool) {
	n.system()
	if !n.factorise(0) {
		return false
	}
	P, K := len(n.Theta), n.d.K
	diagonal := make([]float64, P) // of H⁻¹ = L⁻ᵀL⁻¹
	for r := range P {
		for c, v := range n.inv[r*P : r*P+r+1] {
			diagonal[c] += v * v
		}
	}
	size, gamma, norm := make([]float64, len(n.Alpha)), make([]float64, len(n.Alpha)), make([]float64, len(n.Alpha))
	for i, g := range n.group {
		size[g]++
		gamma[g] += 1 - n.Alpha[g]*diagonal[i]
		norm[g] += n.Theta[i] * n.Theta[i]
	}
	n.Free = 0
	for g, v := range gamma {
		n.Free += v
		// A group that says nothing is held back, not driven out: it may be asked for
		// when others have settled.
		want := math.Max(v, 0.02*size[g]) / math.Max(norm[g], 1e-12)
		n.Alpha[g] = math.Min(math.Max(want, n.Alpha[g]/3), n.Alpha[g]*3)
		n.Alpha[g] = math.Min(n.Alpha[g], 1e3)
	}
	R := len(n.e)
	U := make([]float64, R*P)
	n.work.Mul(blas64.General{Rows: R, Cols: P, Stride: P, Data: U}, 1, false, blas64.General{Rows: R, Cols: P, Stride: P, Data: n.J}, true, blas64.General{Rows: P, Cols: P, Stride: P, Data: n.inv}, 0)
	squares, free := make([]float64, K), make([]float64, K)
	for i := range R {
		row := blas64.Vector{N: P, Inc: 1, Data: U[i*P : (i+1)*P]}
		if n.e[i] != 0 {
			free[i%K] += 1 - blas64.Dot(row, row)
			squares[i%K] += n.e[i] * n.e[i]
		}
	}
	for k := range K {
		if free[k] > 0 && squares[k] > 0 {
			ratio := math.Min(math.Max(squares[k]/free[k], 0.2), 2)
			n.Sigma[k] *= math.Sqrt(ratio)
		}
	}
	return true
}

// beginnings are the shares of the time that are shot through first, one after the
// other, where they hold enough observations: over a short time solutions depend
// little on errors of the field, and a chaotic system is learned from there on.
var beginnings = []float64{0.15, 0.25, 0.35, 0.5, 0.7, 0.85}

// still tells whether no number has changed by a hundredth.
func still(a, b []float64) bool {
	for i, v := range a {
		if math.Abs(b[i]-v) > 0.01*v {
			return false
		}
	}
	return true
}

// Shoot refines the flow so that its solutions from the exact starts pass through
// the data: ok is false where it
// cannot be integrated.
func (f *Flow) Shoot(ctx context.Context, d *Data, rounds int) (ok bool) {
	n := newNewton(f, d)
	seen := 0
	for _, share := range beginnings {
		n.until = share * d.End()
		now := n.values()
		if now < len(f.Theta)/2 || now == seen {
			continue // too few: the prior alone would move most of the parameters
		}
		seen = now
		if !n.iterate(ctx, 12) || !n.evidence() {
			return false
		}
	}
	n.until = d.End()
	for range rounds {
		before := append([]float64(nil), f.Sigma...)
		if !n.iterate(ctx, 15) || !n.evidence() {
			return false
		}
		if still(before, f.Sigma) {
			break
		}
	}
	if !n.iterate(ctx, 15) {
		return false
	}
	n.system()
	if !n.factorise(0) {
		return false
	}
	f.Inv = n.inv
	f.misfit(n)
	return true
}

// misfit sets Evidence: −log of the Laplace approximation of the evidence, up to a
// constant.
//
//	½ Σ e²/σ² + Σ N_k log σ_k + ½ Σ α θ² + ½ logdet H − ½ Σ log α
func (f *Flow) misfit(n *newton) {
	P, K := len(f.Theta), n.d.K
	f.Evidence = n.Cost
	for j := range P {
		f.Evidence += math.Log(n.L[j*P+j])
	}
	for _, g := range n.group {
		f.Evidence -= 0.5 * math.Log(f.Alpha[g])
	}
	for i, y := range n.y {
		if !math.IsNaN(y) {
			f.Evidence += math.Log(f.Sigma[i%K])
		}
	}
}

// values returns the number of observed values after the start and not later than
// until.
func (n *newton) values() int {
	count := 0
	for j := range n.d.Trajectories {
		for _, t := range n.d.Trajectories[j].T {
			if t > 0 && t <= n.until {
				count += n.d.K
			}
		}
	}
	return count
}

// Predict writes mean and variance of the state at times (rising) after x0
// (len(times)×K, raw units). ok is false where the flow cannot be integrated.
func (f *Flow) Predict(mean, variance, x0, times []float64) (ok bool) {
	K, P := f.Net.In(), len(f.Theta)
	U, ok := f.spread(mean, x0, times)
	if !ok {
		return false
	}
	for i := range len(times) * K {
		row := blas64.Vector{N: P, Inc: 1, Data: U[i*P : (i+1)*P]}
		variance[i] = blas64.Dot(row, row)
	}
	return true
}

// solve writes the mean as Predict does.
func (f *Flow) solve(mean, x0, times []float64) (ok bool) {
	K := f.Net.In()
	t := newTangent(&f.Net, false)
	z0 := make([]float64, K)
	f.Inputs.Lift.Apply(z0, x0)
	t.start(z0)
	now := f.Inputs.Standard(0)
	for i, at := range times {
		if to := f.Inputs.Standard(at); to > now {
			s := int(math.Ceil((to - now) / maxStep))
			if !t.advance((to-now)/float64(s), s) {
				return false
			}
			now = to
		}
		for k := range K {
			mean[i*K+k] = f.Inputs.Lift.Mean[k] + f.Inputs.Lift.Std[k]*t.z[k]
		}
	}
	return true
}

// spread writes the mean as Predict does, and returns U (len(times)·K×P, raw
// units) such that the covariance of all these states is U Uᵀ.
func (f *Flow) spread(mean, x0, times []float64) (U []float64, ok bool) {
	K, P := f.Net.In(), len(f.Theta)
	t := newTangent(&f.Net, true)
	z0 := make([]float64, K)
	f.Inputs.Lift.Apply(z0, x0)
	t.start(z0)
	now := f.Inputs.Standard(0)
	all := make([]float64, len(times)*K*P)
	for i, at := range times {
		if to := f.Inputs.Standard(at); to > now {
			s := int(math.Ceil((to - now) / maxStep))
			if !t.advance((to-now)/float64(s), s) {
				return nil, false
			}
			now = to
		}
		for k := range K {
			mean[i*K+k] = f.Inputs.Lift.Mean[k] + f.Inputs.Lift.Std[k]*t.z[k]
			dst := all[(i*K+k)*P : (i*K+k+1)*P]
			for p, v := range t.S[k*P : (k+1)*P] {
				dst[p] = f.Inputs.Lift.Std[k] * v
			}
		}
	}
	R := len(times) * K
	U = make([]float64, R*P)
	var w matmul.Work
	w.Mul(blas64.General{Rows: R, Cols: P, Stride: P, Data: U}, 1, false, blas64.General{Rows: R, Cols: P, Stride: P, Data: all}, true, blas64.General{Rows: P, Cols: P, Stride: P, Data: f.Inv}, 0)
	return U, true
}
