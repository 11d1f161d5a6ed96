package timebase

// lands takes the message behind one with a time long behind that of the one before it.
func (r *recorder) lands(topic int, logged int64) {
	if topic == r.topic || r.last-logged <= leading {
		return
	}
	for r.topic >= len(r.leads) {
		r.leads = append(r.leads, lead{})
	}
	l := &r.leads[r.topic]
	l.n, l.by = l.n+1, max(l.by, r.last-logged)
}

// lead is how often messages of a topic are stored between two of others with times long before, and by how much at most, ns.
type lead struct {
	n  int
	by int64
}

// leading is, in ns, what messages that are stored one behind the other are not apart, but for some where parts of a log are stored in
// another order.
const leading = int64(1e9)

// mostLeads is the share of a topic's messages that are ahead of what is stored behind them below which it is in order.
const mostLeads = 0.1

// Ahead returns by how much a topic's times are ahead of those that are stored beside them, ns; 0 = they are not.
func (m *Model) Ahead(topic int) int64 {
	if topic >= len(m.recorded.leads) {
		return 0
	}
	n := 0
	for i := 2 * topic; i < min(2*topic+2, len(m.streams)); i++ {
		if s := m.streams[i]; s != nil && s.unordered {
			return 0
		} else if s != nil {
			n += s.n
		}
	}
	if l := m.recorded.leads[topic]; l.n >= 4*agree && float64(l.n) >= mostLeads*float64(n) {
		return l.by
	}
	return 0
}
