package direct

// Sorted holds the weights of the levels of a model, sorted by what their columns depend on: what evaluations of it at
// any times share.
type Sorted struct {
	levels  []*sortedLevel
	bounded []*sortedLevel // of each level with Apart: it beside those below it, see beside; nil of others
}

// NewSorted sorts the weights of a model of K states.
func NewSorted(m *Model) *Sorted {
	s := &Sorted{}
	for i := range m.Levels {
		l := newSortedLevel(m, &m.Levels[i], len(m.Derivative))
		l.setTangents(m)
		l.setSecond(m)
		s.levels, s.bounded = append(s.levels, l), append(s.bounded, nil)
		if len(l.Apart) > 0 {
			s.bounded[i] = newSortedLevel(m, m.beside(l.Level), bounds*l.K)
		}
	}
	return s
}

// sortedLevel is a level, its weights sorted.
type sortedLevel struct {
	*Level
	T, K, V int // K of the outputs
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

// weights appends a number of the weights of each output at each time, T·K, to dst.
func (l *sortedLevel) weights(dst []float64, m *Model, of func(w []float64) float64) []float64 {
	C := m.Columns(l.Level)
	for i := range l.T * l.K {
		dst = append(dst, of(l.Weights[i*C:(i+1)*C]))
	}
	return dst
}

// column appends those of a column.
func (l *sortedLevel) column(dst []float64, m *Model, c int) []float64 {
	return l.weights(dst, m, func(w []float64) float64 { return w[c] })
}

// room returns memory for the weights of so many columns, and of the products of those of the start.
func (l *sortedLevel) room(columns int) []float64 {
	if l.Degree == 2 {
		columns += l.starts * (l.starts + 1) / 2
	}
	return make([]float64, 0, columns*l.T*l.K)
}

// setFixed sets fixed.
func (l *sortedLevel) setFixed(m *Model) {
	l.fixed = l.room(1 + m.Linear(l.Level) - l.plan)
	for c := range 1 + l.starts {
		l.fixed = l.column(l.fixed, m, c)
	}
	for c := 1 + l.starts + l.plan; c <= m.Linear(l.Level); c++ {
		l.fixed = l.column(l.fixed, m, c)
	}
	l.products(m, func(c, _, o int) {
		if o < l.starts {
			l.fixed = l.column(l.fixed, m, c)
		}
	})
}

// setTangents sets tangents.
func (l *sortedLevel) setTangents(m *Model) {
	history, row := 1+l.starts+l.plan, l.K+l.P
	l.tangents = l.room(m.Lift.Dim() + l.K)
	for z := range m.Lift.Dim() {
		l.tangents = l.column(l.tangents, m, 1+z)
	}
	for k := range l.K {
		l.tangents = l.weights(l.tangents, m, func(w []float64) (sum float64) {
			for j := range l.Rows {
				sum -= w[history+j*row+k]
			}
			return sum
		})
	}
	l.products(m, func(c, _, o int) {
		if o < l.starts {
			l.tangents = l.column(l.tangents, m, c)
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

// mixes returns the columns that the matrices of one time are multiplied by.
func (l *sortedLevel) mixes() int {
	if len(l.mixed) == 0 {
		return 1
	}
	return 1 + l.plan
}

// inputs returns the numbers of a row of byInput.
func (l *sortedLevel) inputs() int { return (l.plan + l.P) * l.K }
