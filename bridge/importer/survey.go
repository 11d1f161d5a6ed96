package importer

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/bridge/timebase"
)

// topicID names a topic in all files.
type topicID struct {
	name     string
	instance int
	sender   string // where the file has several of one name; "" = there is one, or it sends nearly all
}

func (id topicID) String() string {
	name := (&telemetry.Topic{Name: id.name, Instance: id.instance}).String()
	if id.sender != "" {
		name += " (" + id.sender + ")"
	}
	return name
}

// survey is what is in one file.
type survey struct {
	path     string
	counts   []*telemetry.Count
	problems []telemetry.Problem
	times    timebase.Model
	first    map[phaseKey]bool // the first known value of each phase
	moves    map[topicID]bool  // topics in which a field that a channel could be read from has more than one value
	ids      []topicID         // of the topics, by Seq
}

// newSurvey returns what the counts of a file show.
func newSurvey(path string, counts []*telemetry.Count) *survey {
	f := &survey{path: path}
	f.identify(counts)
	return f
}

// nearlyAll is the share of the messages of a topic with which one sender stands for it.
const nearlyAll = 0.95

// identify names the topics: by their senders where several have one name.
func (f *survey) identify(counts []*telemetry.Count) {
	f.counts = counts
	all := map[topicID]int{}
	plain := func(t *telemetry.Topic) topicID { return topicID{t.Name, t.Instance, ""} }
	for _, c := range counts {
		all[plain(c.Topic)] += c.N
	}
	for _, c := range counts {
		id := plain(c.Topic)
		if float64(c.N) < nearlyAll*float64(all[id]) {
			id.sender = cmp.Or(c.Topic.SenderName(), fmt.Sprint("sender ", c.Topic.Seq))
		}
		for c.Topic.Seq >= len(f.ids) {
			f.ids = append(f.ids, topicID{})
		}
		f.ids[c.Topic.Seq] = id
	}
}

// id returns the name of a topic of the file.
func (f *survey) id(t *telemetry.Topic) topicID {
	if t.Seq < len(f.ids) {
		return f.ids[t.Seq]
	}
	return topicID{}
}

// phaseKey is a phase of the map as one topic gives it.
type phaseKey struct {
	phase int
	id    topicID
}

// surveyTopics reads a file of topics once.
func surveyTopics(ctx context.Context, m *Map, path string, open telemetry.Opener, progress func(float64)) (*survey, error) {
	f := &survey{path: path, first: map[phaseKey]bool{}, moves: map[topicID]bool{}}
	first := map[[2]int]bool{} // by phase and Seq
	for _, c := range m.Clocks {
		f.times.Give(c.Name, int64(1e9*c.Offset))
	}
	var phases [][]int   // by Seq: the phases of which the first values are
	var ranges []extrema // by Seq: of the other values
	s, err := open(path, telemetry.Wants{Senders: m.senders(), Select: func(t *telemetry.Topic) (paths []string) {
		for t.Seq >= len(phases) {
			phases, ranges = append(phases, nil), append(ranges, extrema{})
		}
		for i := range m.Phases {
			if m.Phases[i].reads(t) {
				phases[t.Seq] = append(phases[t.Seq], i)
				paths = append(paths, m.Phases[i].Field)
			}
		}
		for _, path := range m.candidates(t) {
			paths = append(paths, path)
			ranges[t.Seq].grow()
		}
		return paths
	}})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	counts, err := telemetry.Survey(ctx, s, progress, func(msg *telemetry.Message) {
		if seq := msg.Topic.Seq; len(msg.Values) > 0 {
			m.addPhases(first, phases[seq], msg)
			ranges[seq].add(msg.Values[len(phases[seq]):])
		}
		f.times.Add(msg.Topic.Seq, msg.Topic.Clock, msg.Stamped, msg.Time, msg.Logged)
	})
	if err != nil {
		return nil, err
	}
	f.times.Finish()
	f.identify(counts)
	for _, c := range counts {
		r, id := &ranges[c.Topic.Seq], f.id(c.Topic)
		for i := range r.low {
			f.moves[id] = f.moves[id] || r.varies(i)
		}
		for _, i := range phases[c.Topic.Seq] {
			if in, known := first[[2]int{i, c.Topic.Seq}]; known {
				f.first[phaseKey{i, id}] = in
			}
		}
	}
	f.problems = s.Problems().All()
	return f, nil
}

