package direct

// PastAt adds to dst (K) what changes of the history's states (rows×K, at least as many rows
// as the level reads) do to g at time i of a level: the map is linear in the history.
func (m *Model) PastAt(dst []float64, l *Level, i int, moved []float64) {
	K, P, C := len(m.Derivative), len(m.UMean), m.Columns(l)
	first := 1 + m.linear(l)
	for k := range dst {
		w := l.row(i, k, K, C)[first:]
		for r := range l.Rows {
			dst[k] += dot(w[r*(K+P):r*(K+P)+K], moved[r*K:])
		}
	}
}

// Between returns the place in Times before t and the share of the next one in the weights at
// t.
func (l *Level) Between(t float64) (i int, share float64) {
	i, share, _ = l.between(t)
	return i, share
}
