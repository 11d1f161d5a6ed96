package priordynamics

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"github.com/dgm-robotics/dgm/estimator/dynamics"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/estimator/program"
	"github.com/dgm-robotics/dgm/trainer/cores"
	"github.com/dgm-robotics/dgm/trainer/priordynamics/paths"
)

// shooting holds the memory of the roll-out objective.
type shooting struct {
	m       *priordynamics.Model
	s       *paths.Paths
	scale   []float64 // N×K, weights are unit·parameter
	start   []float64 // N×K, parameters of the regression
	pull    float64   // weight of the pull towards them
	work    []*shotWork
	weights []float64 // N×K
	last    []float64 // N×K, parameters that msq is of; none = of none
	msq     []float64 // nodes×K
	weight  []float64 // nodes×K, ∂L/∂(e²)
	done    float64   // multiplications so far, see Effort.Work
}

// shotWork is the memory of one worker, for its share of the windows, lanes of which are rolled out at once.
type shotWork struct {
	machine      *program.Machine[float64]
	x, u, d      program.Reg // start states, mean inputs of the steps, displacements
	learned      *program.Parameters
	displacement []float64 // nodes×K
	msq          []float64 // nodes×K
	grad         []float64 // N×K
}

// lanes is how many windows are rolled out at once.
const lanes = 16

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
	best, bestX := f.evaluate(nil, x), append([]float64(nil), x...)
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
	K, N, P := s.K, m.Terms(), s.P
	f := &shooting{m: m, s: s, pull: 1e-4, scale: make([]float64, N*K), start: make([]float64, N*K), msq: make([]float64, s.Nodes*K), weight: make([]float64, s.Nodes*K)}
	for k := range K {
		// a parameter of 1 moves the state by the rms of one step
		unit := s.RMS[k]
		for j := range N {
			f.scale[j*K+k] = unit
			f.start[j*K+k] = m.Weights[j*K+k] / unit
		}
	}
	code, learned := dynamics.RollOut(m, K, P, s.Nodes)
	for range shares {
		machine := program.New[float64](code, program.Options{Lanes: lanes, ByLane: []string{dynamics.X, dynamics.Plan}, Adjoint: true, Trained: []*program.Affine{learned}})
		w := &shotWork{
			machine: machine, x: code.Inputs[0].Reg, u: program.None, d: code.Outputs[0].Reg, learned: machine.Parameters(learned),
			displacement: make([]float64, s.Nodes*K), msq: make([]float64, s.Nodes*K), grad: make([]float64, N*K),
		}
		if P > 0 {
			w.u = code.Inputs[1].Reg
		}
		f.work = append(f.work, w)
	}
	f.weights = make([]float64, N*K)
	return f
}

// once returns the multiplications of rolling all windows out once.
func (f *shooting) once() float64 { return float64(f.s.N*f.s.Nodes) * float64(f.m.Terms()*f.s.K) }

// evaluate returns the objective at parameters x and, unless nil, its gradient.
func (f *shooting) evaluate(grad, x []float64) float64 {
	s := f.s
	if !slices.Equal(x, f.last) { // the search asks for the gradient where it has had the value
		f.setErrors(x)
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

// setErrors rolls all windows out at parameters x.
func (f *shooting) setErrors(x []float64) {
	f.done += f.once()
	f.last = append(f.last[:0], x...)
	for i, v := range x {
		f.weights[i] = v * f.scale[i]
	}
	f.each(func(w *shotWork, from, to int) {
		w.set(f.weights)
		w.forward(f.s, from, to)
	})
	clear(f.msq)
	for _, w := range f.work {
		for j, v := range w.msq {
			f.msq[j] += v / float64(f.s.N)
		}
	}
}

// each runs one part of the windows after the other, on all processors.
func (f *shooting) each(run func(w *shotWork, from, to int)) {
	cores.Each(len(f.work), func(i int) {
		run(f.work[i], i*f.s.N/shares, (i+1)*f.s.N/shares)
	})
}

// set sets the weights (N×K) of the roll-outs.
func (w *shotWork) set(weights []float64) { w.exchange(weights, w.learned.C, w.learned.M, false) }

// gradient writes the adjoints of the weights to grad.
func (w *shotWork) gradient() { w.exchange(w.grad, w.learned.BarC, w.learned.BarM, true) }

// exchange copies weights (N×K: the constant, then the parts, transposed) to the parameters of the program, or back.
func (w *shotWork) exchange(weights, constant []float64, parts [][]float64, back bool) {
	move := func(a, b *float64) {
		if back {
			a, b = b, a
		}
		*b = *a
	}
	K := len(constant)
	for k := range K {
		move(&weights[k], &constant[k])
	}
	at := K
	for _, m := range parts {
		n := len(m) / K
		for i := range n {
			for k := range K {
				move(&weights[at+i*K+k], &m[k*n+i])
			}
		}
		at += n * K
	}
}

// roll rolls the windows from one on out, at most lanes of them and to before another, and returns how many. The last one
// fills up.
func (w *shotWork) roll(s *paths.Paths, from, to int) (n int) {
	n = min(lanes, to-from)
	for lane := range lanes {
		i := from + min(lane, n-1)
		for k, x := range s.X0[i*s.K : (i+1)*s.K] {
			w.machine.Set(w.x, k, 0, lane, x)
		}
		for j, u := range s.U[i*s.Nodes*s.P : (i+1)*s.Nodes*s.P] {
			w.machine.Set(w.u, j%s.P, j/s.P, lane, u)
		}
	}
	w.machine.Value()
	return n
}

// forward rolls windows [from, to) out and sums their squared errors.
func (w *shotWork) forward(s *paths.Paths, from, to int) {
	clear(w.msq)
	for i := from; i < to; i += lanes {
		for lane := range w.roll(s, i, to) {
			w.machine.Columns(w.displacement, w.d, lane)
			for j, d := range w.displacement {
				e := d - s.Y[(i+lane)*len(w.displacement)+j]
				w.msq[j] += e * e
			}
		}
	}
}

// backward carries the errors back through the roll-outs, to the weights.
func (w *shotWork) backward(s *paths.Paths, weight []float64, from, to int) {
	w.machine.ClearParameters()
	for i := from; i < to; i += lanes {
		n := w.roll(s, i, to)
		w.machine.ClearAdjoints()
		for lane := range n {
			w.machine.Columns(w.displacement, w.d, lane)
			for j, d := range w.displacement {
				w.machine.SetAdjoint(w.d, j%s.K, j/s.K, lane, 2*weight[j]*(d-s.Y[(i+lane)*len(w.displacement)+j]))
			}
		}
		w.machine.Adjoint()
	}
	w.gradient()
}
