package importer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/frames"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/bridge/timebase"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

const (
	mostSlack = 10e9 // ns, how long rows wait for a slow topic
	held      = 1e9  // ns, how long an input is held at least
	nearSteps = 0.75 // steps of the base: a state counts as measured in a row that is so near to a message of its topic
)

// bind finds what the map names in the surveys of all files.
func bind(m *Map, files []*survey) (*plan, error) {
	p := &plan{m: m, declared: map[string]declaration{}, shared: map[string][]string{}, leftOut: m.said}
	if err := m.unselected(files); err != nil {
		return nil, err
	}
	var states []int // tracks that hold states
	for i := range m.Channels {
		c := &m.Channels[i]
		s, id, why, err := p.source(c, files)
		if err != nil {
			return nil, err
		}
		p.sources, p.read, p.absent = append(p.sources, s), append(p.read, -1), append(p.absent, why)
		if s == nil {
			continue
		}
		for k, name := range c.names() {
			p.declared[name] = declaration{c.derivative(k), c.Varies}
		}
		tr := p.track(id, files)
		p.read[i] = tr
		p.others(s, id, files[0])
		p.unread(s, id, files[0])
		if c.Role == channel.State {
			states = append(states, tr)
		}
		if err := p.output(c, s, tr, files[0]); err != nil {
			return nil, err
		}
	}
	p.sayOthers(files)
	p.disagree(files)
	p.header = m.header(p.sources)
	p.dropDerivatives()
	if err := channel.Check(p.header); err != nil {
		return nil, &mapfile.Error{File: m.file, Field: "channel", Reason: err.Error() + " of those that are in the log", Remedy: "correct the map"}
	}
	if len(states) == 0 {
		return nil, &mapfile.Error{File: m.file, Field: "channel", Reason: "no state of the map is in " + files[0].base(), Remedy: "correct the map, or look at what is there with dgm-bridge topics " + files[0].path}
	}
	if err := p.chooseBase(states, files); err != nil {
		return nil, err
	}
	p.bindNear()
	p.alignInputs(files)
	p.bindValidity(files)
	p.bindPhases(files)
	for i := range p.tracks {
		p.config.Widths = append(p.config.Widths, len(p.tracks[i].paths))
	}
	for range len(m.Primaries) + len(p.phases) {
		p.config.Widths = append(p.config.Widths, 1)
	}
	p.config.Slack = timebase.Reorder
	for _, s := range p.config.Signals {
		if s.How != timebase.Hold {
			p.config.Slack = max(p.config.Slack, min(s.MaxAge, mostSlack))
		}
	}
	return p, nil
}

// source returns the source of a channel that is in all files, nil with the reason where the
// channel is left out.
func (p *plan) source(c *Channel, files []*survey) (s *Source, id topicID, why string, err error) {
	s, id, all := choose(c, files)
	if s != nil {
		return s, id, "", nil
	}
	if unclear := c.unclear(files); len(unclear) > 0 && !p.m.lenient {
		return nil, id, "", p.m.absent(c, files, unclear, p.m.choosing(files))
	}
	if !c.Optional && !p.m.lenient {
		show := "dgm-bridge topics "
		if slices.ContainsFunc(all, func(why string) bool { return strings.Contains(why, ": field ") }) {
			show += "--fields "
		}
		return nil, id, "", p.m.absent(c, files, all, "correct the map, write optional = true, or look at what is there with "+show+files[0].path)
	}
	severity := Info
	if !c.Optional {
		severity = Loss
	}
	why = strings.Join(all, "; ")
	p.leftOut.add("absent", severity, "", "%s left out: %s", c.label(), why)
	return nil, id, why, nil
}

// unread reports outputs behind those that a source reads, which move: motors, where the
// settings in the log do not say what they are.
func (p *plan) unread(s *Source, id topicID, f *survey) {
	var fields []string
	for _, path := range s.beyond() {
		if slices.Contains(f.varies, topicField{id, path}) {
			fields = append(fields, path)
		}
	}
	if len(fields) > 0 {
		p.leftOut.add("outputs", Warning, id.String(), "%s of %s move and are not read: the settings in the log do not show whether these are motors", strings.Join(fields, ", "), id).Remedy = "if they are, add them to a copy of the map (--print-map)"
	}
}

// others keeps that a topic whose instance the map leaves open has other senders.
func (p *plan) others(s *Source, id topicID, f *survey) {
	own := f.find(id)
	if s.Instance != nil || len(s.Where) > 0 || own == nil {
		return
	}
	var senders []string
	for _, c := range match(&Source{Topic: id.name}, f) {
		if len(c.Topic.Sender) > 0 && c.Topic.Instance != id.instance && f.moves[f.id(c.Topic)] {
			senders = append(senders, whereOf(c.Topic).String())
		}
	}
	if len(senders) == 0 {
		return
	}
	text := fmt.Sprintf("read from %s; sent as well by %s", whereOf(own.Topic), strings.Join(senders, ", "))
	if !slices.Contains(p.shared[text], id.String()) {
		p.shared[text] = append(p.shared[text], id.String())
	}
}