// surveyTable reads the columns of a table and none of its rows.
func surveyTable(path string, open telemetry.Opener) (*survey, error) {
	f := &survey{path: path}
	s, err := open(path, telemetry.Wants{Select: func(t *telemetry.Topic) []string {
		f.identify([]*telemetry.Count{{Topic: t}})
		return nil
	}})
	if err != nil {
		return nil, err
	}
	return f, s.Close()
}

// candidates returns the fields of a topic that channels could be read from, where
// the map leaves the instance open.
func (m *Map) candidates(t *telemetry.Topic) (paths []string) {
	for i := range m.Channels {
		for _, s := range m.Channels[i].sources() {
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

// addPhases keeps what a message first reports about phases, of which its first values are.
func (m *Map) addPhases(first map[[2]int]bool, phases []int, msg *telemetry.Message) {
	for k, i := range phases {
		key := [2]int{i, msg.Topic.Seq}
		in, ok := m.Phases[i].decide(msg.Values[k])
		if _, known := first[key]; ok && !known {
			first[key] = in
		}
	}
}

// senders are the texts by which sources select.
func (m *Map) senders() (all []string) {
	for i := range m.Channels {
		for _, s := range m.Channels[i].sources() {
			for path := range s.Where {
				if !slices.Contains(all, path) {
					all = append(all, path)
				}
			}
		}
	}
	slices.Sort(all)
	return all
}

// base names the file without its folder: a log does not depend on where it was
// made.
func (f *survey) base() string { return filepath.Base(f.path) }

// find returns the count of a topic, or nil.
func (f *survey) find(id topicID) *telemetry.Count {
	for _, c := range f.counts {
		if f.id(c.Topic) == id {
			return c
		}
	}
	return nil
}

// reads reports whether the phase could be read from a topic.
func (p *Phase) reads(t *telemetry.Topic) bool {
	return p.Topic == t.Name && (p.Instance == nil || *p.Instance == t.Instance) && t.Check(p.Field) == nil
}

// decide returns whether a value of the field means that the robot is in the phase.
// ok is false where it means neither, as an event of another kind.
func (p *Phase) decide(v float64) (in, ok bool) {
	if math.IsNaN(v) {
		return false, false
	}
	if p.Mask != 0 {
		v = float64(uint32(int64(v)) & p.Mask)
	}
	switch {
	case p.Above != nil:
		return v > *p.Above, true
	case len(p.Equals) > 0:
		return slices.Contains(p.Equals, v), true
	case slices.Contains(p.Begins, v):
		return true, true
	case slices.Contains(p.Ends, v):
		return false, true
	}
	return false, false
}

// zeroOrOne returns a phase as a value of a track.
func zeroOrOne(in bool) float64 {
	if in {
		return 1
	}
	return 0
}

// extrema keeps the lowest and highest of several values.
type extrema struct {
	low, high []float64
}

// grow adds a value.
func (e *extrema) grow() {
	e.low, e.high = append(e.low, math.Inf(1)), append(e.high, math.Inf(-1))
}

func (e *extrema) add(x []float64) {
	for i, v := range x {
		if v < e.low[i] {
			e.low[i] = v
		}
		if v > e.high[i] {
			e.high[i] = v
		}
	}
}

// varies reports whether value i had more than one value.
func (e *extrema) varies(i int) bool { return e.high[i] > e.low[i] }
