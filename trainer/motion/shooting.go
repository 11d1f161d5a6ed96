package motion

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dgm-robotics/dgm/estimator/dynamics"
	"github.com/dgm-robotics/dgm/estimator/motion"
	"github.com/dgm-robotics/dgm/estimator/program"
	"github.com/dgm-robotics/dgm/trainer/cores"
	"github.com/dgm-robotics/dgm/trainer/leastsquares"
	"github.com/dgm-robotics/dgm/trainer/priordynamics/paths"
)

const (
	shares   = 4    // of the windows, whose sums do not depend on the number of processors
	lanes    = 16   // windows that are rolled out at once
	floor    = 1e-6 // ε of the objective
	blocks   = 40   // of windows, whose gradients give the variances
	rough    = 1e-2 // of the objective: an iteration that gains less is the last while kinds are compared,
	fine     = 1e-3 // and of the fit of one that was chosen
	patience = 2    // iterations before a fit may be given up for a better one
	still    = 1e-9 // root mean square, in the channel's unit, of a displacement that is none
)

// problem is the fit of one equation to windows. The starts of the windows are measured with noise: each is off by a δ of its
// own, which is fitted too, as one more measurement of the variance of the noise. Without that, noise in a rate reads as damping.
type problem struct {
	e     *motion.Equation
	s     *paths.Paths
	m     int // parameters
	work  []*shot
	noise []float64 // K, variances

	theta     []float64 // of the fit
	delta     []float64 // N×K
	objective float64
	gains     []float64 // N×K×m: by how much δ moves less for a step of the parameters, see gather
	moves     []float64 // N×K: how δ moves without one
	prior     []float64 // m: precision a priori, κ times, see shrink
	kappa     float64
}

// shot rolls windows out, lanes at once.
type shot struct {
	machine               *program.Machine[float64]
	x, u, theta, d        program.Reg
	msq                   []float64 // nodes×K
	prior                 float64
	normal, right, scores []float64              // m×m, m, blocks×m
	rows                  *leastsquares.Products // of one window: derivatives by θ and δ, what it leaves
	start, cross          []float64              // K×K, K×m
}

func newProblem(e *motion.Equation, s *paths.Paths, noise []float64) *problem {
	m, K := len(e.Parameters), s.K
	f := &problem{e: e, s: s, m: m, noise: noise, delta: make([]float64, s.N*K), gains: make([]float64, s.N*K*m), moves: make([]float64, s.N*K)}
	code := dynamics.MotionRollOut(e, K, s.P, s.Nodes, s.Step)
	for range shares {
		w := &shot{machine: program.New[float64](code, program.Options{Lanes: lanes, ByLane: []string{dynamics.X, dynamics.Plan}, Tangents: []string{dynamics.Parameters, dynamics.X}, Seeds: m + K}),
			x: code.Inputs[0].Reg, theta: code.Inputs[1].Reg, u: program.None, d: code.Outputs[0].Reg,
			msq: make([]float64, s.Nodes*K), normal: make([]float64, m*m), right: make([]float64, m), scores: make([]float64, blocks*m), rows: leastsquares.NewProducts(m + K + 1),
			start: make([]float64, K*K), cross: make([]float64, K*m)}
		if s.P > 0 {
			w.u = code.Inputs[2].Reg
		}
		for j := range m {
			w.machine.SetTangent(w.theta, j, 0, j, 1)
		}
		for k := range K {
			w.machine.SetTangent(w.x, k, 0, m+k, 1)
		}
		f.work = append(f.work, w)
	}
	return f
}

// roll rolls the windows from one on out, whose starts are off by delta, and returns how many lanes are of windows.
func (w *shot) roll(s *paths.Paths, delta []float64, from int) int {
	n := min(lanes, s.N-from)
	for lane := range lanes {
		i := from + min(lane, n-1)
		for k, x := range s.X0[i*s.K : (i+1)*s.K] {
			w.machine.Set(w.x, k, 0, lane, x+delta[i*s.K+k])
		}
		for j, u := range s.U[i*s.Nodes*s.P : (i+1)*s.Nodes*s.P] {
			w.machine.Set(w.u, j%s.P, j/s.P, lane, u)
		}
	}
	w.machine.Value()
	return n
}