// sayOthers reports the topics that have other senders: of other instances, and of one, where one
// sends nearly all.
func (p *plan) sayOthers(files []*survey) {
	for _, f := range files {
		for i := range p.tracks {
			if own := f.find(p.tracks[i].id); own != nil {
				p.minor(own, f)
			}
		}
	}
	for _, text := range slices.Sorted(maps.Keys(p.shared)) {
		topics := strings.Join(p.shared[text], ", ")
		p.leftOut.add("senders", Warning, topics, "%s: %s", topics, text).Remedy = "choose another one with --where"
	}
}

// minor reports the few messages of other senders than the one that stands for a topic, where the
// map does not select it.
func (p *plan) minor(own *telemetry.Count, f *survey) {
	id := f.id(own.Topic)
	var rest []*telemetry.Count
	n := 0
	for _, c := range f.counts {
		if other := f.id(c.Topic); c != own && other.name == id.name && other.instance == id.instance && p.trackOf(other) < 0 {
			rest = append(rest, c)
			n += c.N
		}
	}
	if n == 0 || id.sender != "" || len(p.m.Where) > 0 && p.m.Where.selects(own.Topic) {
		return
	}
	p.leftOut.add("senders", Warning, id.String(), "%s: %d of %d messages of %s left out, because they have another sender than the rest: %s", f.base(), n, own.N+n, id, sendersOf(rest)).Remedy = "if it is one sender, record it under one name; choose another sender with --where"
}

// output adds what is made of a source, which is read from a track.
func (p *plan) output(c *Channel, s *Source, tr int, file *survey) error {
	o := output{label: c.label(), names: c.names(), asked: !c.Optional && !c.Varies, role: c.Role, n: len(c.names()), times: -1, unitScale: 1, scale: 1, offset: s.Offset, angle: c.angle(), unwrap: c.of != nil}
	if s.Scale != nil {
		o.scale = *s.Scale
	}
	o.fromWorld, o.fromBody, _ = axes(s.Axes)
	o.toWorld, o.toBody = p.m.axesInLog(c, s)
	sig := timebase.Signal{Track: tr}
	for _, path := range s.valuePaths() {
		path, negative := strings.CutPrefix(path, "-")
		sig.At = append(sig.At, p.column(tr, path))
		o.negative = append(o.negative, negative)
	}
	for _, w := range s.wired {
		r := rewiring{wiring: w, track: tr, to: sig.At}
		for _, path := range w.fields {
			r.of = append(r.of, p.column(tr, path))
		}
		p.rewired = append(p.rewired, r)
	}
	period, unit := c.Period, cmp.Or(s.Unit, c.Unit)
	switch {
	case len(s.Quaternion) > 0:
		o.kind = quaternion
	case len(s.Matrix) > 0:
		o.kind = matrix
	case len(s.Euler) > 0:
		o.kind, period, unit = euler, channel.Angle, "rad"
	case s.Axes != "":
		o.kind = vector
	}
	if !s.rotates() {
		var err error
		if o.unitScale, o.unitOffset, err = unitOf(s, unit, file.find(p.tracks[tr].id).Topic.Fields); err != nil {
			return &mapfile.Error{File: p.m.file, Field: "channel " + c.label(), Reason: err.Error(), Remedy: "correct unit, or write from = the unit of the field, or scale"}
		}
	}
	sig.How, sig.MaxAge = between(c, p.tracks[tr].step)
	switch {
	case sig.How != timebase.Linear:
	case o.kind == quaternion:
		sig.How = timebase.Rotation
	case period > 0:
		sig.How, sig.Period = timebase.Turning, period/(o.unitScale*o.scale)
	}
	o.signal = len(p.config.Signals)
	o.at = p.signal(sig, c.label())
	if s.Times != "" {
		sig.At = []int{p.column(tr, s.Times)}
		if sig.How != timebase.Hold {
			sig.How = timebase.Linear
		}
		o.times = p.signal(sig, "")
	}
	p.outputs = append(p.outputs, o)
	return nil
}

// between returns how a channel is found between two messages of a topic with a
// median step (ns), and over how many ns.
func between(c *Channel, step int64) (how timebase.How, maxAge int64) {
	how, maxAge = timebase.Linear, max(timebase.Pausing*step, 1e6)
	switch {
	case c.Between == "hold", c.Between == "" && c.Role == channel.Input:
		how, maxAge = timebase.Hold, max(maxAge, held)
	case c.Between == "exact":
		how = timebase.Exact
	}
	return how, cmp.Or(int64(c.MaxAge), maxAge)
}

