package intake

// second looks for a second sender among the states that are refused: they continue
// each other while those of the first are accepted.
type second struct {
	last    moment // of the last state of the second sender
	n       int    // states that continue the one before, with one accepted between them
	between bool   // a state was accepted since the last
}

// secondAfter is how many such states show a second sender.
const secondAfter = 8

// notice adds a state that was refused. late: it is of the accepted sequence. It
// reports whether it comes from a second sender.
func (s *second) notice(m *moment, late bool, p *pace) bool {
	if late {
		return false
	}
	continues := p.follows(m, &s.last) && m.at-s.last.at <= p.resync
	s.last = *m
	switch {
	case !continues:
		s.n = 0
	case s.between:
		s.n++
	}
	s.between = false
	return s.n >= secondAfter
}
