package direct

import (
	"slices"

	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// Batched evaluates a Map at many times at once. Most columns are the same at all times:
// those of the start and the history, and their products. Their sums are taken once a
// query for every time of the level's weights, and only the plan's columns are multiplied
// time by time:
//
//	g(t) = Σ_j hat_j(t) (G_j0 + Σ_b G_jb plan_b(t))        hat_j: linear interpolation between the level's times
//
// where b runs over the columns of the plan and their products with one another. The
// Jacobian by x0 has the same form, with matrices K×K, see Jacobian.
type Batched struct {
	d      *Map
	times  []float64
	levels []*batchedLevel // those of the model
	work   matmul.Work

	next    []float64 // N×K: g, by the weights after each time
	tangent []float64 // K × the most fixed columns
	sums    []float64 // of the fixed columns and weights

	byInput   []float64 // N × (plan+P)·K: derivatives of g by the plan's columns and those of the input at the start
	nextInput []float64 // the same by the weights after each time
	inputSums []float64 // T × (plan+P)·K, of the fixed columns
	byNumber  []float64 // Width × K: derivatives by numbers of the plan

	agreements batchedAgreement
}

// Sorted holds the weights of the levels of a model, sorted by what their columns depend on: what evaluations of it at
// any times share.
type Sorted struct{ levels []*sortedLevel }

// NewSorted sorts the weights of a model of K states.
func NewSorted(m *Model) *Sorted {
	s := &Sorted{}
	for i := range m.Levels {
		s.levels = append(s.levels, newSortedLevel(m, &m.Levels[i], len(m.Derivative)))
	}
	return s
}

// sortedLevel is a level, its weights sorted.
type sortedLevel struct {
	*Level
	T, K, V int
	P       int
	starts  int // columns of the start: L+P
	plan    int // columns of the plan

	fixed    []float64 // F × T·K: weights of the columns that do not depend on the plan
	tangents []float64 // F' × T·K: the same of L + K + products, with the rows of history added up and negated
	mixed    []float64 // starts × T·plan·K: weights of products of a start's and a plan's column; none of degree 1
	own      []float64 // T·plan·K: weights of the plan's columns
	second   []float64 // T × plan × (plan+P)·K: derivatives of byInput by the plan's columns; none of degree 1
	planOf   []float64 // T × V × K, V = 1 + plan + products of the plan's columns: what of G does not depend on the start
}

// batchedLevel is a level at times.
type batchedLevel struct {
	*sortedLevel
	G []float64 // T × V × K
	H []float64 // T × (1 or 1+plan) × K·K: derivatives of G by x0

	columns []float64 // N×V: 1, plan and products
	at      []int     // N: the time before each
	share   []float64 // N: the share of the next one
	usual   []float64 // N×K: s of a level with Apart; nil without
	first   []int     // T+1: the first of the times whose weights begin at each of the level's
}

// newBatchedAlone is NewBatched of levels that stand alone.
func newBatchedAlone(d *Map, times []float64, sorted *Sorted) *Batched {
	m, N, K := d.m, len(times), len(d.x0)
	b := &Batched{d: d, times: times, next: make([]float64, N*K)}
	tangent, sums, inputs, inputSums := 0, 0, 0, 0
	for i := range m.Levels {
		l := newBatchedLevel(sorted.levels[i], times)
		b.levels = append(b.levels, l)
		fixed := l.rows(l.tangents)
		tangent = max(tangent, K*fixed)
		sums = max(sums, K*l.T*K*max(1, l.plan))
		b.work.Reserve(l.rows(l.fixed), l.T*K)
		b.work.Reserve(fixed, l.T*K)
		b.work.Reserve(l.starts, l.T*l.plan*K)
		b.work.Reserve(l.V, K)
		b.work.Reserve(l.plan, l.inputs())
		inputs, inputSums = max(inputs, l.inputs()), max(inputSums, l.T*l.inputs())
	}
	b.tangent, b.sums = make([]float64, tangent), make([]float64, sums)
	b.byNumber = make([]float64, simd.Width*K)
	b.byInput, b.nextInput, b.inputSums = make([]float64, N*inputs), make([]float64, N*inputs), make([]float64, inputSums)
	return b
}

// BatchedSize returns how many numbers a Batched of so many times takes, or somewhat more.
func (m *Model) BatchedSize(times int) int64 {
	K := len(m.Derivative)
	size := int64(times) * int64(K)
	for i := range m.Levels {
		l := &m.Levels[i]
		plan := m.linear(l) - m.Lift.Dim() - len(m.UMean)
		inputs, rows := (plan+len(m.UMean))*K, 1
		if l.Degree == 2 {
			rows += plan
		}
		size += int64(2*times+len(l.Times)*rows) * int64(inputs)
		size += int64(4*len(l.Weights)+K*m.Columns(l)) + int64(times)*int64(3+(plan+1)*(plan+2)/2) + int64(len(l.Times)*(1+plan))*int64(K*(2*K+1))
	}
	if m.Bounded() {
		size = 3*size + int64(6*times*K)
	}
	return size
}

// rows returns the rows of weights with T·K columns.
func (l *sortedLevel) rows(weights []float64) int { return len(weights) / (l.T * l.K) }

func newSortedLevel(m *Model, l *Level, K int) *sortedLevel {
	starts := m.Lift.Dim() + len(m.UMean)
	b := &sortedLevel{Level: l, T: len(l.Times), K: K, P: len(m.UMean), starts: starts, plan: m.linear(l) - starts}
	b.V = 1 + b.plan
	if l.Degree == 2 {
		b.V += b.plan * (b.plan + 1) / 2
	}
	b.setFixed(m)
	b.setPlan(m)
	b.setSecond(m)
	return b
}

func newBatchedLevel(sorted *sortedLevel, times []float64) *batchedLevel {
	b := &batchedLevel{sortedLevel: sorted, G: slices.Clone(sorted.planOf)}
	rows := 1
	if len(b.mixed) > 0 {
		rows += b.plan
	}
	b.H = make([]float64, b.T*rows*b.K*b.K)
	b.columns = make([]float64, len(times)*b.V)
	for i, t := range times {
		at, share, _ := b.between(t)
		b.at, b.share = append(b.at, at), append(b.share, share)
		b.columns[i*b.V] = 1
		for k := range b.K {
			if len(b.Apart) > 0 {
				b.usual = append(b.usual, b.ApartAt(k, b.K, t))
			}
		}
	}
	for j := range b.T + 1 {
		first, _ := slices.BinarySearch(b.at, j)
		b.first = append(b.first, first)
	}
	return b
}

// products calls f for the columns of degree 2, in their order: place c, of columns a and o
// of degree 1, of which the start's come first.
func (l *sortedLevel) products(m *Model, f func(c, a, o int)) {
	if l.Degree < 2 {
		return
	}
	c := 1 + m.Linear(l.Level)
	for a := range l.starts + l.plan {
		for o := a; o < l.starts+l.plan; o++ {
			f(c, a, o)
			c++
		}
	}
}

// setFixed sets fixed and tangents.
func (l *sortedLevel) setFixed(m *Model) {
	L, C, row := m.Lift.Dim(), m.Columns(l.Level), l.K+len(m.UMean)
	history := 1 + l.starts + l.plan
	// weights appends those of a column (T·K) to dst.
	weights := func(dst []float64, of func(w []float64) float64) []float64 {
		for i := range l.T * l.K {
			dst = append(dst, of(l.Weights[i*C:(i+1)*C]))
		}
		return dst
	}
	column := func(dst []float64, c int) []float64 {
		return weights(dst, func(w []float64) float64 { return w[c] })
	}
	for c := range 1 + l.starts {
		l.fixed = column(l.fixed, c)
	}
	for c := range l.Rows * row {
		l.fixed = column(l.fixed, history+c)
	}
	for z := range L {
		l.tangents = column(l.tangents, 1+z)
	}
	for k := range l.K {
		l.tangents = weights(l.tangents, func(w []float64) (sum float64) {
			for j := range l.Rows {
				sum -= w[history+j*row+k]
			}
			return sum
		})
	}
	l.products(m, func(c, _, o int) {
		if o < l.starts {
			l.fixed, l.tangents = column(l.fixed, c), column(l.tangents, c)
		}
	})
}

// setPlan sets mixed, own, and planOf.
func (l *sortedLevel) setPlan(m *Model) {
	l.planOf = make([]float64, l.T*l.V*l.K)
	if l.plan == 0 {
		return
	}
	C := m.Columns(l.Level)
	l.own = make([]float64, l.T*l.plan*l.K)
	if l.Degree == 2 {
		l.mixed = make([]float64, l.starts*len(l.own))
	}
	for i := range l.T * l.K { // weights of state i%K at time i/K
		w := l.Weights[i*C : (i+1)*C]
		own, G := i/l.K*l.plan*l.K+i%l.K, i/l.K*l.V*l.K+i%l.K
		for p := range l.plan {
			l.own[own+p*l.K] = w[1+l.starts+p]
			l.planOf[G+(1+p)*l.K] = w[1+l.starts+p]
		}
		at := 1 + l.plan
		l.products(m, func(c, a, o int) {
			switch {
			case o < l.starts:
			case a < l.starts:
				l.mixed[a*len(l.own)+own+(o-l.starts)*l.K] = w[c]
			default:
				l.planOf[G+at*l.K] = w[c]
				at++
			}
		})
	}
}

// setSecond sets second.
func (l *sortedLevel) setSecond(m *Model) {
	if len(l.mixed) == 0 {
		return
	}
	C, n := m.Columns(l.Level), l.inputs()
	l.second = make([]float64, l.T*l.plan*n)
	for i := range l.T * l.K {
		w, to := l.Weights[i*C:(i+1)*C], l.second[i/l.K*l.plan*n+i%l.K:]
		l.products(m, func(c, a, o int) {
			switch {
			case a >= l.starts:
				to[(a-l.starts)*n+(o-l.starts)*l.K] += w[c]
				to[(o-l.starts)*n+(a-l.starts)*l.K] += w[c]
			case a >= m.Lift.Dim() && o >= l.starts:
				to[(o-l.starts)*n+(l.plan+a-m.Lift.Dim())*l.K] = w[c]
			}
		})
	}
}

// inputs returns the numbers of a row of byInput.
func (l *sortedLevel) inputs() int { return (l.plan + l.P) * l.K }

// alone is Evaluate of the level by itself, with the columns of the plan that another level, nil = none, has already, if it has the same.
func (b *Batched) alone(dst []float64, other *batchedLevel) {
	l := b.level()
	if other != nil && other.plan == l.plan && other.V == l.V {
		copy(l.columns, other.columns)
	} else {
		b.planColumns(l)
	}
	b.sumFixed(l)
	b.interpolate(l, dst)
	for i, t := range b.times {
		row := dst[i*l.K : (i+1)*l.K]
		for k, v0 := range b.d.v0 {
			row[k] = t * (v0 + row[k])
		}
	}
}

// level returns that of the last Run.
func (b *Batched) level() *batchedLevel {
	for _, l := range b.levels {
		if l.Level == b.d.level {
			return l
		}
	}
	panic("direct: evaluated before Run")
}

func (b *Batched) planColumns(l *batchedLevel) {
	if l.plan == 0 {
		return
	}
	from := 1 + l.starts
	for i, t := range b.times {
		b.d.plan(t, false)
		row := l.columns[i*l.V : (i+1)*l.V]
		plan := row[1 : 1+copy(row[1:], b.d.column[from:from+l.plan])]
		if l.Degree < 2 {
			continue
		}
		at := 1 + l.plan
		for j, a := range plan {
			for _, c := range plan[j:] {
				row[at] = a * c
				at++
			}
		}
	}
}

// sumFixed sets the parts of G that depend on the start.
func (b *Batched) sumFixed(l *batchedLevel) {
	d, TK := b.d, l.T*l.K
	// The columns without the plan, in the order of fixed.
	c := d.tangent[:0]
	c = append(c, d.column[:1+l.starts]...)
	linear := 1 + d.m.linear(l.Level)
	c = append(c, d.column[linear:1+d.m.Linear(l.Level)]...)
	start := c[1 : 1+l.starts]
	if l.Degree == 2 {
		for i, a := range start {
			for _, v := range start[i:] {
				c = append(c, a*v)
			}
		}
	}
	sums := b.sums[:TK]
	b.work.Affine(matmul.Matrix(1, TK, sums), matmul.Matrix(1, len(c), c), matmul.Matrix(len(c), TK, l.fixed), nil)
	for j := range l.T {
		copy(l.G[j*l.V*l.K:], sums[j*l.K:(j+1)*l.K])
	}
	if len(l.mixed) == 0 {
		return
	}
	n := len(l.own)
	sums = b.sums[:n]
	b.work.Affine(matmul.Matrix(1, n, sums), matmul.Matrix(1, l.starts, start), matmul.Matrix(l.starts, n, l.mixed), l.own)
	for j := range l.T {
		copy(l.G[(j*l.V+1)*l.K:], sums[j*l.plan*l.K:(j+1)*l.plan*l.K])
	}
}

// interpolate sets dst (N×K) to Σ_j hat_j(t) Σ_v column_v(t) G_jv.
func (b *Batched) interpolate(l *batchedLevel, dst []float64) {
	K, V := l.K, l.V
	for j := range l.T {
		from, to := l.first[j], l.first[j+1]
		if from == to {
			continue
		}
		columns := matmul.Matrix(to-from, V, l.columns[from*V:])
		low := dst[from*K : to*K]
		b.work.Affine(matmul.Matrix(to-from, K, low), columns, matmul.Matrix(V, K, l.G[j*V*K:]), nil)
		if j+1 == l.T {
			continue
		}
		high := b.next[:len(low)]
		b.work.Affine(matmul.Matrix(to-from, K, high), columns, matmul.Matrix(V, K, l.G[(j+1)*V*K:]), nil)
		for i := from; i < to; i++ {
			share, row, next := l.share[i], low[(i-from)*K:(i-from+1)*K], high[(i-from)*K:]
			for k, v := range next[:K] {
				row[k] += share * (v - row[k])
			}
		}
	}
}
