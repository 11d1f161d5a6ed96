package importer

import (
	"testing"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Nodes that follow each other on a topic are one sender; nodes at the same time, other frames, and nodes that a map selects are not.
func TestNodesThatFollowEachOther(t *testing.T) {
	sender := func(seq int, frame, node string, from, to int64) *telemetry.Count {
		return &telemetry.Count{N: 100, From: from, To: to, Topic: &telemetry.Topic{Name: "/odom", Kind: "o", Seq: seq, Sender: []telemetry.Text{{Path: "frame", Value: frame}, {Path: "callerid", Value: node}}}}
	}
	for name, c := range map[string]struct {
		counts []*telemetry.Count
		where  Where
		names  int // different ones
	}{
		"one after the other": {[]*telemetry.Count{sender(0, "a", "/n_1", 0, 10), sender(1, "a", "/n_2", 11, 20), sender(2, "a", "/n_3", 25, 30)}, nil, 1},
		"stored otherwise":    {[]*telemetry.Count{sender(0, "a", "/n_2", 11, 20), sender(1, "a", "/n_1", 0, 10)}, nil, 1},
		"at the same time":    {[]*telemetry.Count{sender(0, "a", "/n_1", 0, 10), sender(1, "a", "/n_2", 9, 20)}, nil, 2},
		"of other frames":     {[]*telemetry.Count{sender(0, "a", "/n_1", 0, 10), sender(1, "b", "/n_2", 11, 20)}, nil, 2},
		"no times":            {[]*telemetry.Count{sender(0, "a", "/n_1", 0, 0), sender(1, "a", "/n_2", 0, 0)}, nil, 2},
		"selected":            {[]*telemetry.Count{sender(0, "a", "/n_1", 0, 10), sender(1, "a", "/n_2", 11, 20)}, Where{"callerid": "/n_1"}, 2},
		"beside another":      {[]*telemetry.Count{sender(0, "a", "/n_1", 0, 10), sender(1, "a", "/n_2", 11, 20), sender(2, "b", "/m", 0, 20)}, nil, 2},
	} {
		f := &survey{}
		f.identify(c.counts, &Map{Where: c.where})
		names := map[topicID]bool{}
		for _, x := range c.counts {
			names[f.id(x.Topic)] = true
		}
		if len(names) != c.names {
			t.Errorf("%s: %v", name, names)
		}
	}
}