// unitOf returns what converts the fields of a source into a unit: from the unit in
// the map, else the one in the log.
func unitOf(s *Source, to string, fields func() []telemetry.Field) (scale, offset float64, err error) {
	from, origin := s.From, "from"
	if from == "" {
		origin = "the log"
		first := s.paths()[0]
		for _, f := range fields() {
			if f.Path == first {
				from = f.Unit
			}
		}
	}
	if from == "" || to == "" {
		return 1, 0, nil
	}
	scale, offset, ok := frames.Unit(from, to)
	if !ok && s.From == "" && s.Scale != nil {
		return 1, 0, nil // the scale of the map includes the unit
	}
	if !ok {
		return 0, 0, fmt.Errorf("%s gives the unit %q, which is not converted into %q", origin, from, to)
	}
	return scale, offset, nil
}

// chooseBase chooses the track that gives the rows their times, by default the
// slowest of those that hold states.
func (p *plan) chooseBase(states []int, files []*survey) error {
	base := states[0]
	for _, i := range states {
		if p.tracks[i].step > p.tracks[base].step {
			base = i
		}
	}
	if p.m.Time.Base != "" {
		var names []string
		for i := range p.tracks {
			names = append(names, p.tracks[i].id.String())
		}
		id, reason := find(&Source{Topic: p.m.Time.Base, Instance: p.m.Time.Instance}, nil, files)
		if reason != "" {
			return &mapfile.Error{File: p.m.file, Field: "time.base", Reason: reason, Remedy: "name one of the topics of the channels: " + strings.Join(names, ", ")}
		}
		if base = p.trackOf(id); base < 0 {
			return &mapfile.Error{File: p.m.file, Field: "time.base", Reason: fmt.Sprintf("no channel is read from %s", id), Remedy: "name one of " + strings.Join(names, ", ")}
		}
	}
	p.config.Base = base
	p.gap = cmp.Or(int64(p.m.Time.MaxGap), max(timebase.Pausing*p.tracks[base].usual, 1e6))
	return nil
}

// alignInputs has the clock of a topic that holds only inputs be off where its messages seem to
// be under way for long: a command is stamped where it is given, and not behind a sensor
// and what evaluates it.
func (p *plan) alignInputs(files []*survey) {
	for t := range p.tracks {
		if slices.ContainsFunc(p.outputs, func(o output) bool { return p.config.Signals[o.signal].Track == t && o.role != channel.Input }) {
			continue
		}
		for _, f := range files {
			c := f.find(p.tracks[t].id)
			i := slices.IndexFunc(f.times.Clocks(), func(k timebase.Clock) bool {
				return c != nil && k.Sender == c.Topic.Clock && k.Same && k.Offset > notable
			})
			shared := slices.ContainsFunc(p.tracks, func(o track) bool {
				x := f.find(o.id)
				return x != nil && x != c && c != nil && x.Topic.Clock == c.Topic.Clock
			})
			if i >= 0 && !shared {
				f.times.Align(c.Topic.Clock)
			}
		}
	}
}

// bindNear has a state that comes more slowly than the rows count as measured only in the
// rows next to its messages.
func (p *plan) bindNear() {
	near := max(1, int64(nearSteps*float64(p.tracks[p.config.Base].step)))
	for i := range p.outputs {
		o := &p.outputs[i]
		s := &p.config.Signals[o.signal]
		if o.role == channel.State && s.Track != p.config.Base {
			s.Near = near
		}
	}
}

// bindPhases finds the phases that all files report. A phase is one of several ways in which
// logs tell it: that one is not there is said where none is.
func (p *plan) bindPhases(files []*survey) {
	var absent []string
	for i := range p.m.Phases {
		ph := &p.m.Phases[i]
		id, reason := find(&Source{Topic: ph.Topic, Instance: ph.Instance}, []string{ph.Field}, files)
		if reason != "" {
			absent = append(absent, reason)
			continue
		}
		n := phase{Phase: ph, topic: p.track(id, files)}
		n.column = p.column(n.topic, ph.Field)
		for _, f := range files {
			in, known := f.first[phaseKey{i, id}]
			if !known {
				p.leftOut.add("phase", Warning, id.String(), "no row is left out by %s of %s: it never reports the phase in %s", ph.Field, ph.Topic, f.base())
			}
			n.known = append(n.known, known)
			// A state was what it first was; before an event that ends the phase the robot
			// was in it. A field that never reports it cuts nothing.
			events := len(ph.Begins) > 0
			n.begin = append(n.begin, zeroOrOne(!known || in != events))
		}
		p.phases = append(p.phases, n)
	}
	if len(p.phases) == 0 && len(absent) > 0 {
		p.leftOut.add("phase", Warning, "", "no row is left out as on the ground: %s", strings.Join(absent, "; "))
	}
	// Their tracks come behind those of the topics, which are all known now, and those of the primaries.
	for i := range p.phases {
		ph := &p.phases[i]
		ph.track = len(p.tracks) + len(p.m.Primaries) + i
		ph.at = p.signal(timebase.Signal{Track: ph.track, At: []int{0}, How: timebase.Hold}, "")
	}
}
