// Package planning plans inputs over a receding horizon on any model that predicts means and
// their derivatives by the plan.
//
// The Planner takes Gauss-Newton steps (sequential quadratic programming on sums of squares;
// Bock & Plitt 1984, in the real-time form of Diehl et al. 2005: few steps a call, from the last
// plan moved on by a row). With e = mean − reference, plan u and rest u0 it lowers
//
//	Σ_t Σ_k Q_k e_k(t)² + Σ_r Σ_p R_p (u_rp − u0_p)² + ρ Σ max(0, −c)²
//
// within bounds of the inputs; c is the clearance of an obstacle, see Obstacle. MPPI draws plans.
//
// What is kept free is bounded by Obstacle.Widest, half of the narrowest gap that is to be flown through. Hard commands raise standard deviations, those what is kept free, and that the commands: where what
// both sides keep free overlaps no plan is free, and the penalty would push harder the less is known. Within the bound the
// plan of the least penalty is the middle of the gap. Standard deviations are those of each time, of an open loop: plans
// made anew correct errors, and a bound on deviations of later times for that lets more flights collide.
package planning

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Prediction is what a model says of a plan: T times, K states, R rows of P inputs.
type Prediction struct {
	Mean   []float64 // T×K
	Std    []float64 // T×K; zeros where the model has none
	ByPlan []float64 // T×K×(R·P), ∂Mean/∂plan; empty = not wanted
}

// Model predicts from a state x (K) under a plan (R×P). ok is false if a number is not finite.
type Model func(dst *Prediction, x, plan []float64) (ok bool)

// Config describes what is planned.
type Config struct {
	K, P, T, R int
	State      []float64 // K, weights Q
	Input      []float64 // P, weights R
	Rest       []float64 // P, u0
	Low, High  []float64 // P, bounds of the inputs
	Steps      int       // (optional) Gauss-Newton steps a call; defaults to 1

	Obstacles []Obstacle // (optional)
	Penalty   float64    // ρ
	Blind     int        // (optional) the first so many times obstacles are not kept free: no plan moves the vehicle by then
	Most      float64    // (optional) obstacles further away than this from the first state are left out; 0 = none is
}

// Planner plans with one model. It is not safe for concurrent use.
type Planner struct {
	cfg        Config
	model      Model
	Plan       []float64 // R×P, the last plan
	prediction Prediction
	candidate  Prediction
	tried      []float64 // R×P

	rows     []float64 // weighted rows of the Jacobian, at most T×K + T×obstacles
	residual []float64
	used     int // of rows
	hessian  []float64
	gradient []float64
	step     []float64
	qp       *boxQP
}

// New takes all memory.
func New(c Config, m Model) *Planner {
	n, most := c.R*c.P, c.T*(c.K+len(c.Obstacles))
	p := &Planner{
		cfg: c, model: m, Plan: make([]float64, n), tried: make([]float64, n),
		rows: make([]float64, most*n), residual: make([]float64, most),
		hessian: make([]float64, n*n), gradient: make([]float64, n), step: make([]float64, n), qp: newBoxQP(n),
	}
	p.prediction = Prediction{make([]float64, c.T*c.K), make([]float64, c.T*c.K), make([]float64, c.T*c.K*n)}
	p.candidate = Prediction{Mean: make([]float64, c.T*c.K), Std: make([]float64, c.T*c.K)}
	p.Reset()
	return p
}

// Reset makes the plan that at rest.
func (p *Planner) Reset() {
	for i := range p.Plan {
		p.Plan[i] = p.cfg.Rest[i%p.cfg.P]
	}
}

// Advance moves the plan on by a share of a row, after its first has been applied for as long.
func (p *Planner) Advance(share float64) { advance(p.Plan, p.cfg.P, share) }

func advance(plan []float64, P int, share float64) {
	for i, next := range plan[P:] {
		plan[i] += share * (next - plan[i])
	}
}

// Prediction returns that of the plan before the last step.
func (p *Planner) Prediction() *Prediction { return &p.prediction }

// Improve improves the plan from a state x (K) towards a reference (T×K). ok is false if the
// model's prediction is not finite; the plan is then as it was.
func (p *Planner) Improve(x, reference []float64) (ok bool) {
	for range max(1, p.cfg.Steps) {
		if !p.model(&p.prediction, x, p.Plan) {
			return false
		}
		before := p.cost(&p.prediction, p.Plan, x, reference)
		p.linearise(x, reference)
		if !p.solve() {
			return true // the plan stands
		}
		if !p.search(before, x, reference) {
			return true
		}
	}
	return true
}

