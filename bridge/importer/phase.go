package importer

import (
	"fmt"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/bridge/timebase"
)

// phase is a phase of the map whose topic is in the logs. It has a track of its
// own, of one value: 1 in the phase, 0 not.
type phase struct {
	*Phase
	topic  int       // track of its topic
	track  int       // its own
	at     int       // where its value stands in a row
	column int       // which value of its topic's track
	begin  []float64 // of each file: what it was before anything was said
}

// says returns what a value of the field means: in the phase, or not. ok is false
// where it says nothing, as an event of another kind.
func (p *Phase) says(v float64) (in, ok bool) {
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

// event says whether the field tells changes and not states.
func (p *Phase) event() bool { return len(p.Begins) > 0 }

// bindPhases finds the phases that all files can tell.
func (p *plan) bindPhases(files []*survey) {
	for i := range p.m.Phases {
		ph := &p.m.Phases[i]
		id, reason := find(&Source{Topic: ph.Topic, Instance: ph.Instance}, []string{ph.Field}, files)
		if reason != "" {
			p.leftOut = append(p.leftOut, fmt.Sprintf("nothing is cut by %s of %s: %s", ph.Field, ph.Topic, reason))
			continue
		}
		n := phase{Phase: ph, topic: p.track(id, files)}
		n.column = p.column(n.topic, ph.Field)
		for _, f := range files {
			if _, said := f.first[phaseKey{i, id}]; !said {
				p.leftOut = append(p.leftOut, fmt.Sprintf("nothing is cut by %s of %s: it says nothing about flying in %s", ph.Field, ph.Topic, f.base()))
			}
			n.begin = append(n.begin, f.before(i, id, ph))
		}
		p.phases = append(p.phases, n)
	}
	// Their tracks come behind those of the topics, which are all known now.
	for i := range p.phases {
		ph := &p.phases[i]
		ph.track = len(p.tracks) + i
		ph.at = p.signal(timebase.Signal{Track: ph.track, At: []int{0}, How: timebase.Hold}, "")
	}
}

// before returns whether the robot was in the phase before the field first said
// anything in a file: 1 or 0. A state was what it first was; before an event that
// ends the phase the robot was in it. A field that never says anything cuts
// nothing.
func (f *survey) before(i int, id topicID, ph *Phase) float64 {
	in, ok := f.first[phaseKey{i, id}]
	if !ok || in != ph.event() {
		return 1
	}
	return 0
}

// phaseKey is a phase of the map as one topic tells it.
type phaseKey struct {
	phase int
	id    topicID
}

// note remembers what a message first says about the phases of a map.
func (f *survey) note(m *Map, msg *telemetry.Message) {
	k := 0
	id := topicID{msg.Topic.Name, msg.Topic.Instance}
	for i := range m.Phases {
		ph := &m.Phases[i]
		if !ph.reads(msg.Topic) {
			continue
		}
		if in, ok := ph.says(msg.Values[k]); ok {
			if _, there := f.first[phaseKey{i, id}]; !there {
				f.first[phaseKey{i, id}] = in
			}
		}
		k++
	}
}

// reads says whether the phase could be told by a topic.
func (p *Phase) reads(t *telemetry.Topic) bool {
	return p.Topic == t.Name && (p.Instance == nil || *p.Instance == t.Instance) && t.Check(p.Field) == nil
}
