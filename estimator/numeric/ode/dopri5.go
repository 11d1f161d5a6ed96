package ode

import (
	"math"
	"slices"
)

// Config sets the accuracy of Dopri5. Its zero value is usable.
type Config struct {
	RTol     float64 // (optional) relative tolerance of one step; defaults to 1e-6
	ATol     float64 // (optional) absolute tolerance of one step, in the units of x; defaults to RTol
	MaxSteps int     // (optional) steps tried in one call before giving up; defaults to 100,000
}

// Dopri5 integrates with the pair of Dormand and Prince and adapts the step so
// that the estimated error of each step, measured as the root mean square over
// channels of error/(ATol + RTol |x|), stays below one. Step control: the PI
// controller of Hairer, Nørsett & Wanner, section IV.2 (their DOPRI5).
type Dopri5 struct {
	cfg             Config
	k               int
	steps, rejected int // of the last call

	x, y, fx, tmp []float64    // K each: state, trial state, right-hand side at x, scratch
	s             [7][]float64 // K each: stages of the trial step
}

// NewDopri5 returns a solver for k states.
func NewDopri5(k int, c Config) *Dopri5 {
	if k <= 0 {
		panic(badSize)
	}
	if c.RTol <= 0 {
		c.RTol = 1e-6
	}
	if c.ATol <= 0 {
		c.ATol = c.RTol
	}
	if c.MaxSteps <= 0 {
		c.MaxSteps = 100_000
	}
	d := &Dopri5{cfg: c, k: k}
	mem := make([]float64, 11*k)
	take := func() []float64 {
		v := mem[:k:k]
		mem = mem[k:]
		return v
	}
	d.x, d.y, d.fx, d.tmp = take(), take(), take(), take()
	for i := range d.s {
		d.s[i] = take()
	}
	return d
}

// Advance carries x (K, in place) from time t0 to t1, which may lie before t0.
// It returns false, and leaves x at the last accepted state, when the steps run
// out or no step with a finite result is found.
func (d *Dopri5) Advance(f Func, x []float64, t0, t1 float64) (ok bool) {
	if len(x) != d.k {
		panic(badSize)
	}
	copy(d.x, x)
	target := [1]float64{t1}
	ok = d.run(nil, f, t0, target[:])
	copy(x, d.x)
	return ok
}

// Solve starts from x0 (K) at time t0 and writes the state at each of times (T)
// into dst (T×K row-major). Times proceed from t0 in one direction and may
// begin with t0 itself. It returns false when the steps run out or no step with
// a finite result is found; rows that were not reached are then NaN.
func (d *Dopri5) Solve(dst []float64, f Func, x0 []float64, t0 float64, times []float64) (ok bool) {
	if len(x0) != d.k || len(dst) != len(times)*d.k {
		panic(badSize)
	}
	for i := range dst {
		dst[i] = math.NaN()
	}
	copy(d.x, x0)
	return d.run(dst, f, t0, times)
}

// run integrates from d.x at t0 through times; dst is nil where only the final
// state in d.x is needed.
func (d *Dopri5) run(dst []float64, f Func, t0 float64, times []float64) bool {
	d.steps, d.rejected = 0, 0
	if len(times) == 0 {
		return finite(d.x)
	}
	end := times[len(times)-1]
	checkTimes(t0, times, end)
	next := d.reached(dst, times, 0, t0, d.x)
	if !finite(d.x) {
		return false
	}
	if next == len(times) {
		return true
	}
	dir := math.Copysign(1, end-t0)
	f(d.fx, t0, d.x)
	h := d.firstStep(f, t0, dir, math.Abs(end-t0))
	lastErr, rejected := 1e-4, false
	for t := t0; next < len(times); {
		if d.steps+d.rejected >= d.cfg.MaxSteps {
			return false
		}
		goal := times[next]
		// A step that would end just short of the goal is stretched to it, so
		// that no sliver of a step is left over.
		left := math.Abs(goal - t)
		step := h
		lands := step*1.01 >= left
		if lands {
			step = left
		}
		if t+dir*step == t {
			return false // the step has shrunk below the resolution of time
		}
		d.trial(f, t, dir*step)
		e := d.errorNorm()
		if !(e <= 1) { // too large, or NaN
			d.rejected++
			rejected = true
			h = step * rejectFactor(e)
			continue
		}
		d.steps++
		tNew := t + dir*step
		if lands {
			tNew = goal
		}
		if lands {
			next = d.reached(dst, times, next, goal, d.y)
		}
		// FSAL: the last stage is the right-hand side at the new state.
		d.x, d.y = d.y, d.x
		d.fx, d.s[6] = d.s[6], d.fx
		t = tNew
		h = nextStep(h, step, e, lastErr, rejected, lands)
		lastErr, rejected = math.Max(e, 1e-4), false
	}
	return true
}

// trial computes the stages and the solution of order 5 in d.y for one step.
func (d *Dopri5) trial(f Func, t, h float64) {
	copy(d.s[0], d.fx)
	for i := 1; i < 7; i++ {
		a := &stages[i]
		for k := range d.tmp {
			sum := a[0] * d.s[0][k]
			for j := 1; j < i; j++ {
				sum += a[j] * d.s[j][k]
			}
			d.tmp[k] = d.x[k] + h*sum
		}
		if i == 6 {
			copy(d.y, d.tmp)
		}
		f(d.s[i], t+nodes[i]*h, d.tmp)
	}
	for k := range d.tmp {
		var sum float64
		for j, w := range defect {
			sum += w * d.s[j][k]
		}
		d.tmp[k] = h * sum
	}
}

// errorNorm returns the norm of the error estimate in d.tmp, NaN where the
// trial is not finite.
func (d *Dopri5) errorNorm() float64 {
	var sum float64
	for k, e := range d.tmp {
		scale := d.cfg.ATol + d.cfg.RTol*math.Max(math.Abs(d.x[k]), math.Abs(d.y[k]))
		r := e / scale
		sum += r * r
	}
	if !finite(d.y) || !finite(d.s[6]) {
		return math.NaN()
	}
	return math.Sqrt(sum / float64(d.k))
}

// reached stores x for all times that equal at, from row next on, and returns the next
// row that is still open.
func (d *Dopri5) reached(dst, times []float64, next int, at float64, x []float64) int {
	for ; next < len(times) && times[next] == at; next++ {
		if dst != nil {
			copy(dst[next*d.k:(next+1)*d.k], x)
		}
	}
	return next
}

func checkTimes(t0 float64, times []float64, end float64) {
	last := t0
	for _, t := range times {
		if math.IsNaN(t) || math.IsInf(t, 0) || (t-last)*(end-t0) < 0 || (end == t0 && t != t0) {
			panic(badTimes)
		}
		last = t
	}
	if math.IsNaN(t0) || math.IsInf(t0, 0) {
		panic(badTimes)
	}
}

func finite(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// Coefficients of the pair of order 5(4) with seven stages, of which the last
// is the first of the next step (FSAL): Dormand & Prince, "A family of embedded
// Runge-Kutta formulae", J. Comp. Appl. Math. 6 (1980), table 2.
var (
	nodes = [7]float64{0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1}

	// stages[i][j] is a_ij; its last row is the solution of order 5.
	stages = [7][6]float64{
		{},
		{1. / 5},
		{3. / 40, 9. / 40},
		{44. / 45, -56. / 15, 32. / 9},
		{19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
		{9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
		{35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84},
	}

	// defect is the solution of order 5 minus that of order 4.
	defect = [7]float64{71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40}
)
