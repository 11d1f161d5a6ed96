package telemetry

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/timebase"
)

// Topic is one kind of message from one origin.
type Topic struct {
	Name     string
	Instance int             // several sensors of a kind, or several senders, have one name
	Seq      int             // counts the topics of a source, from 0 in the order of their first messages
	Kind     string          // (optional) type of its messages, such as nav_msgs/msg/Odometry
	Clock    timebase.Sender // whose clock the stamps count. Stamps of one clock can be compared

	// Sender is what the messages themselves, or the log, say of who sent them: several publishers
	// of one name are topics with different senders. (optional)
	Sender []Text

	// Unread is why none of its fields can be read, as an encoding that is not known; nil
	// where they can.
	Unread error

	// Fields lists the numeric fields by their paths, as Wants.Select takes them,
	// in the order of the message. Arrays make it long, so it is made when it is
	// asked for, and cut at MaxFields.
	Fields func() []Field
	// Check returns what is wrong with a path, or nil where it can be read.
	Check func(path string) error
	// Texts returns the texts of an array in the messages so far, such as the names of
	// joints, which a path may have in place of an index, as in position[name=elbow]; nil where a
	// format has none. (optional)
	Texts func(path string) []string
}

// Text is a text in a message.
type Text struct{ Path, Value string }

// SenderName names the sender of a topic, as in "odom, base_link"; "" = it is not known.
func (t *Topic) SenderName() string {
	var all []string
	for _, x := range t.Sender {
		if x.Value != "" {
			all = append(all, x.Value)
		}
	}
	return strings.Join(all, ", ")
}

// MaxFields is how many fields of a topic are listed. A field behind them can
// still be read by its path.
const MaxFields = 4096

// Field is one numeric field.
type Field struct {
	Path  string // such as "q[2]" or "pose.pose.position.x"
	Named string // (optional) the path by names in place of numbers, such as position[name=elbow], where messages name their elements
	Unit  string // as far as it is in the log, else ""
}

// String names the topic, with its instance where that is not the first.
func (t *Topic) String() string {
	if t.Instance == 0 {
		return t.Name
	}
	return fmt.Sprintf("%s#%d", t.Name, t.Instance)
}

// Message is one message. It and its values are valid until the next one.
type Message struct {
	Topic   *Topic
	Time    int64     // ns, when it was measured, by the sensor's stamp, on the topic's clock; or the recorder's, see Stamped
	Stamped bool      // Time is the sender's; else it is when the recorder got it, on the recorder's clock
	Logged  int64     // ns, when the recorder got it, on the recorder's clock
	Values  []float64 // of the fields that were asked for, in that order; NaN = not there
	Row     *Row      // (optional) of a table, whose messages are rows in their order
}

// Row is the place of a message in a table.
type Row struct {
	Segment string // name of the segment
	Begins  bool   // the segment begins here
	Line    int    // of the file, from 1
}

// Wants describes what is read of a log.
type Wants struct {
	// Select is called with each topic at its first message and returns the
	// paths of the fields that are wanted of it; nil = none. (optional)
	Select func(*Topic) []string
	// Parameter receives the settings of the robot, by their names. (optional)
	Parameter func(name string, value float64)
	// Senders are texts in messages by which their senders are distinguished, beside those
	// that a format knows. (optional)
	Senders []string
	// Vehicle is the number of the vehicle that is read, of a log in which senders say it (the text
	// system of a topic's senders): nothing of others is. (optional)
	Vehicle string
	// Text receives the texts of the robot: time on the recorder's clock (ns) and
	// text. (optional)
	Text func(t int64, text string)
}

// Paths returns what is wanted of a topic.
func (w *Wants) Paths(t *Topic) []string {
	if w.Select == nil {
		return nil
	}
	return w.Select(t)
}

// Say hands on a text.
func (w *Wants) Say(t int64, text string) {
	if w.Text != nil {
		w.Text(t, strings.ToValidUTF8(strings.TrimRight(text, "\x00"), "\uFFFD"))
	}
}

// Set hands on a setting.
func (w *Wants) Set(name string, value float64) {
	if w.Parameter != nil && name != "" {
		w.Parameter(name, value)
	}
}

// Opener opens a file of one format.
type Opener func(path string, wants Wants) (Source, error)

// Opens returns the Opener of a format's reader.
func Opens[S Source](open func(string, Wants) (S, error)) Opener {
	return func(path string, wants Wants) (Source, error) {
		s, err := open(path, wants)
		if err != nil {
			return nil, err // and not an interface of a nil reader
		}
		return s, nil
	}
}

// Source is a log that is being read.
type Source interface {
	// Next returns the next message, or io.EOF at the end. A *FieldError reports
	// that a wanted field is not there; other errors come from the file system.
	Next() (*Message, error)
	// Problems returns what could not be read so far.
	Problems() *Problems
	// Consumed returns how many bytes of the file were read, of Size.
	Consumed() int64
	Size() int64
	// Until has reading end, as where the file ends, once done is closed.
	Until(done <-chan struct{})
	Close() error
}

