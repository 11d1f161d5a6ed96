package importer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// expand returns the map with a channel for each text of an array, as the name
// of a joint, where a channel requires it.
func (m *Map) expand(files []*survey) (*Map, error) {
	if err := m.refuse(files); err != nil {
		return nil, err
	}
	out := *m
	out.Channels = nil
	for i := range m.Channels {
		c := &m.Channels[i]
		for _, s := range c.sources() {
			s.prefer = m.Where
		}
		if c.Each == "" {
			driven, err := m.drive(c, files, &out.said)
			if err != nil {
				return nil, err
			}
			out.Channels = append(out.Channels, driven...)
			continue
		}
		if !slices.ContainsFunc(m.Channels[:i], func(o Channel) bool { return o.Each == c.Each }) {
			c.sayUnknown(files, &out.said)
		}
		all, why, unclear := c.expand(files)
		if len(all) == 0 && (!c.Optional || unclear) {
			remedy := "correct each, or name the channels one by one"
			if unclear {
				remedy = m.choosing(files)
			}
			return nil, m.absent(c, files, []string{why}, remedy)
		}
		out.Channels = append(out.Channels, all...)
	}
	return &out, nil
}

// expand returns a channel for each text of the array, of all senders of the topic, or why there is
// none. unclear: one of several topics or senders may be meant.
func (c *Channel) expand(files []*survey) (all []Channel, why string, unclear bool) {
	topics, why := c.among(files[0])
	if why != "" {
		return nil, why, len(topics) > 0
	}
	if len(topics) == 0 {
		_, why := find(&c.Source, nil, files)
		return nil, why, false
	}
	of := map[string]*telemetry.Count{} // by name
	for _, count := range topics {
		t, id := count.Topic, files[0].id(count.Topic)
		why = cmp.Or(why, fmt.Sprintf("%s is empty in all messages of topic %s of %s", c.Each, id, files[0].base()))
		for _, text := range textsOf(t, c.Each) {
			if other := of[text]; other != nil {
				both := []*telemetry.Count{other, count}
				return nil, fmt.Sprintf("topic %s of %s has messages of several senders with %q in %s: %s; select one, as in where = %s, or --where", t.Name, files[0].base(), text, c.Each, sendersOf(both), Differing(both)[0]), true
			}
			of[text] = count
			name, number := strings.NewReplacer("{}", text), strings.NewReplacer("{}", c.Each+"="+text)
			e := *c
			e.Each, e.id = "", &id
			e.Name, e.Derivative = name.Replace(c.Name), name.Replace(c.Derivative)
			e.Field, e.Times = number.Replace(c.Field), number.Replace(c.Times)
			if err := t.Check(e.Field); err != nil {
				return nil, fmt.Sprintf("topic %s: field %q: %v", id, e.Field, err), false
			}
			all = append(all, e)
		}
	}
	return all, why, false
}

// sayUnknown reports the names, as of joints, that are not in the first file and so have no channel.
func (c *Channel) sayUnknown(files []*survey, out *remarks) {
	names := func(f *survey) (all []string) {
		topics, _ := c.among(f)
		for _, count := range topics {
			all = append(all, textsOf(count.Topic, c.Each)...)
		}
		return all
	}
	known := names(files[0])
	for _, f := range files[1:] {
		if more := slices.DeleteFunc(names(f), func(n string) bool { return slices.Contains(known, n) }); len(more) > 0 {
			out.add("names", Warning, "", "%s: %s left out: not in %s, whose names count", f.base(), strings.Join(more, ", "), files[0].base()).Remedy = "give a file that has them all first"
		}
	}
}

