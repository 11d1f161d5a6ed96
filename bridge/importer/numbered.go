package importer

import (
	"math"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// numberNames are what fields are called that number the motor, the robot or the sensor that a message is about.
var numberNames = []string{"id", "robot_id", "motor_id", "joint_id", "vehicle_id", "drone_id", "agent_id", "sensor_id", "node_id", "can_id", "device_id", "motor_index", "joint_index", "esc_index", "index"}

// What numbers of senders are like.
const (
	mostNumbers = 32   // different ones
	takesTurns  = 0.05 // the share of messages with another one than the message before, at least
	fewestOfOne = 20   // of these
)

// numbering is the numbers in a field of a topic.
type numbering struct {
	values     []float64
	last       float64
	n, changes int
	none       bool // they are no small whole numbers, or too many
}

func (x *numbering) add(v float64) {
	switch {
	case x.none || math.IsNaN(v):
		return
	case v != math.Trunc(v):
		x.none = true
	case !slices.Contains(x.values, v):
		x.values = append(x.values, v)
		x.none = len(x.values) > mostNumbers
	}
	if x.n > 0 && v != x.last {
		x.changes++
	}
	x.n, x.last = x.n+1, v
}

// distinguishes reports whether messages are of several senders, in turns, by their numbers. A counter has too many of
// them, and what changes now and then is a mode.
func (x *numbering) distinguishes() bool {
	return !x.none && len(x.values) > 1 && x.changes >= fewestOfOne && float64(x.changes) >= takesTurns*float64(x.n)
}

// numberings are those of the fields of topics that may number senders.
type numberings map[string][]*numbering

// of returns the fields of a topic that may number its senders, and what receives their values.
func (all numberings) of(t *telemetry.Topic) (paths []string, receivers []func(float64)) {
	for _, path := range numberNames {
		if t.Check(path) == nil {
			paths, receivers = append(paths, path), append(receivers, all.field(path).add)
		}
	}
	return paths, receivers
}

// field returns what the numbers in a field of a topic are kept in; nil where it does not number senders.
func (all numberings) field(path string) *numbering {
	if all == nil || !slices.Contains(numberNames, path) {
		return nil
	}
	x := &numbering{}
	all[path] = append(all[path], x)
	return x
}

// found returns the fields by which senders of a topic are distinguished.
func (all numberings) found() (paths []string) {
	for path, fields := range all {
		if slices.ContainsFunc(fields, (*numbering).distinguishes) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// drivesOrMoves reports whether the map reads a state or an input from a topic.
func (m *Map) drivesOrMoves(t *telemetry.Topic) bool {
	return slices.ContainsFunc(m.Channels, func(c Channel) bool {
		return (c.Role == channel.State || c.Role == channel.Input) && slices.ContainsFunc(c.sources(), func(s *Source) bool {
			return s.Topic == t.Name || s.Topic == "" && s.Type != "" && s.Type == t.Kind
		})
	})
}

// distinguish has numbers in messages distinguish their senders in what is read from now on; it reports whether they did not before.
func (m *Map) distinguish(paths []string) (more bool) {
	for _, path := range paths {
		if !slices.Contains(m.numbers, path) && !strings.Contains(path, "[") {
			m.numbers, more = append(m.numbers, path), true
		}
	}
	return more
}

// senders are the texts by which sources select, and the numbers that distinguish senders.
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
	for path := range m.Where {
		if !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	for _, path := range m.numbers {
		if !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	slices.Sort(all)
	return all
}
