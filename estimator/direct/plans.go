package direct

// PlanColumns returns how many columns PlanWeights has for a level, and the inputs that they
// are made of: that at the start, and those of the plan.
func (m *Model) PlanColumns(l *Level) (all, inputs int) {
	inputs = m.linear(l) - m.Lift.Dim()
	all = 1 + inputs
	if l.Degree == 2 {
		all += inputs * (inputs + 1) / 2
	}
	return all, inputs
}

// Model returns what is evaluated. It must not be changed.
func (d *Map) Model() *Model { return d.m }

// Level returns that of the last Run.
func (d *Map) Level() *Level { return d.level }

// Speed returns v0 (K) of the last Run.
func (d *Map) Speed() []float64 { return d.v0 }

// PlanWeights writes the weights of g after the last Run at the times of its level to dst
// (T×V×K): of the columns 1, those of the inputs and their products by rows of the upper
// triangle. All else is in that of 1, and in those of the inputs.
func (d *Map) PlanWeights(dst []float64) {
	m, l, K := d.m, d.level, len(d.x0)
	L, C, linear := m.Lift.Dim(), m.Columns(l), d.column[1:1+m.linear(l)]
	V, n := m.PlanColumns(l)
	history, products := 1+len(linear), 1+m.Linear(l)
	for i := range len(l.Times) * K {
		w, to := l.Weights[i*C:(i+1)*C], dst[i/K*V*K+i%K:]
		to[0] = w[0] + dot(w[1:1+L], linear) + dot(w[history:products], d.column[history:])
		for v := range n {
			to[(1+v)*K] = w[1+L+v]
		}
		at := 1 + n
		for a, rest := 0, w[products:]; l.Degree == 2 && a < len(linear); a++ {
			for o := a; o < len(linear); o++ {
				switch {
				case o < L:
					to[0] += rest[0] * linear[a] * linear[o]
				case a < L:
					to[(1+o-L)*K] += rest[0] * linear[a]
				default:
					to[at*K] = rest[0]
					at++
				}
				rest = rest[1:]
			}
		}
	}
}
