package estimator

import (
	"github.com/tphakala/simd/f32"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// carryWork is the memory for the uncertainty of the start: diag J (P0 − R) Jᵀ, J
// being the derivative of the ensemble's means by the start state. Where a Predictor
// goes forward through the nets along each state, this goes backward from each
// channel, once for all states.
type carryWork struct {
	lifted   []float32    // [K][block][L, to whole panels][Width]: of the lifted start, sum over members
	base     []float32    // [K][block][K][Width]: of the base, and of the displacement's start
	wave     []float32    // [1+D, to whole panels][Width]: one, then ∂mean/∂z
	back     [2][]float32 // [row of a hidden layer][Width]
	grad     []float32    // [L, to whole panels][Width]
	rows     []float32    // [K, to whole panels][Width], a row of J
	turned   []float32    // the same, times P0 − R
	diff     []float32    // panels K×K, P0 − R
	slope    []float64    // L
	variance []float32    // K×lanes
}

func newCarryWork(c *compiled, n int) carryWork {
	K, L := c.m.K, simd.Panels(c.fixed-1)*simd.Rows
	rows := simd.Panels(K) * simd.Rows
	w := carryWork{
		lifted: make([]float32, K*L*n), base: make([]float32, K*K*n), grad: make([]float32, L*simd.Width),
		rows: make([]float32, rows*simd.Width), turned: make([]float32, rows*simd.Width), diff: make([]float32, rows*K),
		slope: make([]float64, c.fixed-1), variance: make([]float32, K*n),
	}
	wave, back := 0, 0
	for _, e := range c.members {
		wave = max(wave, 1+simd.Panels(e.e.Map.D)*simd.Rows)
		for i := range e.back {
			back = max(back, simd.Panels(e.back[i].in)*simd.Rows)
		}
	}
	w.wave = make([]float32, wave*simd.Width)
	for lane := range simd.Width {
		w.wave[lane] = 1
	}
	w.back = [2][]float32{make([]float32, back*simd.Width), make([]float32, back*simd.Width)}
	return w
}

// netSlopes turns the outputs of the hidden layers of one block into the slopes of
// their activations there.
func (f *Fast) netSlopes(e *fastMember, hidden []float32) {
	for i := range e.back {
		y := take(&hidden, e.back[i].in)
		switch e.back[i].act {
		case mlp.Sigmoid: // y(1 − y)
			tmp := f.w.carry.back[0][:len(y)]
			f32.SubFromScalar(tmp, y, 1)
			f32.Mul(y, y, tmp)
		case mlp.Tanh: // 1 − y²
			f32.Mul(y, y, y)
			f32.SubFromScalar(y, y, 1)
		}
	}
}

// meanSlopes adds to lifted how the mean of channel k depends on the lifted start in
// one block, whose features are in x.
func (f *Fast) meanSlopes(e *fastMember, post *fastReadout, k, block int) {
	c, w, u := f.c, &f.w.carry, f.c.unit
	p, s := &e.e.Map, &post.slopes[k]
	if p.F > 0 {
		u.Product(w.wave[simd.Width:], simd.Panels(p.D), append(f.w.parts[:0], simd.Part{L: s.waves, X: f.w.x, K: p.F}))
	} else {
		clear(w.wave[simd.Width:])
	}
	// From the head back to the first layer; room ends where a layer's slopes begin.
	room, end := f.w.hidden[block*f.w.room:], 0
	for i := range e.back {
		end += simd.Panels(e.back[i].in) * simd.Rows * simd.Width
	}
	at := w.back[0]
	for i := len(e.back) - 1; i >= 0; i-- {
		l := &e.back[i]
		n := simd.Panels(l.in) * simd.Rows * simd.Width
		if i == len(e.back)-1 {
			u.Product(at, simd.Panels(l.in), append(f.w.parts[:0], simd.Part{L: s.head, X: w.wave, K: 1 + p.D}))
		}
		if l.act != mlp.Linear {
			f32.Mul(at[:n], at[:n], room[end-n:end])
		}
		end -= n
		if i == 0 {
			break
		}
		next := w.back[(len(e.back)-i)%2]
		u.Product(next, simd.Panels(l.out), append(f.w.parts[:0], simd.Part{L: l.w, X: at, K: l.in}))
		at = next
	}
	parts := append(f.w.parts[:0], simd.Part{L: e.back[0].w, X: at, K: e.back[0].in})
	if e.terms > 0 {
		parts = append(parts, simd.Part{L: s.basis, X: f.g.powers[block*c.powers*simd.Width:], K: e.terms})
	}
	u.Product(w.grad, simd.Panels(c.fixed-1), parts)
	to := w.lifted[(k*len(f.g.blocks)+block)*len(w.grad):][:len(w.grad)]
	f32.Add(to, to, w.grad)
}

// carry sets variance to what the covariance of the start adds, without what the
// sensor's would.
func (f *Fast) carry(q *Query, readout Readout) {
	m, g, w := f.plain.m, f.g, &f.w.carry
	K, n := m.K, len(g.times)
	simd.Pack(w.diff, K, K, func(a, b int) float64 {
		if a == b {
			return q.P0[a*K+b] - m.Sensor[a]
		}
		return q.P0[a*K+b]
	})
	f.baseSlopes()
	m.Inputs.Lift.Derivative(w.slope, q.X0)
	perMember := 1 / float64(len(f.c.members))
	var gain [simd.Width]float32
	for k := range K {
		for block := range g.blocks {
			at := k*n + block*simd.Width
			copy(w.rows, w.base[(k*len(g.blocks)+block)*K*simd.Width:][:K*simd.Width])
			for lane := range gain {
				gain[lane] = float32(g.parts[readout].gain[at+lane] * perMember)
			}
			grad := w.lifted[(k*len(g.blocks)+block)*len(w.grad):]
			for l, of := range m.Inputs.Lift.Of {
				row, slope := w.rows[of*simd.Width:][:simd.Width], float32(w.slope[l])
				for lane, v := range grad[l*simd.Width:][:simd.Width] {
					row[lane] += gain[lane] * slope * v
				}
			}
			f.c.unit.Product(w.turned, simd.Panels(K), append(f.w.parts[:0], simd.Part{L: w.diff, X: w.rows, K: K}))
			f32.Mul(w.turned, w.turned, w.rows)
			sum := w.variance[at : at+simd.Width]
			clear(sum)
			for c := range K {
				f32.Add(sum, sum, w.turned[c*simd.Width:][:simd.Width])
			}
		}
	}
	clear(w.lifted)
}

// baseSlopes sets base to how the base, and the start that it is added to, depend on
// the start state.
func (f *Fast) baseSlopes() {
	g, w, K := f.g, &f.w.carry, f.plain.m.K
	f.w.base.slopes()
	n := len(g.points)
	for j := range K * K {
		start := float32(0)
		if j%(K+1) == 0 {
			start = 1
		}
		k, c := j/K, j%K
		for lane, v := range f.w.base.turn[j*n : (j+1)*n] {
			w.base[((k*len(g.blocks)+lane/simd.Width)*K+c)*simd.Width+lane%simd.Width] = start + simd.Single(v)
		}
	}
}
