package priordynamics

import (
	"math"

	"gonum.org/v1/gonum/optimize"

	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/cores"
	"github.com/dgm-robotics/dgm/trainer/priordynamics/paths"
)

// shooting holds the memory of the roll-out objective.
type shooting struct {
	m      *priordynamics.Model
	s      *paths.Paths
	scale  []float64 // N×K, weights are unit·parameter
	start  []float64 // N×K, parameters of the regression
	pull   float64   // weight of the pull towards them
	work   []*shotWork
	msq    []float64 // nodes×K
	weight []float64 // nodes×K, ∂L/∂(e²)
	done   float64   // multiplications so far, see Effort.Work
}

// shotWork is the memory of one worker, for its share of the windows.
type shotWork struct {
	m     priordynamics.Model
	x     []float64 // share×(nodes+1)×K displacement
	v     []float64 // share×nodes×(L+P)
	slope []float64 // share×nodes×L
	msq   []float64 // nodes×K
	grad  []float64 // N×K

	psi, psibar            []float64 // N
	vbar                   []float64 // L+P
	now, inc, lambda, dbar []float64 // K: state, increment, their adjoints; dbar of the learned part
}

// floor keeps the logarithm away from zero: errors below a ten thousandth of the
// motion count as zero.
const floor = 1e-8

// shares is the number of parts that the windows are divided into. It is fixed,
// so that sums have the same order on every machine.
const shares = 4

// minimise fits the roll-outs of m, in place, in at most the iterations and about the work of
// the effort.
func minimise(m *priordynamics.Model, s *paths.Paths, e Effort, stop func() bool) {
	f := newShooting(m, s)
	x := append([]float64(nil), f.start...)
	grad := make([]float64, len(x))
	best, bestX := f.evaluate(grad, x), append([]float64(nil), x...)
	problem := optimize.Problem{
		Func: func(x []float64) float64 {
			v := f.evaluate(nil, x)
			if v < best {
				best = v
				copy(bestX, x)
			}
			return v
		},
		Grad: func(g, x []float64) { f.evaluate(g, x) },
		Status: func() (optimize.Status, error) {
			if stop != nil && stop() || f.done > e.Work {
				return optimize.RuntimeLimit, nil
			}
			return optimize.NotTerminated, nil
		},
	}
	// Whatever ends the search, a failed line search included, the best point
	// seen is kept: it is never worse than the regression.
	optimize.Minimize(problem, x, &optimize.Settings{MajorIterations: e.Iterations, GradientThreshold: 1e-6}, &optimize.LBFGS{Store: 12})
	for i, v := range bestX {
		m.Weights[i] = v * f.scale[i]
	}
}

func newShooting(m *priordynamics.Model, s *paths.Paths) *shooting {
	K, N, L, P := s.K, m.Terms(), m.Lift.Dim(), s.P
	f := &shooting{m: m, s: s, pull: 1e-4, scale: make([]float64, N*K), start: make([]float64, N*K), msq: make([]float64, s.Nodes*K), weight: make([]float64, s.Nodes*K)}
	for k := range K {
		// a parameter of 1 moves the state by the rms of one step
		unit := s.RMS[k]
		for j := range N {
			f.scale[j*K+k] = unit
			f.start[j*K+k] = m.Weights[j*K+k] / unit
		}
	}
	share := (s.N + shares - 1) / shares
	for range shares {
		f.work = append(f.work, &shotWork{
			m: *m, x: make([]float64, share*(s.Nodes+1)*K), v: make([]float64, share*s.Nodes*(L+P)), slope: make([]float64, share*s.Nodes*L),
			psi: make([]float64, N), psibar: make([]float64, N), vbar: make([]float64, L+P), now: make([]float64, K),
			lambda: make([]float64, K), inc: make([]float64, K), dbar: make([]float64, K), msq: make([]float64, s.Nodes*K), grad: make([]float64, N*K),
		})
	}
	return f
}

// once returns the multiplications of rolling all windows out once.
func (f *shooting) once() float64 { return float64(f.s.N*f.s.Nodes) * float64(f.m.Terms()*f.s.K) }

