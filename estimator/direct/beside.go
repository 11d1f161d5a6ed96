package direct

// bounds is how many levels a bounded one is evaluated from: itself, and those below.
const bounds = 3

// beside returns a level whose outputs are those of one with Apart, then those of each below it, of the columns of the first: one pass has all. It is
// itself not bounded.
func (m *Model) beside(l *Level) *Level {
	levels := append([]*Level{l}, m.Below(l)...)
	out := &Level{Readout: l.Readout, Rows: l.Rows, Times: l.Times}
	for _, of := range levels {
		out.Degree = max(out.Degree, of.Degree)
	}
	K, C, linear := len(m.Derivative), m.Columns(out), 1+m.Linear(out)
	out.Weights = make([]float64, len(l.Times)*len(levels)*K*C)
	for n, of := range levels {
		own := m.Columns(of)
		for i := range len(l.Times) * K {
			w, to := of.Weights[i*own:(i+1)*own], out.Weights[(i/K*len(levels)*K+n*K+i%K)*C:]
			copy(to, w[:1+m.Linear(of)])
			copy(to[linear:], w[1+m.Linear(of):])
		}
	}
	return out
}
