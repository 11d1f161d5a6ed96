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
		b.reserve(l)
		fixed := l.rows(l.tangents)
		tangent = max(tangent, K*fixed)
		sums = max(sums, K*l.T*K*max(1, l.plan))
		b.work.Reserve(fixed, l.T*K)
		b.work.Reserve(l.plan, l.inputs())
		inputs, inputSums = max(inputs, l.inputs()), max(inputSums, l.T*l.inputs())
	}
	b.tangent, b.sums = make([]float64, tangent), make([]float64, sums)
	b.byNumber = make([]float64, simd.Width*K)
	b.byInput, b.nextInput, b.inputSums = make([]float64, N*inputs), make([]float64, N*inputs), make([]float64, inputSums)
	return b
}

// reserve takes the memory of the products of sum.
func (b *Batched) reserve(l *batchedLevel) {
	b.work.Reserve(l.rows(l.fixed), l.T*l.K)
	b.work.Reserve(l.starts, l.T*l.plan*l.K)
	b.work.Reserve(l.V, l.K)
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
		size = 4*size + int64(12*times*K)
	}
	return size
}

func newBatchedLevel(sorted *sortedLevel, times []float64) *batchedLevel {
	b := &batchedLevel{sortedLevel: sorted, G: slices.Clone(sorted.planOf)}
	if len(b.tangents) > 0 {
		b.H = make([]float64, b.T*b.mixes()*b.K*b.K)
	}
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

// alone is Evaluate of the level by itself.
func (b *Batched) alone(dst []float64) {
	l := b.level()
	b.sum(l, dst)
	for i, t := range b.times {
		b.displace(dst[i*l.K:(i+1)*l.K], dst[i*l.K:], t)
	}
}

// displace sets dst (K) to the displacement at t by g.
func (b *Batched) displace(dst, g []float64, t float64) {
	for k, v0 := range b.d.v0 {
		dst[k] = t * (v0 + g[k])
	}
}

// sum sets dst (N×K) to g of the level, or of what is beside it.
func (b *Batched) sum(l *batchedLevel, dst []float64) {
	b.planColumns(l)
	b.sumFixed(l)
	b.interpolate(l, dst)
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
	b.sumMixed(l)
}

// sumMixed sets those that are multiplied by columns of the plan.
func (b *Batched) sumMixed(l *batchedLevel) {
	if len(l.mixed) == 0 {
		return
	}
	n, start := len(l.own), b.d.column[1:1+l.starts]
	sums := b.sums[:n]
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