// evaluate returns the objective at parameters x and, unless nil, its gradient.
func (f *shooting) evaluate(grad, x []float64) float64 {
	s := f.s
	f.done += f.once()
	weights := make([]float64, len(x))
	for i, v := range x {
		weights[i] = v * f.scale[i]
	}
	f.each(func(w *shotWork, from, to int) {
		w.m.Weights = weights
		w.forward(s, from, to)
	})
	clear(f.msq)
	for _, w := range f.work {
		for j, v := range w.msq {
			f.msq[j] += v / float64(s.N)
		}
	}
	total, n := 0.0, float64(len(f.msq))
	for j, v := range f.msq {
		h2 := s.RMS[j] * s.RMS[j]
		total += 0.5 * math.Log(v/h2+floor) / n
		f.weight[j] = 0.5 / (v + floor*h2) / n / float64(s.N)
	}
	for i, v := range x {
		d := v - f.start[i]
		total += f.pull * d * d / float64(len(x))
		if grad != nil {
			grad[i] = 2 * f.pull * d / float64(len(x))
		}
	}
	if math.IsNaN(total) {
		return math.Inf(1)
	}
	if grad == nil {
		return total
	}
	f.done += 2 * f.once()
	f.each(func(w *shotWork, from, to int) { w.backward(s, f.weight, from, to) })
	for _, w := range f.work {
		for i, g := range w.grad {
			grad[i] += g * f.scale[i]
		}
	}
	return total
}

// each runs one part of the windows after the other, on all processors.
func (f *shooting) each(run func(w *shotWork, from, to int)) {
	cores.Each(len(f.work), func(i int) {
		run(f.work[i], i*f.s.N/shares, (i+1)*f.s.N/shares)
	})
}

// forward rolls windows [from, to) out and sums their squared errors.
func (w *shotWork) forward(s *paths.Paths, from, to int) {
	K, P, L, N := s.K, s.P, w.m.Lift.Dim(), s.Nodes
	clear(w.msq)
	for i := from; i < to; i++ {
		at := i - from
		x := w.x[at*(N+1)*K : (at+1)*(N+1)*K]
		clear(x[:K])
		for n := range N {
			here, next := x[n*K:(n+1)*K], x[(n+1)*K:(n+2)*K]
			for k, d := range here {
				w.now[k] = s.X0[i*K+k] + d
			}
			o := at*N + n
			v := w.v[o*(L+P) : (o+1)*(L+P)]
			w.m.Coordinates(v, w.slope[o*L:(o+1)*L], w.now, s.U[(i*N+n)*P:(i*N+n+1)*P])
			w.m.Monomials(w.psi, v)
			clear(next)
			for j, c := range w.psi {
				for k, wt := range w.m.Weights[j*K : (j+1)*K] {
					next[k] += wt * c
				}
			}
			w.m.Body.Add(next, w.now, w.m.Step)
			for k, d := range here {
				next[k] += d
			}
			for k, d := range next {
				e := d - s.Y[(i*N+n)*K+k]
				w.msq[n*K+k] += e * e
			}
		}
	}
}

// backward carries the errors back through the roll-outs:
//
//	λ_n = λ_{n+1} + (∂v/∂x)ᵀ (∂ψ/∂v)ᵀ W λ' + ∂L/∂x_n      W̄ += ψ_n λ'ᵀ
//
// λ' = λ_{n+1} without declared kinematics; else their adjoint maps λ_{n+1} to λ' and
// adds its own part to λ_n.
func (w *shotWork) backward(s *paths.Paths, weight []float64, from, to int) {
	K, P, L, N := s.K, s.P, w.m.Lift.Dim(), s.Nodes
	clear(w.grad)
	for i := from; i < to; i++ {
		at := i - from
		x := w.x[at*(N+1)*K : (at+1)*(N+1)*K]
		clear(w.lambda)
		for n := N - 1; n >= 0; n-- {
			for k := range K {
				e := x[(n+1)*K+k] - s.Y[(i*N+n)*K+k]
				w.lambda[k] += 2 * weight[n*K+k] * e
			}
			copy(w.dbar, w.lambda)
			if !w.m.Body.Empty() {
				for k := range K {
					w.now[k] = s.X0[i*K+k] + x[n*K+k]
					w.inc[k] = x[(n+1)*K+k] - x[n*K+k]
				}
				w.m.Body.Adjoint(w.lambda, w.dbar, w.now, w.inc, w.m.Step)
			}
			o := at*N + n
			v := w.v[o*(L+P) : (o+1)*(L+P)]
			w.m.Monomials(w.psi, v)
			for j, c := range w.psi {
				sum := 0.0
				row, g := w.m.Weights[j*K:(j+1)*K], w.grad[j*K:(j+1)*K]
				for k, l := range w.dbar {
					sum += row[k] * l
					g[k] += c * l
				}
				w.psibar[j] = sum
			}
			clear(w.vbar)
			w.m.Adjoint(w.vbar, v, w.psibar)
			for l, of := range w.m.Lift.Of {
				w.lambda[of] += w.vbar[l] * w.slope[o*L+l]
			}
		}
	}
}
