package importer

import (
	"context"
	"path/filepath"

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
}

// look reads a file once.
func (j *job) look(ctx context.Context, path string) (*survey, error) {
	f := &survey{path: path, first: map[phaseKey]bool{}}
	s, err := j.Open(path, telemetry.Wants{Select: func(t *telemetry.Topic) (paths []string) {
		for i := range j.Map.Phases {
			if j.Map.Phases[i].reads(t) {
				paths = append(paths, j.Map.Phases[i].Field)
			}
		}
		return paths
	}})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	f.counts, err = telemetry.Survey(ctx, s, j.tell, func(m *telemetry.Message) {
		if len(m.Values) > 0 {
			f.note(j.Map, m)
		}
		if m.Stamped && m.Topic.Clock != "" {
			f.clocks.Add(m.Topic.Clock, m.Time, m.Logged)
		}
	})
	if err != nil {
		return nil, err
	}
	f.problems = s.Problems().All()
	return f, nil
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