// InUnit returns what opens files whose times of recording are in a unit, ns.
func InUnit(open Opener, unit int64) Opener {
	if unit <= 1 {
		return open
	}
	return func(path string, wants Wants) (Source, error) {
		if say := wants.Text; say != nil {
			wants.Text = func(t int64, text string) { say(t*unit, text) }
		}
		s, err := open(path, wants)
		if err != nil {
			return nil, err
		}
		return &inUnit{Source: s, unit: unit}, nil
	}
}

// inUnit is a log whose times of recording are in a unit, ns.
type inUnit struct {
	Source
	unit int64
	msg  Message
}

// Next returns the next message with its times in ns.
func (s *inUnit) Next() (*Message, error) {
	m, err := s.Source.Next()
	if err != nil {
		return nil, err
	}
	s.msg = *m
	if s.msg.Logged *= s.unit; !m.Stamped {
		s.msg.Time = s.msg.Logged
	}
	return &s.msg, nil
}

// FieldError reports that a topic has no such field.
type FieldError struct {
	File  string
	Topic string
	Path  string
	Why   string  // what is wrong with the path
	There []Field // what there is
}

// Error returns it in one line, with what there is.
func (e *FieldError) Error() string {
	const most = 40
	var names []string
	for _, f := range e.There[:min(len(e.There), most)] {
		names = append(names, cmp.Or(f.Named, f.Path))
	}
	more := ""
	if len(e.There) > most {
		more = fmt.Sprintf(" and %d more", len(e.There)-most)
	}
	return fmt.Sprintf("%s: topic %s: field %q: %s; correct the map, there are: %s%s", e.File, e.Topic, e.Path, e.Why, strings.Join(names, ", "), more)
}

// NewFieldError returns the error for a path that a topic does not have. The
// fields that look most like it come first.
func NewFieldError(file string, t *Topic, path, why string) *FieldError {
	there := slices.Clone(t.Fields())
	plain := func(s string) string { s, _, _ = strings.Cut(strings.ToLower(s), "["); return s }
	like := plain(path)
	rank := func(f Field) int {
		if plain(f.Path) == like {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(there, func(a, b Field) int { return rank(a) - rank(b) })
	return &FieldError{File: file, Topic: t.String(), Path: path, Why: why, There: there}
}

// SplitIndex splits one part of a path, such as "q[2]", into its name and what follows
// the bracket.
func SplitIndex(part string) (name string, index Index) {
	name, tail, ok := strings.Cut(part, "[")
	return name, Index{tail, ok}
}

// Index is the index of a part of a path, as it is written.
type Index struct {
	tail  string // behind the bracket
	given bool
}

// Of returns the index of an element among count of the field with a name; 0 of a field
// that is no array, which has the count 0. The length of an array with the count −1 is
// not known.
func (x Index) Of(name string, count int) (int, error) {
	switch {
	case count > 0 && !x.given:
		return 0, fmt.Errorf("%s is an array of %d: write %s[0]", name, count, name)
	case count < 0 && !x.given:
		return 0, fmt.Errorf("%s is an array: write %s[0]", name, name)
	case count == 0 && x.given:
		return 0, fmt.Errorf("%s is not an array", name)
	case !x.given:
		return 0, nil
	}
	n, err := strconv.ParseUint(strings.TrimSuffix(x.tail, "]"), 10, 24)
	switch {
	case err == nil && strings.HasSuffix(x.tail, "]") && (count < 0 || int(n) < count):
		return int(n), nil
	case count > 0:
		return 0, fmt.Errorf("%s has %d elements, [0] to [%d]", name, count, count-1)
	}
	return 0, fmt.Errorf("%q is not a name with an index, such as %s[3]", name+"["+x.tail, name)
}

// nearWrap is how near to the end of a counter of 32 bits, and behind it, times are that follow each other over it, ns.
const nearWrap = 60e9

// Counter is the time of an autopilot, whose µs may be those of a counter of 32 bits.
type Counter struct {
	Last    int64 // ns, of the record before
	Wrapped int64 // ns, what is added to times of such a counter that has wrapped
}

// round is what a counter of µs in 32 bits counts, ns: 71.6 minutes.
const round = 1000 << 32

// Continued returns a time, ns, that goes on where the counter wraps.
func (c *Counter) Continued(t int64) int64 {
	t += c.Wrapped
	switch d := t - c.Last; {
	case d < -round+nearWrap && d > -round-nearWrap:
		c.Wrapped += round
		t += round
	case c.Wrapped > 0 && d > round-nearWrap && d < round+nearWrap: // a record of before, which comes late
		return t - round
	}
	c.Last = t
	return t
}

// longestSample is how long, in ns, a measurement waits at most before it is sent.
const longestSample = 10e9

// Sampled returns when a message was measured, ns: by its sensor's counter of µs beside the
// time at which it was sent. A counter of 32 bits that wrapped is continued. What is not filled
// in (0), is later, or is far from the time of sending does not count.
func Sampled(sent, sample int64) int64 {
	d := sent - sample
	switch {
	case sample <= 0 || d < 0:
		return sent
	case d <= longestSample:
		return sample
	case d%round <= longestSample:
		return sent - d%round
	}
	return sent
}
