package importer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// A topic repeats another one of its type if so many different messages, and this share of them, are those of the other.
const (
	fewestRepeated = 20
	mostRepeated   = 0.5
)

// contents is which messages a topic has, by hashes of their values but for times: all, or evenly chosen ones, which
// are the same ones for all topics.
type contents struct {
	sure []bool // of values: they are no times and no numbers of messages
	mask uint64 // hashes that have a bit of it are left out
	at   map[uint64]moment
}

// moment is when a message was measured and when it was recorded, ns.
type moment struct{ time, logged int64 }

const mostContents = 4096

// add adds a message.
func (c *contents) add(m *telemetry.Message) {
	h := uint64(14695981039346656037)
	for i, v := range m.Values {
		if c.sure[i] {
			h = (h ^ math.Float64bits(v)) * 0x9e3779b97f4a7c15
			h ^= h >> 29
		}
	}
	if h&c.mask != 0 {
		return
	}
	if _, known := c.at[h]; known {
		return
	}
	if c.at == nil {
		c.at = map[uint64]moment{}
	}
	c.at[h] = moment{m.Time, m.Logged}
	for len(c.at) > mostContents {
		c.mask = c.mask<<1 | 1
		for h := range c.at {
			if h&c.mask != 0 {
				delete(c.at, h)
			}
		}
	}
}

// behind reports whether the messages of a topic are those of another one, and by how many ns they are stamped, or with the same stamps
// recorded, after these, by the median.
func (c *contents) behind(o *contents) (ns int64, same bool) {
	var times, logged []int64
	n, others, mask := 0, 0, c.mask|o.mask
	for h, at := range c.at {
		if h&mask != 0 {
			continue
		}
		n++
		if first, ok := o.at[h]; ok {
			times, logged = append(times, at.time-first.time), append(logged, at.logged-first.logged)
		}
	}
	for h := range o.at {
		if h&mask == 0 {
			others++
		}
	}
	if len(times) < fewestRepeated || float64(len(times)) < mostRepeated*float64(min(n, others)) {
		return 0, false
	}
	slices.Sort(times)
	slices.Sort(logged)
	if ns = times[len(times)/2]; ns == 0 {
		ns = logged[len(logged)/2]
	}
	return ns, true
}

// relay is a topic that repeats another one.
type relay struct {
	topic, of *telemetry.Topic
	late      int64 // ns
}

// relays takes the topics out that repeat an earlier one of their type under another name, as relays do.
func relays(all []*seen) (sources []*seen, found []relay) {
	for _, x := range all {
		var first *relay
		for _, o := range all {
			t, of := x.count.Topic, o.count.Topic
			if t.Name == of.Name || t.Kind != of.Kind || t.Kind == "" {
				continue
			}
			if late, same := x.contents.behind(&o.contents); same && late > 0 && (first == nil || late > first.late) {
				first = &relay{t, of, late}
			}
		}
		if first == nil {
			sources = append(sources, x)
		} else {
			found = append(found, *first)
		}
	}
	return sources, found
}

// unused is a comment on relays.
func unused(all []relay) string {
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, "# %s repeats %s, %s later: it is not used here.\n", r.topic, r.of, seconds(r.late))
	}
	return b.String()
}

// chosen returns the text of a map in which the topics that have relays are named, in place of their types.
func chosen(text string, all []relay) string {
	for _, r := range all {
		text = strings.ReplaceAll(text, fmt.Sprintf("\ntype = %q", r.of.Kind), fmt.Sprintf("\ntopic = %q", r.of.Name))
	}
	return text
}
