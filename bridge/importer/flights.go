package importer

// flown keeps the settings that the robot had during the flights of a file: one that changes on
// the ground does not count.
func (m *Map) flown(f *survey) {
	parts := m.flights(f)
	for name := range f.history.settings {
		f.settings[name] = f.history.during(name, parts)
	}
}

// flights returns the parts of a file in which the robot is in all phases of the map that the file
// reports, and which from and to keep.
func (m *Map) flights(f *survey) []span {
	h := f.history
	parts := h.spans(h.window, true)
	for i := range m.Phases {
		ph := &m.Phases[i]
		id, reason := find(&Source{Topic: ph.Topic, Instance: ph.Instance}, []string{ph.Field}, []*survey{f})
		if reason != "" {
			continue
		}
		if turns := h.phases[[2]int{i, f.find(id).Topic.Seq}]; len(turns) > 0 {
			events := len(ph.Begins) > 0
			parts = both(parts, h.spans(turns, turns[0].in != events))
		}
	}
	return parts
}
