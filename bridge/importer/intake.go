package importer

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/bridge/timebase"
)

// intake brings the messages of one file to the rowMaker on one clock, in the order of
// their times where they are not stored in it, and divided where a clock was set.
type intake struct {
	*timebase.Timeline
	r      *rowMaker
	file   *survey
	sorter *timebase.Sorter // nil: they come in order
	topics []topicTrack     // by Seq
	tracks []stamps         // by track
	cores  []core
	epoch  int
	parts  int // of a joined table so far
	n      int // messages so far
}

// topicTrack is the track of a topic of a file.
type topicTrack struct {
	known bool
	track int // −1 = none
	core  int // by which its instances count, −1 = none
}

// core is a primary of the map in a file.
type core struct {
	*Primary
	now  float64  // the instance that counts
	next []change // to others
	own  int      // the track of its changes
}

// stamps is the last stamp of a track, and what came with it.
type stamps struct {
	step   int64 // ns, between messages that have one stamp; 0 = they are repetitions
	unused bool  // stamps do not count
	last   int64
	at     int64 // ns, the time of the first message with this stamp
	run    int64 // messages with this stamp
	values []float64
}

// timeline returns the intake of a file.
func (r *rowMaker) timeline(f *survey) *intake {
	p := r.plan
	in := &intake{r: r, file: f, tracks: make([]stamps, len(p.tracks))}
	base, used := -1, []int(nil)
	for i := range p.tracks {
		for _, c := range f.counts {
			if f.id(c.Topic) != p.tracks[i].id {
				continue
			}
			if used = append(used, c.Topic.Seq); i == p.config.Base && base < 0 {
				base = c.Topic.Seq
			}
		}
	}
	for i := range p.m.Primaries {
		if all := f.cores[i]; len(all) > 0 {
			in.cores = append(in.cores, core{&p.m.Primaries[i], all[0].value, all[1:], len(p.tracks) + i})
		}
	}
	in.Timeline = f.times.Timeline(base, used)
	for i := range p.tracks {
		if c := f.find(p.tracks[i].id); c != nil {
			in.tracks[i].step, in.tracks[i].unused = in.Step(c.Topic.Seq), f.times.Of(c.Topic.Seq).Unused
		}
	}
	if in.Sorted {
		in.sorter = timebase.NewSorter(p.config.Widths)
	}
	return in
}

// message takes a message of a topic.
func (in *intake) message(m *telemetry.Message) error {
	in.n++
	epoch, t, ok := in.Place(m.Topic.Seq, m.Stamped, m.Time, m.Logged)
	if m.Row != nil && m.Row.Begins {
		if in.parts++; in.sorter == nil {
			if err := in.r.begin(); err != nil {
				return err
			}
			in.r.row.name = m.Row.Segment
		}
	}
	epoch += in.parts
	for m.Topic.Seq >= len(in.topics) {
		in.topics = append(in.topics, topicTrack{})
	}
	tr := &in.topics[m.Topic.Seq]
	if !tr.known {
		*tr = topicTrack{known: true, track: in.r.plan.trackOf(in.file.id(m.Topic))}
		tr.core = slices.IndexFunc(in.cores, func(c core) bool { return slices.Contains(c.Topics, m.Topic.Name) })
	}
	counts := tr.track >= 0
	if counts && tr.core >= 0 {
		c := &in.cores[tr.core]
		if ok && c.changes(in.n-1, m.Logged) {
			in.r.counts.switches++
			if err := in.add(epoch, t, c.own, []float64{c.now}); err != nil {
				return err
			}
		}
		counts = float64(m.Topic.Instance) == c.now
	}
	switch {
	case !counts:
		return nil
	case !ok:
		in.r.counts.untimed++
		return nil
	}
	if t, ok = in.tracks[tr.track].spread(t, m); !ok {
		in.r.counts.repeated++
		return nil
	}
	values := m.Values
	if len(in.r.plan.rewired) > 0 {
		values = in.r.rewire(in.n-1, tr.track, values)
	}
	return in.add(epoch, t, tr.track, values)
}

// add hands on a message of a track, by the sorter where messages do not come in order.
func (in *intake) add(epoch int, t int64, track int, values []float64) error {
	if in.sorter == nil {
		return in.r.add(track, t, values)
	}
	return in.sorter.Add(timebase.Sample{Epoch: epoch, Time: t, Track: track, Values: values})
}

const (
	cycle     = 100 // messages, in which the records of one time are at most
	cycleTime = 1e9 // ns, from which on they are of another time
)

// changes reports whether another instance counts from a message with a number and a time on: the
// record that says so may come behind others of the same time, which are none of before a restart.
func (c *core) changes(n int, logged int64) bool {
	if len(c.next) == 0 {
		return false
	}
	if x := &c.next[0]; n < x.at && (n < x.at-cycle || logged < x.logged || logged > x.logged+cycleTime) {
		return false
	}
	c.now, c.next = c.next[0].value, c.next[1:]
	return true
}

// spread returns the time of a message, which is t but for one whose stamp is that of the one
// before, where stamps are coarse. ok is false where it repeats that one.
func (s *stamps) spread(t int64, m *telemetry.Message) (at int64, ok bool) {
	if s.unused || !m.Stamped && s.step == 0 {
		return t, true
	}
	if m.Time != s.last || s.values == nil {
		s.last, s.at, s.run, s.values = m.Time, t, 0, append(s.values[:0], m.Values...)
		return t, true
	}
	again := slices.EqualFunc(s.values, m.Values, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
	copy(s.values, m.Values)
	switch {
	case t == s.at && s.step == 0:
		return t, true
	case again:
		return t, false
	case t != s.at: // the clock of the stamps stands still
		return t, true
	}
	s.run++
	return t + s.run*s.step, true
}

// finish makes the rows of what was sorted.
func (in *intake) finish() error {
	if in.sorter == nil {
		return nil
	}
	return in.sorter.Each(func(x *timebase.Sample) error {
		if x.Epoch != in.epoch {
			in.epoch = x.Epoch
			if err := in.r.begin(); err != nil {
				return err
			}
			if in.Restarts(x.Epoch - in.parts) {
				in.r.forget()
			}
		}
		return in.r.add(x.Track, x.Time, x.Values)
	})
}

// close removes what was sorted.
func (in *intake) close() {
	if in.sorter != nil {
		_ = in.sorter.Close() // temporary files
	}
}
