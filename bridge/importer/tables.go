package importer

import (
	"slices"

	"github.com/dgm-robotics/dgm/bridge/csv"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// groups are the columns of the map's sources, as topics of joined tables.
func (m *Map) groups() (all []csv.Group) {
	for i := range m.Channels {
		for _, s := range m.Channels[i].sources() {
			if g := s.group(); !slices.ContainsFunc(all, func(o csv.Group) bool { return o.Name() == g.Name() }) {
				all = append(all, g)
			}
		}
	}
	return all
}

func (s *Source) group() csv.Group { return csv.Group{File: s.File, Columns: s.paths()} }

// apart reports whether each topic has a table of its own.
func (m *Map) apart() bool {
	return slices.ContainsFunc(m.groups(), func(g csv.Group) bool { return g.File != "" })
}

// joins reports whether the columns of tables are joined as topics are.
func (j *job) joins() bool {
	m := j.Map
	switch {
	case !m.IsTable():
		return false
	case m.Time.Join != nil:
		return *m.Time.Join
	case m.apart():
		return true
	}
	return csv.Sparse(j.Inputs[0], m.groups(), j.Rows)
}

// join has the columns of tables read as topics.
func (j *job) join() {
	m := *j.Map
	groups, cfg := m.groups(), csv.Config{Time: m.Time.Time, FileNames: len(j.Inputs) > 1 && !m.apart(), Counts: &csv.Counts{}, Open: j.Rows}
	m.joined = true
	m.Channels = slices.Clone(m.Channels)
	for i := range m.Channels {
		c := &m.Channels[i]
		c.Or = slices.Clone(c.Or)
		for _, s := range c.sources() {
			s.Topic = s.group().Name()
		}
	}
	j.Map = &m
	all := func(path string) []string { return []string{path} }
	if m.apart() { // one recording
		paths := j.Inputs
		all = func(string) []string { return paths }
		var robots []input // of the one recording
		for _, in := range j.inputs {
			if in.path = paths[0]; !slices.Contains(robots, in) {
				robots = append(robots, in)
			}
		}
		j.inputs = robots
	}
	j.openJoined = func(group string) telemetry.Opener {
		cfg := cfg
		cfg.Group = group
		return telemetry.Opens(func(path string, wants telemetry.Wants) (*csv.Joined, error) {
			return csv.OpenJoined(all(path), wants, cfg, groups)
		})
	}
}

// divide has each robot of a table read by itself.
func (j *job) divide() error {
	j.inputs = nil
	for _, path := range j.Inputs {
		if !j.Map.IsTable() || j.Map.Time.GroupColumn == "" {
			j.inputs = append(j.inputs, input{path: path})
			continue
		}
		all, err := csv.Groups(path, j.Map.Time.GroupColumn, j.Rows)
		if err != nil {
			return err
		}
		for _, g := range all {
			j.inputs = append(j.inputs, input{path, g})
		}
	}
	return nil
}

// input is a file, or the rows of one robot in it.
type input struct{ path, group string }
