package importer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/frames"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/bridge/timebase"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// topicID names a topic in all files.
type topicID struct {
	name     string
	instance int
}

func (id topicID) String() string {
	return (&telemetry.Topic{Name: id.name, Instance: id.instance}).String()
}

// plan is a map that has been found in the logs: which fields are read, how they
// are joined, and what is made of them.
type plan struct {
	m       *Map
	sources []*Source // of the map's channels; nil: left out
	tracks  []track
	phases  []phase
	config  timebase.Config
	outputs []output
	header  []channel.Channel
	signals []string // what the signals are, for people; "" = nothing to be told
	leftOut []string // sentences
	gap     int64    // ns

	keep map[channel.Role][]int // of each role, the channels that are left of those made; nil = all
}

// track is a topic of which fields are read.
type track struct {
	id    topicID
	step  int64    // ns, the median of its steps
	rate  float64  // Hz
	paths []string // fields
}

// bind finds what the map names in the surveys of all files.
func bind(m *Map, files []*survey) (*plan, error) {
	p := &plan{m: m}
	for i := range m.Channels {
		c := &m.Channels[i]
		s, id, why := choose(c, files)
		if s == nil && !c.Optional {
			return nil, &mapfile.Error{File: m.file, Field: "channel " + strings.Join(c.names(), ", "), Reason: strings.Join(why, "; "),
				Mend: "correct the map, write optional = true, or look at what is there with dgm-bridge topics " + files[0].path}
		}
		p.sources = append(p.sources, s)
		if s == nil {
			p.leftOut = append(p.leftOut, strings.Join(c.names(), ", ")+" left out: "+strings.Join(why, "; "))
			continue
		}
		if err := p.output(c, s, id, files); err != nil {
			return nil, err
		}
	}
	p.header = m.header(p.sources)
	// A derivative that was left out is none.
	for i := range p.header {
		if d := p.header[i].Derivative; d != "" && channel.Index(p.header, d) < 0 {
			p.header[i].Derivative = ""
		}
	}
	if err := channel.Check(p.header); err != nil {
		return nil, &mapfile.Error{File: m.file, Field: "channel", Reason: err.Error() + " of those that are in the log", Mend: "correct the map"}
	}
	if err := p.chooseBase(files); err != nil {
		return nil, err
	}
	p.bindPhases(files)
	for i := range p.tracks {
		p.config.Widths = append(p.config.Widths, len(p.tracks[i].paths))
	}
	for range p.phases {
		p.config.Widths = append(p.config.Widths, 1)
	}
	p.config.Slack = reorder
	for _, s := range p.config.Signals {
		if s.How != timebase.Hold {
			p.config.Slack = max(p.config.Slack, min(s.MaxAge, mostSlack))
		}
	}
	return p, nil
}

const (
	reorder   = 250e6 // ns, how much later than others a message may stand in a log
	mostSlack = 10e9  // ns, how long rows wait for a slow topic
	held      = 1e9   // ns, how long an input is held at least
	ageSteps  = 5     // steps of a topic over which it is interpolated or held
)

// choose returns the first source of a channel that is in all files, or why none
// is.
func choose(c *Channel, files []*survey) (s *Source, id topicID, why []string) {
	all := append([]*Source{&c.Source}, pointers(c.Or)...)
	for _, s := range all {
		id, reason := find(s, s.paths(), files)
		if reason == "" {
			return s, id, nil
		}
		if !slices.Contains(why, reason) {
			why = append(why, reason)
		}
	}
	return nil, topicID{}, why
}

func pointers(all []Source) []*Source {
	out := make([]*Source, len(all))
	for i := range all {
		out[i] = &all[i]
	}
	return out
}

// paths of all fields that a source reads.
func (s *Source) paths() []string {
	all := slices.Concat(s.Fields, s.Quaternion, s.Euler)
	for _, p := range []string{s.Field, s.Times} {
		if p != "" {
			all = append(all, p)
		}
	}
	for i := range all {
		all[i], _ = strings.CutPrefix(all[i], "-")
	}
	return all
}