// textsOf returns the texts of an array of a topic, each once and none empty.
func textsOf(t *telemetry.Topic, array string) (all []string) {
	if t.Texts == nil {
		return nil
	}
	for _, text := range t.Texts(array) {
		if text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// drive returns a channel with the motors that the settings of the robot name, and what there is to
// say about them: two channels where motors are on outputs of two instances. Where a file, or a start of the robot in one, has them on other
// outputs, these are read there.
func (m *Map) drive(c *Channel, files []*survey, out *remarks) ([]Channel, error) {
	plain := []Channel{*c}
	for _, s := range c.sources() {
		if s.Outputs == nil || len(match(s, files[0])) == 0 || slices.ContainsFunc(files, func(f *survey) bool { return s.When.contradicted(f) != "" }) {
			continue
		}
		w := wires{of: s, banks: [2]Source{*s, *s}}
		for k, f := range files {
			for _, b := range f.byBoot() {
				if reason, remedy := w.add(k, &b, files[0]); reason != "" {
					return nil, m.wrong("channel "+c.label(), reason, remedy)
				}
			}
		}
		if !w.own.known {
			return plain, nil
		}
		w.own.compared(s.Outputs, files[0], out)
		return w.channels(c, files, out), nil
	}
	return plain, nil
}

// channels returns the channels with the motors of each bank, and says where these are on other outputs than before.
func (w *wires) channels(c *Channel, files []*survey, out *remarks) (driven []Channel) {
	for k := range w.banks {
		b, own := &w.banks[k], w.own.bank(k == 1)
		if b.Fields = own.fields(w.of); len(b.Fields) == 0 {
			continue
		}
		b.Outputs, b.Unit = nil, cmp.Or(b.Unit, c.Unit)
		if !slices.ContainsFunc(b.wired, func(w wiring) bool { return !slices.Equal(w.fields, b.Fields) }) {
			b.wired = nil
		}
		b.sayWired(files, out)
		d := *c
		d.Name, d.Names, d.Source, d.Or = "", nil, *b, nil
		var topics []string
		for i, n := range own.outputs {
			if n > 0 {
				d.Names = append(d.Names, w.of.Outputs.name(c, i))
				topics = append(topics, w.of.Outputs.topic(b.Topic, n))
			}
		}
		if b.wired != nil { // to other outputs than before, of the topic itself
			topics = nil
		}
		driven = append(driven, d.byTopic(topics)...)
	}
	return driven
}

// byTopic returns a channel for each topic that a channel's fields are of; the channel where no topics are given.
func (c *Channel) byTopic(topics []string) (all []Channel) {
	if len(topics) == 0 {
		return []Channel{*c}
	}
	for i, t := range topics {
		k := slices.IndexFunc(all, func(d Channel) bool { return d.Topic == t })
		if k < 0 {
			d := *c
			d.Topic, d.Names, d.Fields = t, nil, nil
			k, all = len(all), append(all, d)
		}
		all[k].Names, all[k].Fields = append(all[k].Names, c.Names[i]), append(all[k].Fields, c.Fields[i])
	}
	return all
}

// wires finds the fields of the motors of a source, start after start of the robot.
type wires struct {
	of    *Source
	banks [2]Source // the outputs of the topic, and of another instance
	own   motors    // of the first start
	begun bool
}

// add takes a start in a file with a number, or returns why it is refused.
func (w *wires) add(number int, b *boot, first *survey) (reason, remedy string) {
	also := w.of.Outputs.motors(b)
	if reason, remedy := also.refused(w.of, b); reason != "" {
		return reason, remedy
	}
	if !w.begun {
		w.own, w.begun = also, true
	}
	if !also.known || !w.own.known {
		return "", ""
	}
	switch same := w.own.alike(&also); {
	case !same && number == 0:
		return fmt.Sprintf("flights of %s have other motors: %s, and %s", first.base(), w.own.list(w.of), also.list(w.of)), "put each flight into a file of its own"
	case !same:
		return fmt.Sprintf("%s and %s have other motors: %s, and %s", first.base(), b.base(), w.own.list(w.of), also.list(w.of)), "import them one by one"
	}
	at, fits := [2]int{}, true
	apart := slices.Contains(also.aside, true)
	if apart {
		at, fits = also.instances(w.of, b.survey)
	}
	for k := range w.banks {
		s, of := &w.banks[k], also.bank(k == 1)
		if apart && len(of.fields(w.of)) > 0 {
			if !fits || s.Instance != nil && *s.Instance != at[k] {
				return also.nowhere(w.of, b.survey), recordMotors(w.of)
			}
			s.Instance = &at[k]
		}
		s.wired = append(s.wired, wiring{number, b.from, of.fields(w.of)})
	}
	return "", ""
}