// each runs the windows in batches, on all processors.
func (f *problem) each(theta, delta []float64, run func(w *shot, from, n int)) {
	cores.Each(len(f.work), func(i int) {
		w := f.work[i]
		for j, v := range theta {
			w.machine.Set(w.theta, j, 0, 0, v)
		}
		for from := i * lanes; from < f.s.N; from += lanes * len(f.work) {
			run(w, from, w.roll(f.s, delta, from))
		}
	})
}

// errors returns the mean squared errors at nodes and channels (nodes×K), and the objective.
func (f *problem) errors(theta, delta []float64) (msq []float64, objective float64) {
	s := f.s
	for _, w := range f.work {
		clear(w.msq)
		w.prior = 0
	}
	f.each(theta, delta, func(w *shot, from, n int) {
		for lane := range n {
			off := delta[(from+lane)*s.K : (from+lane+1)*s.K]
			for j := range w.msq {
				e := w.machine.Get(w.d, j%s.K, j/s.K, lane) + off[j%s.K] - s.Y[(from+lane)*len(w.msq)+j]
				w.msq[j] += e * e
			}
			for k, d := range off {
				if f.noise[k] > 0 {
					w.prior += d * d / f.noise[k]
				}
			}
		}
	})
	msq = make([]float64, s.Nodes*s.K)
	for _, w := range f.work {
		for j, v := range w.msq {
			msq[j] += v / float64(s.N)
		}
		objective += 0.5 * w.prior / float64(len(msq)*s.N)
	}
	for j, v := range msq {
		if s.RMS[j] > still {
			objective += 0.5 * math.Log(v/(s.RMS[j]*s.RMS[j])+floor) / float64(len(msq))
		}
	}
	if math.IsNaN(objective) {
		objective = math.Inf(1)
	}
	return msq, objective
}

// gather sets the normal equations of a step of the parameters, and the gradients of blocks of windows, at θ and the starts δ
// with these mean squared errors. With A and B the derivatives of a window by θ and δ, e what it leaves and W the weights,
//
//	S = BᵀWB + R⁻¹      dδ = S⁻¹(BᵀWe − R⁻¹δ) − S⁻¹BᵀWA dθ
//
// are put into the equations of θ (Schur's complement): moves are the first term of dδ, gains the factor of dθ.
func (f *problem) gather(theta, delta, msq []float64) (normal, right, scores []float64) {
	s := f.s
	weight := make([]float64, len(msq))
	for j, v := range msq {
		if s.RMS[j] > still {
			weight[j] = 1 / (v + floor*s.RMS[j]*s.RMS[j]) / float64(len(msq)*s.N)
		}
	}
	for _, w := range f.work {
		clear(w.normal)
		clear(w.right)
		clear(w.scores)
	}
	f.each(theta, delta, func(w *shot, from, n int) {
		w.machine.Tangent()
		for lane := range n {
			f.window(w, from+lane, lane, weight, delta)
		}
	})
	normal, right, scores = f.work[0].normal, f.work[0].right, f.work[0].scores
	for _, w := range f.work[1:] {
		add(normal, w.normal)
		add(right, w.right)
		add(scores, w.scores)
	}
	return normal, right, scores
}

