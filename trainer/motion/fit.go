package motion

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dgm-robotics/dgm/estimator/dynamics"
	"github.com/dgm-robotics/dgm/estimator/motion"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/estimator/program"
	"github.com/dgm-robotics/dgm/trainer/cores"
	"github.com/dgm-robotics/dgm/trainer/priordynamics/paths"
	"github.com/dgm-robotics/dgm/trainer/window"
)

const (
	shares    = 4    // of the windows, whose sums do not depend on the number of processors
	lanes     = 16   // windows that are rolled out at once
	floor     = 1e-6 // ε of the objective
	most      = 240  // windows of a fit
	few       = 64   // windows by which kinds are compared
	mostNodes = 60   // of a roll-out
	least     = 20   // and without so many there is no fit
	blocks    = 40   // of the sandwich
	quantile  = 2.02 // of 95 %, of Student's t with so many blocks
	tolerance = 1e-4 // of the objective: an iteration that gains less is the last
)

// ErrTooFew is where flights are too short for an equation of motion.
var ErrTooFew = errors.New("too few windows for an equation of motion")

// problem is the fit of one equation to windows.
type problem struct {
	e    *motion.Equation
	s    *paths.Paths
	m    int // parameters
	work []*shot

	theta     []float64 // of the fit
	objective float64
}

// shot rolls windows out, lanes at once.
type shot struct {
	machine               *program.Machine[float64]
	x, u, theta, d        program.Reg
	msq                   []float64 // nodes×K
	normal, right, scores []float64 // m×m, m, blocks×m
	row                   []float64 // m
}

func newProblem(e *motion.Equation, s *paths.Paths) *problem {
	f := &problem{e: e, s: s, m: len(e.Parameters)}
	code := dynamics.MotionRollOut(e, s.K, s.P, s.Nodes, s.Step)
	for range shares {
		w := &shot{machine: program.New[float64](code, program.Options{Lanes: lanes, ByLane: []string{dynamics.X, dynamics.Plan}, Tangents: []string{dynamics.Parameters}, Seeds: f.m}),
			x: code.Inputs[0].Reg, theta: code.Inputs[1].Reg, u: program.None, d: code.Outputs[0].Reg,
			msq: make([]float64, s.Nodes*s.K), normal: make([]float64, f.m*f.m), right: make([]float64, f.m), scores: make([]float64, blocks*f.m), row: make([]float64, f.m)}
		if s.P > 0 {
			w.u = code.Inputs[2].Reg
		}
		for j := range f.m {
			w.machine.SetTangent(w.theta, j, 0, j, 1)
		}
		f.work = append(f.work, w)
	}
	return f
}