// find returns the topic that a source names, by its type or with the lowest
// instance whose fields are not one value throughout, that all files have with these fields; else why not.
func find(s *Source, paths []string, files []*survey) (id topicID, reason string) {
	what := "topic " + s.Topic
	if s.Type != "" {
		what = "a topic of type " + s.Type
	}
	if s.Instance != nil {
		what += fmt.Sprintf("#%d", *s.Instance)
	}
	var found []string
	moves := false
	for _, c := range files[0].counts { // they are sorted: the lowest instance comes first
		if (c.Topic.Name == s.Topic || s.Type != "" && c.Topic.Kind == s.Type) && (s.Instance == nil || c.Topic.Instance == *s.Instance) {
			it := topicID{c.Topic.Name, c.Topic.Instance}
			// One that says the same all the time is of a sensor or an output that is
			// not there.
			if found = append(found, c.Topic.Name); len(found) == 1 || !moves && files[0].moves[it] {
				id, moves = it, files[0].moves[it]
			}
		}
	}
	found = slices.Compact(found)
	if len(found) == 0 {
		return id, what + " is not in " + files[0].base()
	}
	if len(found) > 1 {
		return id, fmt.Sprintf("several topics are of type %s: %s; name one as topic", s.Type, strings.Join(found, ", "))
	}
	for _, f := range files {
		c := f.find(id)
		if c == nil {
			return id, fmt.Sprintf("topic %s is not in %s", id, f.base())
		}
		for _, p := range paths {
			if err := c.Topic.Check(p); err != nil {
				return id, fmt.Sprintf("topic %s: field %q: %v", id, p, err)
			}
		}
	}
	return id, ""
}

// track returns the number of the track of a topic.
func (p *plan) track(id topicID, files []*survey) int {
	for i := range p.tracks {
		if p.tracks[i].id == id {
			return i
		}
	}
	t := track{id: id}
	for _, f := range files {
		c := f.find(id)
		t.step = max(t.step, c.Step())
		t.rate = max(t.rate, c.Rate())
	}
	p.tracks = append(p.tracks, t)
	return len(p.tracks) - 1
}

// column returns which value of a track a field is.
func (p *plan) column(track int, path string) int {
	t := &p.tracks[track]
	if i := slices.Index(t.paths, path); i >= 0 {
		return i
	}
	t.paths = append(t.paths, path)
	return len(t.paths) - 1
}

// signal adds one and returns where its values stand in a row.
func (p *plan) signal(s timebase.Signal, what string) int {
	at := 0
	for _, o := range p.config.Signals {
		at += len(o.At)
	}
	p.config.Signals = append(p.config.Signals, s)
	p.signals = append(p.signals, what)
	return at
}

// output adds what is made of a source.
func (p *plan) output(c *Channel, s *Source, id topicID, files []*survey) error {
	tr := p.track(id, files)
	how := timebase.Linear
	if c.Between == "hold" || c.Between == "" && c.Role == channel.Input {
		how = timebase.Hold
	} else if c.Between == "exact" {
		how = timebase.Exact
	}
	age := int64(c.MaxAge)
	if age == 0 {
		age = max(ageSteps*p.tracks[tr].step, 1e6)
		if how == timebase.Hold {
			age = max(age, held)
		}
	}
	what := strings.Join(c.names(), ", ")
	o := output{role: c.Role, n: len(c.names()), times: -1, scale: 1, kind: scalars}
	if s.Scale != nil {
		o.scale = *s.Scale
	}
	o.offset = s.Offset
	o.fromWorld, o.fromBody, _ = axes(s.Axes)
	o.toWorld, o.toBody = o.fromWorld, o.fromBody
	if p.m.Frames != "" && s.Axes != "" {
		o.toWorld, o.toBody, _ = axes(p.m.Frames)
	}
	var columns []int
	for _, path := range s.valuePaths() {
		path, negative := strings.CutPrefix(path, "-")
		columns = append(columns, p.column(tr, path))
		o.negative = append(o.negative, negative)
	}
	if len(s.Quaternion) > 0 {
		o.kind = quaternion
		if how == timebase.Linear {
			how = timebase.Rotation
		}
		o.at = p.signal(timebase.Signal{Track: tr, At: columns, How: how, MaxAge: age}, what)
		p.outputs = append(p.outputs, o)
		return nil
	}
	unit := c.Unit
	if len(s.Euler) > 0 {
		o.kind, unit = euler, "rad"
	}
	factor, shift, err := p.unit(s, unit, id, files[0])
	if err != nil {
		return &mapfile.Error{File: p.m.file, Field: "channel " + what, Reason: err.Error(), Mend: "correct unit, or write from = the unit of the field, or scale"}
	}
	o.unitScale, o.unitOffset = factor, shift
	if s.Axes != "" && o.kind == scalars {
		o.kind = vector
	}
	period := c.Period
	if o.kind == euler {
		period = channel.Angle
	}
	if period > 0 && how == timebase.Linear {
		how = timebase.Turning
	}
	sig := timebase.Signal{Track: tr, At: columns, How: how, MaxAge: age}
	if how == timebase.Turning {
		sig.Period = period / (factor * o.scale)
	}
	o.at = p.signal(sig, what)
	if s.Times != "" {
		sig.At, sig.How = []int{p.column(tr, s.Times)}, timebase.Hold
		if how != timebase.Hold {
			sig.How = timebase.Linear
		}
		o.times = p.signal(sig, "")
	}
	p.outputs = append(p.outputs, o)
	return nil
}

