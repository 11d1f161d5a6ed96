package importer

import (
	"cmp"
	"slices"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// node is what a recording calls the node of ROS that sent a message.
const node = "callerid"

// successors returns, of senders that differ from an earlier one only in the node and each begin when the one before has ended, the first:
// a node that is started anew may have another name, and one takes a robot over from another one. texts are those by which a map selects:
// if it selects nodes, each is by itself.
func successors(counts []*telemetry.Count, texts []string) map[*telemetry.Count]*telemetry.Count {
	first := map[*telemetry.Count]*telemetry.Count{}
	if slices.Contains(texts, node) {
		return first
	}
	for i, c := range counts {
		if !hasNode(c.Topic) || slices.ContainsFunc(counts[:i], func(o *telemetry.Count) bool { return alikeButNode(o.Topic, c.Topic) }) {
			continue
		}
		alike := slices.DeleteFunc(slices.Clone(counts[i:]), func(o *telemetry.Count) bool { return !alikeButNode(o.Topic, c.Topic) })
		slices.SortStableFunc(alike, func(a, b *telemetry.Count) int { return cmp.Compare(a.From, b.From) })
		follow := true
		for k, o := range alike[1:] {
			follow = follow && alike[k].To < o.From
		}
		for _, o := range alike[1:] {
			if follow {
				first[o] = alike[0]
			}
		}
	}
	return first
}

func hasNode(t *telemetry.Topic) bool {
	return slices.ContainsFunc(t.Sender, func(x telemetry.Text) bool { return x.Path == node })
}

// alikeButNode reports whether two topics have one name and type, and senders that differ at most in the node.
func alikeButNode(a, b *telemetry.Topic) bool {
	if a.Name != b.Name || a.Kind != b.Kind || a.Instance != b.Instance || len(a.Sender) != len(b.Sender) {
		return false
	}
	for i, x := range a.Sender {
		if y := b.Sender[i]; x.Path != y.Path || x.Path != node && x.Value != y.Value {
			return false
		}
	}
	return true
}