// search takes the step, halved until the cost falls. It returns false where it does not.
func (p *Planner) search(before float64, x, reference []float64) bool {
	if p.cfg.Steps <= 1 && len(p.cfg.Obstacles) == 0 {
		for i, d := range p.step {
			p.Plan[i] += d
		}
		return true
	}
	for size := 1.0; size > 0.1; size /= 2 {
		for i, d := range p.step {
			p.tried[i] = p.Plan[i] + size*d
		}
		if p.model(&p.candidate, x, p.tried) && p.cost(&p.candidate, p.tried, x, reference) < before {
			copy(p.Plan, p.tried)
			return true
		}
	}
	return false
}

// cost returns what is lowered.
func (p *Planner) cost(d *Prediction, plan, x, reference []float64) (sum float64) {
	c := &p.cfg
	for j, m := range d.Mean {
		e := m - reference[j]
		sum += c.State[j%c.K] * e * e
	}
	for i, u := range plan {
		e := u - c.Rest[i%c.P]
		sum += c.Input[i%c.P] * e * e
	}
	for i := range c.Obstacles {
		o := &c.Obstacles[i]
		if o.far(x, c.Most) {
			continue
		}
		for t := c.Blind; t < c.T; t++ {
			if lacks := -o.Clearance(d.Mean[t*c.K:(t+1)*c.K], d.Std[t*c.K:(t+1)*c.K], nil); lacks > 0 {
				sum += c.Penalty * lacks * lacks
			}
		}
	}
	return sum
}

// linearise gathers the rows of the least-squares problem around the plan.
func (p *Planner) linearise(x, reference []float64) {
	c, d, n := &p.cfg, &p.prediction, len(p.Plan)
	p.used = 0
	for j, m := range d.Mean {
		w := math.Sqrt(c.State[j%c.K])
		if w == 0 {
			continue
		}
		row := p.next(w * (m - reference[j]))
		for i, v := range d.ByPlan[j*n : (j+1)*n] {
			row[i] = w * v
		}
	}
	w := math.Sqrt(c.Penalty)
	var normal [2]float64
	for i := range c.Obstacles {
		o := &c.Obstacles[i]
		if o.far(x, c.Most) {
			continue
		}
		for t := c.Blind; t < c.T; t++ {
			free := o.Clearance(d.Mean[t*c.K:(t+1)*c.K], d.Std[t*c.K:(t+1)*c.K], &normal)
			if free >= 0 {
				continue
			}
			row := p.next(w * free)
			clear(row)
			for a, k := range o.Channels {
				j := t*c.K + k
				blas64.Axpy(w*normal[a], vector(d.ByPlan[j*n:(j+1)*n]), vector(row))
			}
		}
	}
}

func vector(v []float64) blas64.Vector { return blas64.Vector{N: len(v), Inc: 1, Data: v} }

// next returns memory for a further row with a residual.
func (p *Planner) next(residual float64) []float64 {
	n := len(p.Plan)
	p.residual[p.used] = residual
	p.used++
	return p.rows[(p.used-1)*n : p.used*n]
}

// solve sets step to the solution of the quadratic problem within the bounds.
func (p *Planner) solve() (ok bool) {
	c, n := &p.cfg, len(p.Plan)
	rows := blas64.General{Rows: p.used, Cols: n, Stride: n, Data: p.rows[:p.used*n]}
	blas64.Syrk(blas.Trans, 1, rows, 0, blas64.Symmetric{N: n, Stride: n, Data: p.hessian, Uplo: blas.Lower})
	blas64.Gemv(blas.Trans, 1, rows, vector(p.residual[:p.used]), 0, vector(p.gradient))
	for i, u := range p.Plan {
		w, a := c.Input[i%c.P], i%c.P
		p.hessian[i*n+i] += w
		p.gradient[i] += w * (u - c.Rest[a])
		p.qp.low[i], p.qp.high[i] = c.Low[a]-u, c.High[a]-u
	}
	return p.qp.solve(p.step, p.hessian, p.gradient)
}