// valuePaths are the fields of a source but for the factor.
func (s *Source) valuePaths() []string {
	all := slices.Concat(s.Fields, s.Quaternion, s.Euler)
	if s.Field != "" {
		all = append(all, s.Field)
	}
	return all
}

// unit returns what turns the fields of a source into a unit: from what the map
// says they are in, else what the log says.
func (p *plan) unit(s *Source, to string, id topicID, file *survey) (scale, offset float64, err error) {
	from, said := s.From, "from"
	if from == "" {
		said = "the log"
		for _, f := range file.find(id).Topic.Fields() {
			if f.Path == s.paths()[0] {
				from = f.Unit
			}
		}
	}
	if from == "" || to == "" {
		return 1, 0, nil
	}
	scale, offset, ok := frames.Unit(from, to)
	if !ok && s.From == "" && s.Scale != nil {
		return 1, 0, nil // the map knows better
	}
	if !ok {
		return 0, 0, fmt.Errorf("%s gives the unit %q, which is not turned into %q", said, from, to)
	}
	return scale, offset, nil
}

// chooseBase says which track gives the rows their times.
func (p *plan) chooseBase(files []*survey) error {
	base := -1
	if p.m.Time.Base != "" {
		id, reason := find(&Source{Topic: p.m.Time.Base, Instance: p.m.Time.Instance}, nil, files)
		if reason != "" {
			return &mapfile.Error{File: p.m.file, Field: "time.base", Reason: reason, Mend: "name one of the topics of the channels: " + p.topicNames()}
		}
		for i := range p.tracks {
			if p.tracks[i].id == id {
				base = i
			}
		}
		if base < 0 {
			return &mapfile.Error{File: p.m.file, Field: "time.base", Reason: fmt.Sprintf("no channel is read from %s", id), Mend: "name one of " + p.topicNames()}
		}
	} else {
		for _, i := range p.stateTracks() {
			if base < 0 || p.tracks[i].step > p.tracks[base].step {
				base = i
			}
		}
	}
	p.config.Base = base
	p.gap = int64(p.m.Time.MaxGap)
	if p.gap == 0 {
		p.gap = max(ageSteps*p.tracks[base].step, 1e6)
	}
	return nil
}

// stateTracks are the tracks that hold states, in their order.
func (p *plan) stateTracks() []int {
	var out []int
	n := 0
	for i := range p.m.Channels {
		if p.sources[i] == nil {
			continue
		}
		if tr := p.config.Signals[p.signalOf(n)].Track; p.m.Channels[i].Role == channel.State && !slices.Contains(out, tr) {
			out = append(out, tr)
		}
		n++
	}
	return out
}

// signalOf is the first signal of output n.
func (p *plan) signalOf(n int) int {
	at := 0
	for i, s := range p.config.Signals {
		if at == p.outputs[n].at {
			return i
		}
		at += len(s.At)
	}
	panic("importer: an output without a signal")
}

func (p *plan) topicNames() string {
	var names []string
	for i := range p.tracks {
		names = append(names, p.tracks[i].id.String())
	}
	return strings.Join(names, ", ")
}
