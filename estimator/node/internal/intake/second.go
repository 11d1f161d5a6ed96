package intake

// second looks for a second sender among the states that are refused: they continue
// each other while those of the first are accepted.
type second struct {
	last    moment // of the last state of the second sender
	n       int    // states that continue the one before, with one accepted between them
	between bool   // a state was accepted since the last
}

// So many such states show a second sender, and so many that the sequence may be one
// beside the accepted one, and no restart of its sender.
const secondAfter, besideAfter = 8, 2

// beside reports whether the refused state m may be of a second sender.
func (s *second) beside(m *moment, p *pace) bool {
	return s.n >= besideAfter && m.at-s.last.at <= p.resync
}

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
