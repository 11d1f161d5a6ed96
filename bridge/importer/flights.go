package importer

// flown keeps the settings that the robot had during the flights of a file: one that changes on
// the ground does not count.
func (m *Map) flown(f *survey) {
	f.flights = m.flights(f)
	for name := range f.history.settings {
		f.settings[name] = f.history.during(name, f.flights)
	}
}

// boot is a file from one start of the robot's recorder on, with the settings of the flights behind it.
type boot struct {
	*survey
	from     int // number of its first message
	settings map[string][]float64
}

// byBoot returns the starts in a file with flights behind them. What is not said there is as it was before, or
// else as it is said later.
func (f *survey) byBoot() (all []boot) {
	h := f.history
	if h == nil || len(h.boots) == 0 {
		return []boot{{f, 0, f.settings}}
	}
	for _, begin := range append([]int{0}, h.boots...) {
		_, end := h.boot(begin)
		parts := both(f.flights, []span{{begin, end}})
		if len(parts) == 0 {
			continue
		}
		b := boot{f, begin, map[string][]float64{}}
		for name := range h.settings {
			if b.settings[name] = h.values(name, parts); len(b.settings[name]) == 0 {
				b.settings[name] = h.near(name, end)
			}
		}
		all = append(all, b)
	}
	if len(all) == 0 {
		return []boot{{f, 0, f.settings}}
	}
	all[0].from = 0
	return all
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
