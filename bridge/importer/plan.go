package importer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/bridge/timebase"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// plan is a map that has been found in the logs: which fields are read, how they
// are joined, and what is made of them.
type plan struct {
	m        *Map
	sources  []*Source // of the map's channels; nil: left out
	absent   []string  // of the map's channels: why it is left out
	read     []int     // of the map's channels: the track that each is read from
	tracks   []track
	phases   []phase
	valid    []validity
	resets   []reset
	held     []int         // of a table, by state made: rows for which it is held; nil = not known
	fills    [][][]float64 // by track and column: numbers that stand for what was not measured; nil = not known
	config   timebase.Config
	outputs  []output
	header   []channel.Channel
	declared map[string]declaration // of the channels in header
	signals  []string               // channels of the signals, for messages; "" = none
	leftOut  remarks
	shared   map[string][]string // topics that have other senders, by what is said of these
	unknown  remarks             // about channels that are left out, for their values are never valid
	gap      int64               // ns, a longer gap of the base begins a segment
	rewired  []rewiring          // in the order of the files and their messages

	keep *perRole[[]int] // the channels that are left of those made; nil = all
}

// declaration is what the map declares of a channel for the pass that learns.
type declaration struct {
	derivative string // a channel, "none" or ""
	varies     bool   // it is left out where it has one value throughout
}

// perRole holds a T for states, inputs and others.
type perRole[T any] [3]T

// of returns the T of a role.
func (p *perRole[T]) of(role channel.Role) *T {
	return &p[slices.Index([]channel.Role{channel.State, channel.Input, channel.Aux}, role)]
}

// track is a topic of which fields are read.
type track struct {
	id    topicID
	step  int64    // ns, the median of its steps
	usual int64    // ns, the step that three of four messages do not exceed
	rate  float64  // Hz
	paths []string // fields
}

// rewiring puts values of a track's columns into others, in a file from a message on.
type rewiring struct {
	wiring
	track  int
	to, of []int
}

// phase is a phase of the map whose topic is in the logs. It has a track of its
// own, of one value: 1 in the phase, 0 not.
type phase struct {
	*Phase
	topic  int       // track of its topic
	track  int       // its own
	at     int       // index of its value in a row
	column int       // which value of its topic's track
	known  []bool    // of each file: it is reported
	begin  []float64 // of each file: what it was before it was first reported
}

// track returns the number of the track of a topic.
func (p *plan) track(id topicID, files []*survey) int {
	if i := p.trackOf(id); i >= 0 {
		return i
	}
	t := track{id: id}
	for _, f := range files {
		c := f.find(id)
		step, usual, rate := c.Step(), c.UsualStep(), c.Rate()
		if own := f.times.Of(c.Topic.Seq); own.Unused || own.Coarse > 0 || own.Standing > 0 || own.Unordered {
			step, usual, rate = own.Step, own.Step, own.Rate
		}
		t.step, t.usual = max(t.step, step), max(t.usual, usual)
		t.rate = max(t.rate, rate)
	}
	p.tracks = append(p.tracks, t)
	return len(p.tracks) - 1
}

// trackOf returns the track of a topic, or −1.
func (p *plan) trackOf(id topicID) int {
	return slices.IndexFunc(p.tracks, func(t track) bool { return t.id == id })
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

// signal adds one and returns the index of its first value in a row.
func (p *plan) signal(s timebase.Signal, what string) int {
	at := 0
	for _, o := range p.config.Signals {
		at += len(o.At)
	}
	p.config.Signals = append(p.config.Signals, s)
	p.signals = append(p.signals, what)
	return at
}

// paths returns the fields that are read of a topic of a file.
func (p *plan) paths(f *survey, t *telemetry.Topic) []string {
	if i := p.trackOf(f.id(t)); i >= 0 {
		return p.tracks[i].paths
	}
	return nil
}

// leaveOut leaves the channels out of the header that the map wants only where they
// vary and that have one value or none, and those that are never valid, and returns their
// names.
func (p *plan) leaveOut(ranges *perRole[extrema]) (still, empty, unknown []string) {
	gone := map[string]bool{}
	made := perRole[int]{}
	for _, c := range p.header {
		i := *made.of(c.Role)
		*made.of(c.Role)++
		switch r := ranges.of(c.Role); {
		case p.judged(c.Name) && r.low[i] > r.high[i]:
			unknown = append(unknown, c.Name)
		case p.declared[c.Name].varies && r.low[i] > r.high[i]:
			empty = append(empty, c.Name)
		case p.declared[c.Name].varies && !r.varies(i):
			still = append(still, c.Name)
		default:
			continue
		}
		gone[c.Name] = true
	}
	left := func(c channel.Channel) bool { return c.Role == channel.State && !gone[c.Name] }
	if !slices.ContainsFunc(p.header, left) && len(unknown) == 0 { // where no state varies, those that are measured stay
		for _, name := range still {
			delete(gone, name)
		}
		still = nil
		if !slices.ContainsFunc(p.header, left) {
			return nil, nil, nil
		}
	}
	if len(gone) > 0 {
		p.drop(gone)
	}
	return still, empty, unknown
}

// idle reports inputs of which each that is measured has one value throughout.
func (p *plan) idle(ranges *extrema) {
	var names []string
	for i, c := range channel.Select(p.header, channel.Input) {
		switch {
		case ranges.varies(i):
			return
		case ranges.low[i] == ranges.high[i]:
			names = append(names, fmt.Sprintf("%s (%.6g)", c.Name, ranges.low[i]))
		}
	}
	if len(names) > 0 {
		p.leftOut.add("inputs-idle", Warning, "", "no input changes: %s throughout; how the robot answers to one is not learned", strings.Join(names, ", ")).Remedy = "if something drives the robot, record that, and name it in a map"
	}
}

// drop leaves channels out.
func (p *plan) drop(gone map[string]bool) {
	var keep perRole[[]int]
	var header []channel.Channel
	made := perRole[int]{}
	for _, c := range p.header {
		i := *made.of(c.Role)
		*made.of(c.Role)++
		if !gone[c.Name] {
			*keep.of(c.Role) = append(*keep.of(c.Role), i)
			header = append(header, c)
		}
	}
	p.keep, p.header = &keep, header
	p.dropDerivatives()
}

// judged reports whether a condition is about a channel.
func (p *plan) judged(name string) bool {
	return slices.ContainsFunc(p.valid, func(v validity) bool { return slices.Contains(v.names, name) })
}

// dropDerivatives forgets derivatives that are left out.
func (p *plan) dropDerivatives() {
	for i := range p.header {
		if d := p.header[i].Derivative; d != "" && channel.Index(p.header, d) < 0 {
			p.header[i].Derivative = ""
		}
	}
}

// kept returns the values that are left of those made, in place.
func (p *plan) kept(values perRole[[]float64]) perRole[[]float64] {
	if p.keep == nil {
		return values
	}
	for i, x := range values {
		for to, from := range p.keep[i] {
			x[to] = x[from]
		}
		values[i] = x[:len(p.keep[i])]
	}
	return values
}