// window adds window i, which is in a lane, to the normal equations.
func (f *problem) window(w *shot, i, lane int, weight, delta []float64) {
	s, m, K := f.s, f.m, f.s.K
	off := delta[i*K : (i+1)*K]
	w.rows.Clear()
	for j, g := range weight {
		k, node, root := j%K, j/K, math.Sqrt(g)
		row := w.rows.Row()
		w.machine.TangentsOf(row[:m+K], w.d, k, node, lane)
		for c := range row[:m+K] {
			row[c] *= root
		}
		row[m+k] += root // the displacement counts from the measured start
		row[m+K] = root * (s.Y[i*len(weight)+j] - w.machine.Get(w.d, k, node, lane) - off[k])
	}
	sums := w.rows.Sums()
	products := func(row int) []float64 { return sums.Data[row*sums.Stride:][:row+1] }
	for c := range m {
		add(w.normal[c*m:], products(c))
	}
	gains, moves := f.gains[i*K*m:(i+1)*K*m], f.moves[i*K:(i+1)*K]
	left := products(m + K)
	copy(moves, left[m:])
	clear(w.start)
	scale := 1 / float64(len(weight)*s.N)
	for k := range K {
		by := products(m + k)
		copy(w.cross[k*m:(k+1)*m], by)
		copy(w.start[k*K:], by[m:])
		r := f.noise[k]
		if r == 0 {
			r = math.SmallestNonzeroFloat32 // the start is exact
		}
		w.start[k*K+k] += scale / r
		moves[k] -= scale / r * off[k]
	}
	score := w.scores[i*blocks/s.N*m:][:m]
	add(score, left[:m])
	add(w.right, left[:m])
	copy(gains, w.cross)
	factor, ok := lapack64.Potrf(symmetric(K, w.start))
	if !ok {
		clear(gains)
		clear(moves)
		return
	}
	lapack64.Potrs(factor, blas64.General{Rows: K, Cols: m, Stride: m, Data: gains})
	lapack64.Potrs(factor, blas64.General{Rows: K, Cols: 1, Stride: 1, Data: moves})
	cross, gain := blas64.General{Rows: K, Cols: m, Stride: m, Data: w.cross}, blas64.General{Rows: K, Cols: m, Stride: m, Data: gains}
	blas64.Gemm(blas.Trans, blas.NoTrans, -1, cross, gain, 1, blas64.General{Rows: m, Cols: m, Stride: m, Data: w.normal})
	for c := range K {
		for j, a := range w.cross[c*m : (c+1)*m] {
			w.right[j] -= a * moves[c]
			score[j] -= a * moves[c]
		}
	}
}

// moved returns the starts after a step of the parameters.
func (f *problem) moved(delta, step []float64) []float64 {
	out := slices.Clone(delta)
	for i := range out {
		if f.noise[i%f.s.K] > 0 {
			out[i] += f.moves[i] - blas64.Dot(blas64.Vector{N: f.m, Inc: 1, Data: f.gains[i*f.m : (i+1)*f.m]}, blas64.Vector{N: f.m, Inc: 1, Data: step})
		}
	}
	return out
}

func add(dst, v []float64) {
	for i, x := range v {
		dst[i] += x
	}
}

func symmetric(m int, data []float64) blas64.Symmetric {
	return blas64.Symmetric{N: m, Stride: m, Uplo: blas.Lower, Data: data}
}

// solve returns (normal + damping·diagonal)⁻¹ of right (m×columns), nil where it is not determined.
func solve(m int, normal, right []float64, damping float64) []float64 {
	a := symmetric(m, slices.Clone(normal))
	largest := 0.0
	for i := range m {
		largest = math.Max(largest, normal[i*m+i])
	}
	for i := range m {
		a.Data[i*m+i] += damping*normal[i*m+i] + 1e-12*largest*damping + math.SmallestNonzeroFloat32
	}
	factor, ok := lapack64.Potrf(a)
	if !ok {
		return nil
	}
	columns := len(right) / m
	b := blas64.General{Rows: m, Cols: columns, Stride: columns, Data: slices.Clone(right)}
	lapack64.Potrs(factor, b)
	if slices.ContainsFunc(b.Data, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
		return nil
	}
	return b.Data
}

// descend improves θ and δ until an iteration gains less than the tolerance, or those left would not bring the objective down to that of the leader
// at the rate of the last one.
func (f *problem) descend(ctx context.Context, tolerance, leader float64) {
	msq, objective := f.errors(f.theta, f.delta)
	damping, trial := 1e-3, make([]float64, f.m)
	for left := iterations; left > 0 && ctx.Err() == nil; left-- {
		normal, right, _ := f.gather(f.theta, f.delta, msq)
		before, gained := objective, false
		for range 8 {
			step := solve(f.m, normal, right, damping)
			if step != nil {
				for i, d := range step {
					trial[i] = f.theta[i] + d
				}
				delta := f.moved(f.delta, step)
				if m, o := f.errors(trial, delta); o < objective {
					gained = objective-o > tolerance
					copy(f.theta, trial)
					f.delta, msq, objective, damping = delta, m, o, math.Max(damping/10, 1e-9)
					break
				}
			}
			damping *= 10
		}
		if hopeless := left <= iterations-patience && objective-float64(left)*(before-objective) > leader; !gained || hopeless {
			break
		}
	}
	f.objective = objective
}
