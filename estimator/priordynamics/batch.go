package priordynamics

import (
	"math"

	"github.com/tphakala/simd/f64"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// BatchedRollout evaluates a rollout at many times at once: the formulas of Rollout.At
// for rows of all times.
type BatchedRollout struct {
	p     *Rollout
	times []float64
	step  []int     // of each time
	part  []float64 // σ, the elapsed fraction of the step
	curve []float64 // ½σ(σ−1)

	v, a, b, d [][]float64 // rows of L+P coordinates; of K: Δ0, Δ1, and the displacement an increment starts from
	term, pair []float64   // a monomial; the product of two coordinates
	ones       []float64
	mean       []float64 // P
	now, inc   []float64 // K, of one time

	net                 *batchNet
	jacobian            *batchJacobian
	nodeV, nodeX, nodeD [][]float64 // rows of nodes: L+P coordinates; K: state, increment
}

// NewBatchedRollout takes the memory for evaluations of p at ascending times. The unit
// evaluates the net, in single precision.
func NewBatchedRollout(p *Rollout, times []float64, unit simd.Unit) *BatchedRollout {
	n := len(times)
	f := &BatchedRollout{p: p, times: times, term: make([]float64, n), pair: make([]float64, n), mean: make([]float64, len(p.mean)), now: make([]float64, p.k), inc: make([]float64, p.k)}
	for _, t := range times {
		i := max(0, min(int(t/p.m.Step+tiny), p.nodes))
		s := max(0, t/p.m.Step-float64(i))
		f.step, f.part, f.curve, f.ones = append(f.step, i), append(f.part, s), append(f.curve, 0.5*s*(s-1)), append(f.ones, 1)
	}
	f.v, f.a, f.b, f.d = rowsOf(len(p.va), n), rowsOf(p.k, n), rowsOf(p.k, n), rowsOf(p.k, n)
	f.net, f.jacobian = newBatchNet(p.m, unit), newBatchJacobian(p, n)
	f.nodeV, f.nodeX, f.nodeD = rowsOf(len(p.va), p.nodes), rowsOf(p.k, p.nodes), rowsOf(p.k, p.nodes)
	return f
}

// Evaluate writes the displacements of the last Run to dst: K rows of all times.
func (f *BatchedRollout) Evaluate(dst []float64) {
	n := len(f.times)
	f.begin()
	f.inputs()
	f.increments(f.a)
	for k := range f.d {
		copy(dst[k*n:(k+1)*n], f.d[k])
		f64.Add(f.d[k], f.d[k], f.a[k])
	}
	f.increments(f.b)
	for k := range f.d {
		row := dst[k*n : (k+1)*n]
		f64.FMA(row, f.part, f.a[k], row)
		f64.Sub(f.b[k], f.b[k], f.a[k])
		f64.FMA(row, f.curve, f.b[k], row)
	}
}

// begin sets the displacements to those at the start of each step.
func (f *BatchedRollout) begin() {
	K := f.p.k
	for i, step := range f.step {
		for k, d := range f.p.x[step*K : (step+1)*K] {
			f.d[k][i] = d
		}
	}
}

// inputs fills the coordinates of the mean inputs since each step's start.
func (f *BatchedRollout) inputs() {
	p, L := f.p, f.p.m.Lift.Dim()
	if len(f.mean) == 0 {
		return
	}
	for i, step := range f.step {
		if start := float64(step) * p.m.Step; f.part[i] < tiny {
			p.u.At(f.mean, start)
		} else {
			p.u.Mean(f.mean, start, f.times[i])
		}
		for c, u := range f.mean {
			f.v[L+c][i] = (u - p.m.UMean[c]) / p.m.UStd[c]
		}
	}
	for c, b := range p.m.Bound[L:] {
		f64.Clamp(f.v[L+c], f.v[L+c], -b, b)
	}
}

// increments writes those of a step from the displacements d, under the inputs, to
// dst.
func (f *BatchedRollout) increments(dst [][]float64) {
	f.states()
	for k := range dst {
		clear(dst[k])
	}
	at := f.add(dst, f.ones, 0)
	for _, v := range f.v {
		at = f.add(dst, v, at)
	}
	if f.p.m.Degree >= 2 {
		for i, v := range f.v {
			for _, w := range f.v[i:] {
				f64.Mul(f.term, v, w)
				at = f.add(dst, f.term, at)
			}
		}
	}
	if f.p.m.Degree >= 3 {
		x := f.v[:f.p.m.Lift.Dim()]
		for i, v := range x {
			for j := i; j < len(x); j++ {
				f64.Mul(f.pair, v, x[j])
				for _, w := range x[j:] {
					f64.Mul(f.term, f.pair, w)
					at = f.add(dst, f.term, at)
				}
			}
		}
	}
	f.net.add(dst, f.v)
	f.addKinematics(dst)
}

// addKinematics adds the kinematic relations to the increments dst from the
// displacements d.
func (f *BatchedRollout) addKinematics(dst [][]float64) {
	p := f.p
	if p.m.Body.Empty() {
		return
	}
	for i := range f.times {
		for k, x := range p.x0 {
			f.now[k], f.inc[k] = x+f.d[k][i], dst[k][i]
		}
		p.m.Body.Add(f.inc, f.now, p.m.Step)
		for k, v := range f.inc {
			dst[k][i] = v
		}
	}
}

// add adds a monomial, the one at a place of the weights, to increments.
func (f *BatchedRollout) add(dst [][]float64, term []float64, at int) int {
	for k, w := range f.p.m.Weights[at*f.p.k : (at+1)*f.p.k] {
		f64.AddScaled(dst[k], w, term)
	}
	return at + 1
}

// states fills the coordinates of the states at the displacements d.
func (f *BatchedRollout) states() {
	p, lift := f.p, &f.p.m.Lift
	for l, of := range lift.Of {
		v, omega := f.v[l], lift.Omega[l]
		f64.AddScalar(v, f.d[of], p.x0[of])
		switch lift.Kind[l] {
		case channel.Sine:
			for i, x := range v {
				v[i] = math.Sin(omega * x)
			}
		case channel.Cosine:
			for i, x := range v {
				v[i] = math.Cos(omega * x)
			}
		}
		f64.AddScalar(v, v, -lift.Mean[l])
		f64.Scale(v, v, 1/lift.Std[l])
		f64.Clamp(v, v, -p.m.Bound[l], p.m.Bound[l])
	}
}