// roll rolls the windows from one on out and returns how many lanes are of windows.
func (w *shot) roll(s *paths.Paths, from int) int {
	n := min(lanes, s.N-from)
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

// each runs the windows in batches, on all processors.
func (f *problem) each(theta []float64, run func(w *shot, from, n int)) {
	cores.Each(len(f.work), func(i int) {
		w := f.work[i]
		for j, v := range theta {
			w.machine.Set(w.theta, j, 0, 0, v)
		}
		for from := i * lanes; from < f.s.N; from += lanes * len(f.work) {
			run(w, from, w.roll(f.s, from))
		}
	})
}

// errors returns the mean squared errors at nodes and channels (nodes×K), and the objective.
func (f *problem) errors(theta []float64) (msq []float64, objective float64) {
	for _, w := range f.work {
		clear(w.msq)
	}
	s := f.s
	f.each(theta, func(w *shot, from, n int) {
		for lane := range n {
			for j := range w.msq {
				e := w.machine.Get(w.d, j%s.K, j/s.K, lane) - s.Y[(from+lane)*len(w.msq)+j]
				w.msq[j] += e * e
			}
		}
	})
	msq = make([]float64, s.Nodes*s.K)
	for _, w := range f.work {
		for j, v := range w.msq {
			msq[j] += v / float64(s.N)
		}
	}
	for j, v := range msq {
		h := s.RMS[j] * s.RMS[j]
		objective += 0.5 * math.Log(v/h+floor) / float64(len(msq))
	}
	if math.IsNaN(objective) {
		objective = math.Inf(1)
	}
	return msq, objective
}

// gather sets the normal equations of a step, and the gradients of blocks of windows, at θ with these mean squared errors.
func (f *problem) gather(theta, msq []float64) (normal, right, scores []float64) {
	s, m := f.s, f.m
	weight := make([]float64, len(msq))
	for j, v := range msq {
		weight[j] = 1 / (v + floor*s.RMS[j]*s.RMS[j]) / float64(len(msq)*s.N)
	}
	for _, w := range f.work {
		clear(w.normal)
		clear(w.right)
		clear(w.scores)
	}
	f.each(theta, func(w *shot, from, n int) {
		w.machine.Tangent()
		for lane := range n {
			score := w.scores[(from+lane)*blocks/s.N*m:][:m]
			for j, g := range weight {
				k, node := j%s.K, j/s.K
				e := s.Y[(from+lane)*len(msq)+j] - w.machine.Get(w.d, k, node, lane)
				for i := range w.row {
					w.row[i] = w.machine.TangentOf(w.d, k, node, lane, i)
				}
				blas64.Syr(g, blas64.Vector{N: m, Inc: 1, Data: w.row}, symmetric(m, w.normal))
				for i, d := range w.row {
					w.right[i] += g * d * e
					score[i] += g * d * e
				}
			}
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

// descend improves θ in at most so many iterations, and returns the objective that it reaches.
func (f *problem) descend(ctx context.Context, theta []float64, iterations int) float64 {
	msq, objective := f.errors(theta)
	damping, trial := 1e-3, make([]float64, f.m)
	for range iterations {
		if ctx.Err() != nil {
			break
		}
		normal, right, _ := f.gather(theta, msq)
		gained := false
		for range 8 {
			step := solve(f.m, normal, right, damping)
			if step != nil {
				for i, d := range step {
					trial[i] = theta[i] + d
				}
				if m, o := f.errors(trial); o < objective {
					gained = objective-o > tolerance
					copy(theta, trial)
					msq, objective, damping = m, o, math.Max(damping/10, 1e-9)
					break
				}
			}
			damping *= 10
		}
		if !gained {
			break
		}
	}
	return objective
}

// intervals sets the intervals of 95 % of the equation's parameters at θ.
func (f *problem) intervals(theta []float64) {
	msq, _ := f.errors(theta)
	normal, _, scores := f.gather(theta, msq)
	for i, v := range theta {
		f.e.Parameters[i].Value, f.e.Parameters[i].Low, f.e.Parameters[i].High = v, v, v
	}
	right := make([]float64, f.m*blocks) // a column for each block
	for b := range blocks {
		for i := range f.m {
			right[i*blocks+b] = scores[b*f.m+i]
		}
	}
	moves := solve(f.m, normal, right, 1e-9)
	for i := range f.e.Parameters {
		p, sum := &f.e.Parameters[i], 0.0
		if moves == nil {
			continue
		}
		for _, d := range moves[i*blocks : (i+1)*blocks] {
			sum += d * d
		}
		half := quantile * math.Sqrt(sum*blocks/(blocks-1))
		p.Low, p.High = p.Value-half, p.Value+half
	}
}

// Settings of the roll-outs.
type Settings struct {
	Step    float64 // s, of a fit: inputs that change within it are averaged, which biases parameters
	Nodes   int
	Predict float64 // s, of predictions

	windows int // at most
}

// SettingsOf returns steps of one sample in a fit, where these are no more than mostNodes, and of about a 25th of the horizon in
// predictions.
func SettingsOf(flights []window.Flight, task window.Task) Settings {
	dt := math.Inf(1)
	for i := range flights {
		dt = math.Min(dt, flights[i].Duration()/float64(flights[i].N()-1))
	}
	samples := func(parts float64) float64 { return math.Max(1, math.Round(task.Horizon/parts/dt)) * dt }
	s := Settings{Step: math.Max(samples(mostNodes), dt), Predict: samples(25)}
	s.Nodes = max(1, int(task.Horizon/s.Step+1e-9))
	return s
}

// Coarse returns settings with the steps of predictions and half the windows, for fits whose parameters are not reported.
func (s Settings) Coarse(task window.Task) Settings {
	return Settings{Step: s.Predict, Nodes: max(1, int(task.Horizon/s.Predict+1e-9)), Predict: s.Predict, windows: most / 2}
}

// Choose fits the proposed equation that fits a few windows best. It returns nil where none is proposed, or none can be fitted.
func Choose(ctx context.Context, flights []window.Flight, task window.Task, proposed []motion.Equation, set Settings) (best *motion.Equation, objective float64, err error) {
	objective = math.Inf(1)
	for _, e := range proposed {
		f, err := screen(ctx, flights, task, e, set)
		if err != nil {
			return nil, 0, err
		}
		if f.objective < objective {
			best, objective = f.e, f.objective
		}
	}
	if best == nil {
		return nil, 0, nil
	}
	return Fit(ctx, flights, task, *best, set, values(best))
}

// screen fits an equation to few windows.
func screen(ctx context.Context, flights []window.Flight, task window.Task, e motion.Equation, set Settings) (*problem, error) {
	set = set.Coarse(task)
	set.windows = few
	f, err := fit(ctx, flights, task, e, set, nil)
	if err != nil {
		return nil, err
	}
	for i, v := range f.theta {
		p := &f.e.Parameters[i]
		p.Value, p.Low, p.High = v, v, v
	}
	return f, nil
}

func values(e *motion.Equation) (out []float64) {
	for _, p := range e.Parameters {
		out = append(out, p.Value)
	}
	return out
}

// Fit fits an equation to flights, from the parameters start, and returns it with the objective that it reaches: the mean
// logarithm of its error over that of holding.
func Fit(ctx context.Context, flights []window.Flight, task window.Task, e motion.Equation, set Settings, start []float64) (*motion.Equation, float64, error) {
	if set.windows == 0 {
		set.windows = most
	}
	f, err := fit(ctx, flights, task, e, set, start)
	if err != nil {
		return nil, 0, err
	}
	f.intervals(f.theta)
	return f.e, f.objective, nil
}

// fit is Fit without intervals.
func fit(ctx context.Context, flights []window.Flight, task window.Task, e motion.Equation, set Settings, start []float64) (*problem, error) {
	K := len(task.States)
	e.Parameters = slices.Clone(e.Parameters)
	e.Bound = bounds(flights, K, task.Inputs, &e)
	theta, objective := make([]float64, len(e.Parameters)), math.Inf(1)
	copy(theta, start)
	stages := []int{3, max(3, set.Nodes/6), set.Nodes}
	if start != nil {
		stages = stages[2:]
	}
	var f *problem
	for _, nodes := range stages {
		nodes = min(nodes, set.Nodes)
		s := paths.Gather(&priordynamics.Body{}, flights, task, set.Step, nodes, set.windows)
		if s.N < least {
			return nil, ErrTooFew
		}
		f = newProblem(&e, s)
		objective = f.descend(ctx, theta, 12)
	}
	f.theta, f.objective = theta, objective
	return f, nil
}

// slack is how far beyond the largest value of the data a rate or an input is let.
const slack = 3

// bounds returns what states and inputs are clamped to: velocities, rates and inputs by their largest values.
func bounds(flights []window.Flight, K, P int, e *motion.Equation) []float64 {
	out := slices.Repeat([]float64{math.MaxFloat32}, K+P)
	largest := make([]float64, K+P)
	for i := range flights {
		f := &flights[i]
		for j := range f.N() {
			for c, v := range slices.Concat(f.State(j), f.Input(j)) {
				if !math.IsNaN(v) {
					largest[c] = math.Max(largest[c], math.Abs(v))
				}
			}
		}
	}
	for _, r := range e.Roles {
		if d := dimension(r.Name); d == "m/s" || d == "rad/s" {
			out[r.State] = slack*largest[r.State] + 1e-9
		}
	}
	for p := range P {
		out[K+p] = slack*largest[K+p] + 1e-9
	}
	return out
}
