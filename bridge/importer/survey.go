package importer

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

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
	chosen   []string // topics, of several of one type
	problems []telemetry.Problem
	times    timebase.Model
	unit     int64             // ns, of the times of recording
	apart    []int             // topics by Seq whose stamps are on a clock of their own, as they jump alone
	first    map[phaseKey]bool // the first known value of each phase
	moves    map[topicID]bool  // topics in which a field that a channel could be read from has more than one value
	ids      []topicID         // of the topics, by Seq

	varies []topicField // fields that a channel could be read from and that have more than one value

	history  *history
	flights  []span               // the parts in all phases of the map
	settings map[string][]float64 // of the robot: the values, each once, that they have in flight
	texts    []string             // of the robot, the first maxSaid
	kinds    map[int]float64      // by refusal of the map: the first value of its field
	cores    map[int][]change     // by primary of the map: what its field first is, and where it changes
	numbers  numberings           // that senders may have
	senders  []string             // numbers and texts by which they are distinguished, beside those that always do
}

// topicField is a field of a topic.
type topicField struct {
	id   topicID
	path string
}

// maxSaid is how many texts of the robot show what it is.
const maxSaid = 200

// nearlyAll is the share of the messages of a topic with which one sender stands for it.
const nearlyAll = 0.95

// identify names the topics: by their senders where several have one name. One stands for the
// topic and has no name of a sender: the one that the map selects, or that sends nearly all. Nodes that follow each other are one.
func (f *survey) identify(counts []*telemetry.Count, m *Map) {
	f.counts = counts
	before := successors(counts, m.senders())
	all, own, selected, taken := map[topicID]int{}, map[*telemetry.Count]int{}, map[topicID]int{}, map[topicID]bool{}
	plain := func(t *telemetry.Topic) topicID { return topicID{t.Name, t.Instance, ""} }
	selects := func(t *telemetry.Topic) bool { return len(m.Where) > 0 && m.Where.selects(t) }
	for _, c := range counts {
		id, first := plain(c.Topic), cmp.Or(before[c], c)
		all[id] += c.N
		if own[first] += c.N; first == c && selects(c.Topic) {
			selected[id]++
		}
	}
	for _, c := range counts {
		id := plain(c.Topic)
		stands := float64(own[c]) >= nearlyAll*float64(all[id])
		if selected[id] == 1 {
			stands = selects(c.Topic)
		}
		if before[c] == nil && !stands {
			id.sender = cmp.Or(c.Topic.SenderName(), fmt.Sprint("sender ", c.Topic.Seq))
			if taken[id] {
				id.sender += fmt.Sprint(", sender ", c.Topic.Seq)
			}
			taken[id] = true
		}
		for i := range m.Primaries {
			if _, there := f.cores[i]; there && slices.Contains(m.Primaries[i].Topics, id.name) {
				id.instance = 0
			}
		}
		for c.Topic.Seq >= len(f.ids) {
			f.ids = append(f.ids, topicID{})
		}
		f.ids[c.Topic.Seq] = id
	}
	for c, first := range before {
		f.ids[c.Topic.Seq] = f.ids[first.Topic.Seq]
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

// surveying is the pass that surveys a file of topics.
type surveying struct {
	*survey
	m      *Map
	topics []surveyed // by Seq
}

// surveyed is what a survey reads of one topic.
type surveyed struct {
	phases []int           // of which the first values are
	ranges extrema         // of the values behind these
	ranged []string        // which these are
	rest   []func(float64) // what receives the values behind those
}

// surveyTopics reads a file of topics once, and again where the times of recording are in another unit than ns, or topics that seem
// to have one clock may not.
func surveyTopics(ctx context.Context, m *Map, path string, opener telemetry.Opener, progress func(float64)) (*survey, error) {
	pass := func(unit int64, apart []int) (*survey, error) {
		return surveyOnce(ctx, m, path, opener, unit, apart, progress)
	}
	f, err := pass(1, nil)
	if err != nil {
		return nil, err
	}
	if unit := f.times.Unit(); unit > 1 {
		if f, err = pass(unit, nil); err != nil {
			return nil, err
		}
	}
	doubts := f.times.Doubts()
	if len(doubts) == 0 {
		return f, nil
	}
	each, err := pass(f.unit, slices.Concat(doubts...))
	if err != nil {
		return nil, err
	}
	if alone := each.times.Alone(doubts); len(alone) > 0 {
		return pass(f.unit, alone)
	}
	return f, nil
}

// surveyOnce reads a file of topics whose times of recording are in a unit, ns. The stamps of the topics apart have clocks of their own.
func surveyOnce(ctx context.Context, m *Map, path string, opener telemetry.Opener, unit int64, apart []int, progress func(float64)) (*survey, error) {
	f := &survey{path: path, unit: unit, apart: apart, chosen: m.Topics, first: map[phaseKey]bool{}, moves: map[topicID]bool{}, history: newHistory(), settings: map[string][]float64{}, kinds: map[int]float64{}, cores: map[int][]change{}, numbers: numberings{}}
	pass := &surveying{survey: f, m: m}
	s, err := telemetry.InUnit(opener, unit)(path, telemetry.Wants{Senders: m.senders(), Vehicle: m.vehicle, Select: pass.choose, Parameter: f.history.set, Text: f.say})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	counts, err := telemetry.Survey(ctx, s, progress, pass.add)
	if err != nil {
		return nil, err
	}
	if err := m.giveClocks(f, counts); err != nil {
		return nil, err
	}
	f.times.Finish()
	f.identify(counts, m)
	for _, c := range counts {
		pass.keep(c.Topic)
	}
	f.problems = s.Problems().All()
	for _, name := range m.Topics {
		if !slices.ContainsFunc(counts, func(c *telemetry.Count) bool { return c.Topic.Name == name }) {
			return nil, fmt.Errorf("%s has no topic %s; there are: %s", path, name, strings.Join(namesOf(counts), ", "))
		}
	}
	return f, nil
}

// giveClocks sets the offsets that the map knows of the clocks of a file's topics.
func (m *Map) giveClocks(f *survey, counts []*telemetry.Count) error {
	for i := range m.Clocks {
		s := &m.Clocks[i]
		var own []timebase.Sender
		var there []string
		for _, c := range counts {
			k := c.Topic.Clock
			if text := fmt.Sprint(k); text != "" && !slices.Contains(there, text) {
				there = append(there, text)
			}
			if k.Name == s.Name && (s.Synchronised == nil || *s.Synchronised == k.Synchronised) && !slices.Contains(own, k) {
				own = append(own, k)
			}
		}
		switch len(own) {
		case 0:
			m.said.add("clock", Warning, "", "clock %q of the map is not in %s; there are: %s", s.Name, f.base(), strings.Join(there, ", ")).Remedy = "correct its name"
		case 1:
			f.times.Give(own[0], int64(1e9*s.Offset))
		default:
			return m.wrong("clock", fmt.Sprintf("clock %q of %s is two: some stamps count since 1970, others do not", s.Name, f.base()), "write synchronised = true or false beside its name")
		}
	}
	return nil
}

// choose returns the fields that the pass reads of a topic, and notes what each is for.
func (p *surveying) choose(t *telemetry.Topic) (paths []string) {
	for t.Seq >= len(p.topics) {
		p.topics = append(p.topics, surveyed{})
	}
	if slices.Contains(p.apart, t.Seq) {
		t.Clock.Name += " of " + t.Name
	}
	x := &p.topics[t.Seq]
	for i := range p.m.Phases {
		if p.m.Phases[i].reads(t) {
			x.phases = append(x.phases, i)
			paths = append(paths, p.m.Phases[i].Field)
		}
	}
	for _, path := range p.m.candidates(t) {
		paths = append(paths, path)
		x.ranges.grow()
		x.ranged = append(x.ranged, path)
	}
	fields, receivers := p.firsts(p.m, t)
	paths, x.rest = append(paths, fields...), receivers
	if p.m.drivesOrMoves(t) {
		fields, receivers = p.numbers.of(t)
		paths, x.rest = append(paths, fields...), append(x.rest, receivers...)
	}
	return paths
}

// add takes the values and the times of a message in.
func (p *surveying) add(msg *telemetry.Message) {
	p.history.message(msg, int64(p.m.Time.From), int64(p.m.Time.To))
	if len(msg.Values) > 0 {
		x := &p.topics[msg.Topic.Seq]
		p.addPhases(x.phases, msg)
		behind := msg.Values[len(x.phases):]
		x.ranges.add(behind[:len(x.ranges.low)])
		for i, receive := range x.rest {
			receive(behind[len(x.ranges.low)+i])
		}
	}
	p.times.Add(msg.Topic.Seq, msg.Topic.Clock, msg.Stamped, msg.Time, msg.Logged)
	p.history.n++
}

// keep puts into the survey which fields of a topic vary and what it first said of phases,
// under the name that the topic has when all are known.
func (p *surveying) keep(t *telemetry.Topic) {
	x, id := &p.topics[t.Seq], p.id(t)
	for i, path := range x.ranged {
		if x.ranges.varies(i) {
			p.varies = append(p.varies, topicField{id, path})
		}
		p.moves[id] = p.moves[id] || x.ranges.varies(i) && !p.m.onlyBeyond(path)
	}
	for _, i := range x.phases {
		if turns := p.history.phases[[2]int{i, t.Seq}]; len(turns) > 0 {
			p.first[phaseKey{i, id}] = turns[0].in
		}
	}
}

// say keeps a text of the robot.
func (f *survey) say(_ int64, text string) {
	if len(f.texts) < maxSaid {
		f.texts = append(f.texts, text)
	}
}

// firsts returns fields of a topic of which the first values show what the robot is, or which say
// what instance counts, and what receives their values.
func (f *survey) firsts(m *Map, t *telemetry.Topic) (paths []string, receivers []func(float64)) {
	add := func(path string, receive func(float64)) {
		paths, receivers = append(paths, path), append(receivers, receive)
	}
	for i := range m.Refusals {
		if r := &m.Refusals[i]; r.reads(t) {
			add(r.Field, func(v float64) {
				if _, known := f.kinds[i]; !known && !math.IsNaN(v) {
					f.kinds[i] = v
				}
			})
		}
	}
	for i := range m.Primaries {
		if p := &m.Primaries[i]; p.Topic == t.Name && t.Check(p.Field) == nil {
			add(p.Field, func(v float64) { f.cores[i] = f.history.change(f.cores[i], v) })
		}
	}
	return paths, receivers
}

// surveyTable reads the columns of a table and none of its rows.
func surveyTable(in input, open telemetry.Opener) (*survey, error) {
	f := &survey{path: in.path}
	s, err := open(in.path, telemetry.Wants{Select: func(t *telemetry.Topic) []string {
		f.identify([]*telemetry.Count{{Topic: t}}, &Map{})
		return nil
	}})
	if err != nil {
		return nil, err
	}
	return f, s.Close()
}

// candidates returns the fields of a topic that channels could be read from, where
// the map leaves the instance, or one of several sources, open, and of the outputs behind them.
func (m *Map) candidates(t *telemetry.Topic) (paths []string) {
	for i := range m.Channels {
		for _, s := range m.Channels[i].sources() {
			var all []string
			typed := s.Type != "" && s.Type == t.Kind
			switch {
			case s.Instance == nil && (s.Topic == t.Name || typed && len(m.Channels[i].Or) > 0):
				all = append(s.paths(), s.beyond()...)
			case s.Topic == t.Name || typed:
				all = s.beyond()
			}
			for _, p := range all {
				if t.Check(p) == nil && !slices.Contains(paths, p) {
					paths = append(paths, p)
				}
			}
		}
	}
	return paths
}

// addPhases keeps what a message reports about phases, of which its first values are.
func (p *surveying) addPhases(phases []int, msg *telemetry.Message) {
	for k, i := range phases {
		if in, ok := p.m.Phases[i].decide(msg.Values[k]); ok {
			key := [2]int{i, msg.Topic.Seq}
			p.history.phases[key] = p.history.report(p.history.phases[key], in)
		}
	}
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

// reads reports whether the kind of a vehicle could be read from a topic.
func (r *Refusal) reads(t *telemetry.Topic) bool {
	return r.Topic == t.Name && (r.Instance == nil || *r.Instance == t.Instance) && t.Check(r.Field) == nil
}

// namesOf returns the names of topics, each once.
func namesOf(all []*telemetry.Count) (names []string) {
	for _, c := range all {
		names = append(names, c.Topic.Name)
	}
	return slices.Compact(names)
}
