package importer

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/bridge/timebase"
)

// survey is what is in one file.
type survey struct {
	path     string
	counts   []*telemetry.Count
	problems []telemetry.Problem
	clocks   timebase.Clocks
	first    map[phaseKey]bool // what each phase was first said to be
	moves    map[topicID]bool  // topics in which a field that a channel could be read from has more than one value
}

// look reads a file once.
func (j *job) look(ctx context.Context, path string) (*survey, error) {
	f := &survey{path: path, first: map[phaseKey]bool{}, moves: map[topicID]bool{}}
	var phases []int     // by Seq: how many of the values are the phases'
	var spreads []spread // by Seq: of the other values
	s, err := j.Open(path, telemetry.Wants{Select: func(t *telemetry.Topic) (paths []string) {
		for i := range j.Map.Phases {
			if j.Map.Phases[i].reads(t) {
				paths = append(paths, j.Map.Phases[i].Field)
			}
		}
		for t.Seq >= len(phases) {
			phases, spreads = append(phases, 0), append(spreads, spread{})
		}
		phases[t.Seq] = len(paths)
		paths = append(paths, j.Map.candidates(t)...)
		spreads[t.Seq] = newSpread(len(paths) - phases[t.Seq])
		return paths
	}})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	f.counts, err = telemetry.Survey(ctx, s, j.tell, func(m *telemetry.Message) {
		if len(m.Values) > 0 {
			f.note(j.Map, m)
			spreads[m.Topic.Seq].add(m.Values[phases[m.Topic.Seq]:])
		}
		if m.Stamped && m.Topic.Clock != "" {
			f.clocks.Add(m.Topic.Clock, m.Time, m.Logged)
		}
	})
	if err != nil {
		return nil, err
	}
	for _, c := range f.counts {
		s := &spreads[c.Topic.Seq]
		for i := range s.low {
			if s.moves(i) {
				f.moves[topicID{c.Topic.Name, c.Topic.Instance}] = true
			}
		}
	}
	f.problems = s.Problems().All()
	return f, nil
}

// candidates returns the fields of a topic that channels could be read from, where
// the map leaves open from which instance.
func (m *Map) candidates(t *telemetry.Topic) (paths []string) {
	for i := range m.Channels {
		for _, s := range append([]*Source{&m.Channels[i].Source}, pointers(m.Channels[i].Or)...) {
			if s.Instance != nil || s.Topic != t.Name {
				continue
			}
			for _, p := range s.paths() {
				if t.Check(p) == nil && !slices.Contains(paths, p) {
					paths = append(paths, p)
				}
			}
		}
	}
	return paths
}

// base names the file without its folder: a log does not depend on where it was
// made.
func (f *survey) base() string { return filepath.Base(f.path) }

// find returns the count of a topic, or nil.
func (f *survey) find(id topicID) *telemetry.Count {
	for _, c := range f.counts {
		if c.Topic.Name == id.name && c.Topic.Instance == id.instance {
			return c
		}
	}
	return nil
}
