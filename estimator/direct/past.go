package direct

// PastWeights returns what the states of row r of the history count in g of state k at t: K
// numbers.
func (m *Model) PastWeights(l *Level, k, r int, t float64) []float64 {
	K, P, C := len(m.Derivative), len(m.UMean), m.Columns(l)
	first := 1 + m.linear(l) + r*(K+P)
	i, share, _ := l.between(t)
	out := make([]float64, K)
	for j := range out {
		out[j] = l.row(i, k, K, C)[first+j]
		if share > 0 {
			out[j] += share * (l.row(i+1, k, K, C)[first+j] - out[j])
		}
	}
	return out
}

// Between returns the place in Times before t and the share of the next one in the weights at
// t.
func (l *Level) Between(t float64) (i int, share float64) {
	i, share, _ = l.between(t)
	return i, share
}
