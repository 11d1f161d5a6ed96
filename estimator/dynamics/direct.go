package dynamics

import (
	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// directMap is a direct linear map with the columns that do not depend on time.
type directMap struct {
	c       *compiler
	m       *direct.Model
	level   *direct.Level
	starts  int         // columns of start and input there: L+P
	plan    int         // columns of the plan
	start   program.Reg // starts×1: z(x0), u(t0)
	history program.Reg // rows·(K+P)×1, inputs standardised; None without
}

// newDirectMap appends the columns.
func (c *compiler) newDirectMap(m *direct.Model) *directMap {
	rows := 0
	if c.past != program.None {
		rows = c.m.History.Rows()
	}
	return c.newDirectLevel(m, m.Level(int(c.s.Condition.Readout()), rows))
}

// newDirectLevel appends the columns of a level.
func (c *compiler) newDirectLevel(m *direct.Model, level *direct.Level) *directMap {
	d := &directMap{c: c, m: m, level: level, history: program.None}
	P := c.m.P
	d.starts = m.Lift.Dim() + P
	if d.level.Readout == int(model.Plan) {
		d.plan = m.Blocks * P
	}
	var inputs []program.Reg
	if P > 0 {
		inputs = append(inputs, c.input.start(m.UMean, m.UStd))
	}
	d.start = lift(c.Program, &m.Lift, c.x, inputs...)
	if n := d.level.Rows; n > 0 {
		K := c.m.K
		places, w, constant := make([]int, 0), []float64(nil), []float64(nil)
		for r := range n {
			for i := range K + P {
				scale, offset := 1.0, 0.0
				if i >= K {
					scale = 1 / m.UStd[i-K]
					offset = -m.UMean[i-K] * scale
				}
				places, w, constant = append(places, r*(K+P)+i), append(w, scale), append(constant, offset)
			}
		}
		d.history = c.Weigh(c.Some(c.past, places...), 1, w, constant)
	}
	return d
}

// planColumns appends the standardised means of the input over equal parts of [0, t], for every time: plan×T.
func (d *directMap) planColumns(times []float64) program.Reg {
	var blocks []program.Reg
	for b := range d.m.Blocks {
		var spans []Span
		for _, t := range times {
			spans = append(spans, Span{t * float64(b) / float64(d.m.Blocks), t * float64(b+1) / float64(d.m.Blocks), 1})
		}
		blocks = append(blocks, d.c.input.standardised(spans, d.m.UMean, d.m.UStd))
	}
	return d.c.Stack(blocks...)
}

// linear returns the number of columns that products are made of, and column the place of the product of two of them.
func (d *directMap) linear() int { return d.starts + d.plan }

func (d *directMap) history0() int { return 1 + d.linear() }

func (d *directMap) product(i, j int) int {
	n := d.linear()
	return 1 + d.m.Linear(d.level) + i*n - i*(i-1)/2 + j - i
}

// displacement appends the displacement, K×T, bounded by that of the levels below where the level has Apart, and the disagreement d (c − m)
// (None: 0). That of a map of residuals is not bounded, but measured as if it were. See direct.Level.Apart.
//
//	m = c − d + d/(1 + (d/(5 s))²)      d = relu(c − max(a, b)) − relu(min(a, b) − c)
func (d *directMap) displacement(residual bool) (m, moved program.Reg) {
	own := d.alone()
	if len(d.level.Apart) == 0 {
		return own, program.None
	}
	c, K := d.c, d.c.m.K
	var below [2]program.Reg
	for i, level := range d.m.Below(d.level) {
		below[i] = c.newDirectLevel(d.m, level).alone()
	}
	half := c.sum(K, nil, weighted{below[0], .5}, weighted{below[1], .5})
	width := c.Function(program.Abs, c.sum(K, nil, weighted{below[0], .5}, weighted{below[1], -.5}))
	from := c.sum(K, nil, weighted{own, 1}, weighted{half, -1})
	above := c.sum(K, nil, weighted{from, 1}, weighted{width, -1})
	under := c.sum(K, nil, weighted{from, -1}, weighted{width, -1})
	beyond := c.sum(K, nil, weighted{above, .5}, weighted{c.Function(program.Abs, above), .5}, weighted{under, -.5}, weighted{c.Function(program.Abs, under), -.5})
	share := c.Function(program.Reciprocal, c.sum(K, nil, weighted{c.Function(program.Square, c.Weigh(beyond, c.T(), d.agreed(), nil)), 1}, weighted{c.Constant(K, c.T(), same(K*c.T(), 1)), 1}))
	kept := c.Times(beyond, share)
	out := c.sum(K, nil, weighted{beyond, 1}, weighted{kept, -1})
	if moved = c.Times(beyond, out); residual {
		return own, moved
	}
	return c.sum(K, nil, weighted{own, 1}, weighted{out, -1}), moved
}

// agreed returns 1/(5 s) of every state and time, K×T; 0 at the start, where nothing is beyond.
func (d *directMap) agreed() (out []float64) {
	K := d.c.m.K
	for k := range K {
		for _, t := range d.c.times {
			usual := 0.0
			if t > 0 {
				usual = 1 / (direct.Agreed * d.level.ApartAt(k, K, t))
			}
			out = append(out, usual)
		}
	}
	return out
}

// alone appends d(t) = t (v0 + Σ ω(t) column(t)), K×T. What depends on start and history alone is summed at the
// times of the level's weights and interpolated:
//
//	g(t) = Σ_j hat_j(t) (G_j0 + Σ_v G_jv plan_v(t)) + Σ_vw ω_vw(t) plan_v(t) plan_w(t)
func (d *directMap) alone() program.Reg {
	c, l := d.c, d.level
	K, T, second := c.m.K, c.T(), l.Degree == 2
	one := c.Constant(1, 1, []float64{1})
	fixed := []program.Reg{one, d.start}
	columns := []int{0}
	for i := range d.starts {
		columns = append(columns, 1+i)
	}
	if d.history != program.None {
		fixed = append(fixed, d.history)
		for i := range c.Rows(d.history) {
			columns = append(columns, d.history0()+i)
		}
	}
	if second && d.starts > 0 {
		fixed = append(fixed, pairsOf(c.Program, d.start, d.starts))
		for i := range d.starts {
			for j := i; j < d.starts; j++ {
				columns = append(columns, d.product(i, j))
			}
		}
	}
	hat := d.hats()
	g := []program.Reg{c.Columns(c.Local(c.Stack(fixed...), K, len(l.Times), d.matrices(K, len(columns), func(j, k, i int) float64 { return d.weight(j, k, columns[i]) })), T, hat)}
	g = append(g, d.ofPlan(one, hat)...)
	t := make([]float64, 0, K*T)
	for range K {
		t = append(t, c.times...)
	}
	var sum []weighted
	for _, r := range g {
		sum = append(sum, weighted{r, 1})
	}
	if v0 := d.speed(); v0 != program.None {
		sum = append(sum, weighted{v0, 1})
	}
	return c.Weigh(c.sum(K, nil, sum...), T, t, nil)
}

// weight returns ω of a column for state k at time j of the level.
func (d *directMap) weight(j, k, column int) float64 {
	return d.level.Weights[(j*d.c.m.K+k)*d.m.Columns(d.level)+column]
}

// ofPlan returns what the columns of the plan and their products contribute to g; one is a register of 1.
func (d *directMap) ofPlan(one program.Reg, hat []program.Entry) []program.Reg {
	if d.plan == 0 {
		return nil
	}
	c, K, T, V := d.c, d.c.m.K, d.c.T(), d.plan
	p := d.planColumns(c.times)
	if d.level.Degree < 2 {
		return []program.Reg{d.interpolated(p, func(j, k, i int) float64 { return d.weight(j, k, 1+d.starts+i) })}
	}
	coefficients := c.Local(c.Stack(one, d.start), K*V, len(d.level.Times), d.matrices(K*V, 1+d.starts, func(j, kv, i int) float64 {
		k, v := kv/V, d.starts+kv%V
		if i == 0 {
			return d.weight(j, k, 1+v)
		}
		return d.weight(j, k, d.product(i-1, v))
	}))
	var terms []program.Term
	for k := range K {
		for v := range V {
			terms = append(terms, program.Term{Row: k, A: k*V + v, B: v, S: 1})
		}
	}
	return []program.Reg{
		c.Products(K, c.Columns(coefficients, T, hat), p, terms),
		d.interpolated(pairsOf(c.Program, p, V), func(j, k, i int) float64 {
			v, w := pairAt(V, i)
			return d.weight(j, k, d.product(d.starts+v, d.starts+w))
		}),
	}
}

// speed appends v0, the measured derivatives of the states; None where no state has one.
func (d *directMap) speed() program.Reg {
	known := false
	for _, of := range d.m.Derivative {
		known = known || of >= 0
	}
	if !known {
		return program.None
	}
	return d.c.pick(d.c.x, d.m.Derivative, same(d.c.m.K, 1))
}

// pairAt returns the two factors of number i of pairsOf of n.
func pairAt(n, i int) (v, w int) {
	for i >= n-v {
		i -= n - v
		v++
	}
	return v, v + i
}

// matrices returns those of a Local at the times of the level.
func (d *directMap) matrices(rows, cols int, at func(j, r, c int) float64) (out []float64) {
	for j := range d.level.Times {
		for r := range rows {
			for c := range cols {
				out = append(out, at(j, r, c))
			}
		}
	}
	return out
}

// interpolated appends the products of columns that differ by time with weights between the level's times.
func (d *directMap) interpolated(x program.Reg, at func(j, k, i int) float64) program.Reg {
	K, n := d.c.m.K, d.c.Rows(x)
	var m []float64
	for _, t := range d.c.times {
		j, share := d.level.Between(t)
		for k := range K {
			for i := range n {
				w := at(j, k, i)
				if share > 0 {
					w += share * (at(j+1, k, i) - w)
				}
				m = append(m, w)
			}
		}
	}
	return d.c.Local(x, K, d.c.T(), m)
}

// hats returns the linear interpolation from the level's times to those of the program.
func (d *directMap) hats() (out []program.Entry) {
	for i, t := range d.c.times {
		j, share := d.level.Between(t)
		out = append(out, program.Entry{To: i, From: j, W: 1 - share})
		if share > 0 {
			out = append(out, program.Entry{To: i, From: j + 1, W: share})
		}
	}
	return out
}
