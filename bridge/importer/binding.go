package importer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/bridge/timebase"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Binding makes channels of single messages that have all fields: a link to a robot gives what an import makes of the robot's logs, by
// the same map.
type Binding struct {
	channels []channel.Channel
	from     []int // of each channel: which of those made, -1 = it is estimated
	paths    []string
	joiner   *timebase.Joiner
	outputs  []output
	made     []float64
	values   []float64
}

// Bind finds channels by their names in a map, and the fields of one topic that they are made of. Those of no field, of another unit or in
// other axes are an error. Motors may be more than the map
// names. Nil channels are all states and inputs that the map makes of the fields.
func Bind(m *Map, topic string, fields []telemetry.Field, channels []channel.Channel) (*Binding, error) {
	id := topicID{name: topic}
	file := &survey{counts: []*telemetry.Count{{Topic: &telemetry.Topic{Name: topic, Fields: func() []telemetry.Field { return fields }}}}, ids: []topicID{id}}
	bound := *m
	bound.Channels = nil
	p := &plan{m: &bound, tracks: []track{{id: id}}}
	for i := range m.Channels {
		c, s := m.Channels[i].bound(topic, fields, channels != nil)
		if s == nil || c.Role == channel.Aux || channels != nil && !slices.ContainsFunc(channels, func(w channel.Channel) bool { return slices.Contains(c.names(), w.Name) }) {
			continue
		}
		bound.Channels, p.sources = append(bound.Channels, *c), append(p.sources, s)
		if err := p.output(c, s, 0, file); err != nil {
			return nil, err
		}
	}
	header := bound.header(p.sources)
	if channels == nil {
		channels = header
	}
	b := &Binding{channels: slices.Concat(channel.Select(channels, channel.State), channel.Select(channels, channel.Input)), paths: p.tracks[0].paths, outputs: p.outputs, made: make([]float64, len(header))}
	if len(b.channels) == 0 {
		return nil, m.wrong("channel", "no state or input is made of what the link measures", "give the map that its logs were imported with")
	}
	for _, c := range b.channels {
		at := channel.Index(header, c.Name)
		if err := m.differs(&c, header, at); err != nil {
			return nil, err
		}
		b.from = append(b.from, at)
	}
	p.config.Widths = []int{len(b.paths)}
	b.joiner, b.values = timebase.New(p.config), make([]float64, len(b.channels))
	return b, nil
}

// bound returns a copy of a channel and of its first source whose fields are there, nil where none is; with further motors, if they are
// wanted.
func (c Channel) bound(topic string, fields []telemetry.Field, further bool) (*Channel, *Source) {
	there := func(path string) bool {
		return slices.ContainsFunc(fields, func(f telemetry.Field) bool { return f.Path == path })
	}
	for _, from := range c.sources() {
		s := *from
		if s.Topic != topic || slices.ContainsFunc(s.paths(), func(path string) bool { return !there(path) }) {
			continue
		}
		for n := len(s.Fields) + 1; further && s.Outputs != nil && there(s.Outputs.field(n)); n++ {
			c.Names, s.Fields = append(slices.Clone(c.Names), s.Outputs.name(&c, n-1)), append(slices.Clone(s.Fields), s.Outputs.field(n))
		}
		return &c, &s
	}
	return nil, nil
}

// differs returns why a channel is not the one that the map makes, at its place in header.
func (m *Map) differs(c *channel.Channel, header []channel.Channel, at int) error {
	switch {
	case at < 0 && c.Estimated:
		return nil
	case at < 0:
		return m.wrong("channel "+c.Name, "it is not among what the link measures: "+strings.Join(channel.Names(header), ", "), "give the map that its logs were imported with")
	case !channel.SameUnit(c.Unit, header[at].Unit):
		return m.wrong("channel "+c.Name, fmt.Sprintf("its unit is %q, that of the map %q", c.Unit, header[at].Unit), "give the map that its logs were imported with")
	case c.Frame != header[at].Frame && c.Frame != "":
		return m.wrong("channel "+c.Name, fmt.Sprintf("its axes are %q, those of the map %q", c.Frame, header[at].Frame), "give the map that its logs were imported with")
	}
	return nil
}

// Channels returns what Convert makes: states, then inputs.
func (b *Binding) Channels() []channel.Channel { return b.channels }

// Paths returns the fields that Convert reads, in its order.
func (b *Binding) Paths() []string { return b.paths }

// Convert makes the channels of the fields of a message. What is not measured is NaN. The result is valid until the next call.
func (b *Binding) Convert(fields []float64) []float64 {
	row, dst := b.joiner.Direct(0, fields), b.made
	for i := range b.outputs {
		o := &b.outputs[i]
		o.write(dst[:o.n], row.Values, false)
		dst = dst[o.n:]
	}
	for i, at := range b.from {
		if b.values[i] = math.NaN(); at >= 0 {
			b.values[i] = b.made[at]
		}
	}
	return b.values
}
