package csv

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Group is columns that are filled in the same rows: a topic of a table.
type Group struct {
	File    string // (optional) part of the name of the file that has them
	Columns []string
}

// Name is what the topic is called.
func (g Group) Name() string {
	name := strings.Join(g.Columns, ", ")
	if g.File != "" {
		name = g.File + ": " + name
	}
	return name
}

// in reports whether a group is in a table.
func (g Group) in(t *table) bool {
	return strings.Contains(filepath.Base(t.path), g.File) && !slices.ContainsFunc(g.Columns, func(c string) bool { return t.check(c) != nil })
}

// Joined reads tables as topics: the rows in which all columns of a group are filled are its
// messages. Files follow each other; what is in them may be of the same time.
type Joined struct {
	paths  []string
	wants  telemetry.Wants
	cfg    Config
	groups []Group

	r      *Reader
	done   int64 // bytes of the files before
	ended  <-chan struct{}
	size   int64
	here   []part // of the file that is open
	seq    int
	topics map[string]*joinedTopic
	cells  []string
	t      int64
	next   int // part
	msg    telemetry.Message
	row    telemetry.Row
}

// joinedTopic is the topic that a group is in all files.
type joinedTopic struct {
	telemetry.Topic
	paths []string // the columns of it that are wanted
	spans []span   // of the files that were read before
}

// span is from when to when, ns, a file has rows of a topic.
type span struct {
	file        string
	first, last int64
}

// add extends a span to a time.
func (s *span) add(t int64) {
	if s.file == "" {
		s.first, s.last = t, t
	}
	s.first, s.last = min(s.first, t), max(s.last, t)
}

// part is a group in the file that is open.
type part struct {
	Group
	topic  *joinedTopic // nil before its first row
	at     []int        // its columns
	wanted []int
	span   span
}

var _ telemetry.Source = (*Joined)(nil)

// OpenJoined opens tables.
func OpenJoined(paths []string, wants telemetry.Wants, cfg Config, groups []Group) (*Joined, error) {
	// A row of another topic may have the time of the one before.
	cfg.Columns, cfg.OnDuplicate, cfg.OnBackwards, cfg.AnyRate, cfg.MaxGap = nil, Keep, Keep, true, 0
	j := &Joined{paths: paths, wants: wants, cfg: cfg, groups: groups, topics: map[string]*joinedTopic{}}
	return j, j.open()
}

// open opens the next file.
func (j *Joined) open() error {
	for _, p := range j.here {
		if p.span.file != "" {
			p.topic.spans = append(p.topic.spans, p.span)
		}
	}
	r, err := Open(j.paths[0], telemetry.Wants{}, j.cfg)
	if err != nil {
		return err
	}
	if j.ended != nil {
		r.Until(j.ended)
	}
	j.r, j.paths, j.here, j.cells = r, j.paths[1:], j.here[:0], nil
	j.size = max(j.size, j.done+r.Size())
	for _, g := range j.groups {
		if !g.in(r.table) {
			continue
		}
		p := part{Group: g, topic: j.topics[g.Name()]}
		for _, c := range g.Columns {
			p.at = append(p.at, r.index(c))
		}
		if p.topic != nil {
			p.want(r)
		}
		j.here = append(j.here, p)
	}
	return nil
}

// Next returns the next message of any group, or io.EOF.
func (j *Joined) Next() (*telemetry.Message, error) {
	for {
		for j.cells != nil && j.next < len(j.here) {
			j.next++
			if m, err := j.message(j.next - 1); m != nil || err != nil {
				return m, err
			}
		}
		cells, t, err := j.r.kept()
		if errors.Is(err, io.EOF) && len(j.paths) > 0 {
			j.done += j.r.Size()
			if err := errors.Join(j.r.Close(), j.open()); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		j.cells, j.t, j.next = cells, t, 0
		// Files of one call are of one recording.
		begins := j.r.row.Begins && (j.seq == 0 || len(j.cfg.SegmentColumn) > 0)
		j.row = telemetry.Row{Segment: j.r.row.Segment, Line: j.r.line, Begins: j.row.Begins || begins}
	}
}

// message returns the message of a part in the row at hand, nil where there is none.
func (j *Joined) message(k int) (*telemetry.Message, error) {
	p := &j.here[k]
	if slices.ContainsFunc(p.at, func(i int) bool { return missing(j.r.point(j.cells[i])) }) {
		return nil, nil
	}
	if p.topic == nil {
		if err := j.begin(p); err != nil {
			return nil, err
		}
	}
	if err := j.apart(p); err != nil {
		return nil, err
	}
	j.msg = telemetry.Message{Topic: &p.topic.Topic, Time: j.t, Logged: j.t, Values: j.msg.Values[:0], Row: &telemetry.Row{Segment: j.row.Segment, Begins: j.row.Begins, Line: j.row.Line}}
	j.row.Begins = false
	for _, i := range p.wanted {
		v, err := j.r.number(j.r.columns[i], j.cells[i], 0)
		if err != nil {
			return nil, err
		}
		j.msg.Values = append(j.msg.Values, v)
	}
	return &j.msg, nil
}

// begin makes the topic of a part and asks which of its columns are wanted: once, though several
// files have them.
func (j *Joined) begin(p *part) error {
	g := p.Group
	fields := make([]telemetry.Field, len(g.Columns))
	for i, c := range g.Columns {
		fields[i].Path = c
	}
	p.topic = &joinedTopic{Topic: telemetry.Topic{
		Name: g.Name(), Seq: j.seq, Fields: func() []telemetry.Field { return fields },
		Check: func(path string) error {
			if !slices.Contains(g.Columns, path) {
				return errors.New("it is of another topic")
			}
			return nil
		},
	}}
	j.topics[g.Name()] = p.topic
	j.seq++
	p.topic.paths = slices.Clone(j.wants.Paths(&p.topic.Topic))
	for _, path := range p.topic.paths {
		if err := p.topic.Check(path); err != nil {
			return telemetry.NewFieldError(j.r.path, &p.topic.Topic, path, err.Error())
		}
	}
	p.want(j.r)
	return nil
}

// want finds the wanted columns of a part in a file.
func (p *part) want(r *Reader) {
	for _, path := range p.topic.paths {
		p.wanted = append(p.wanted, r.index(path))
	}
}

// apart returns an error where the row at hand is of the time of another file with the same
// columns: rows of two recordings would take turns.
func (j *Joined) apart(p *part) error {
	p.span.add(j.t)
	p.span.file = j.r.path
	for _, s := range p.topic.spans {
		if p.span.first < s.last && p.span.last > s.first && len(j.cfg.SegmentColumn) == 0 {
			return j.r.fail(j.r.line, "column "+quote(p.Columns[0]), fmt.Sprintf("its time, %s, is among those of %s, which has the same columns", seconds(j.t), filepath.Base(s.file)),
				"these are two recordings: import the tables of each by themselves")
		}
	}
	return nil
}

// Problems returns nothing: what cannot be read of a table is an error.
func (j *Joined) Problems() *telemetry.Problems { return &telemetry.Problems{} }

// Consumed returns the bytes that were read.
func (j *Joined) Consumed() int64 { return j.done + j.r.Consumed() }

// Size returns the bytes of the files that were opened.
func (j *Joined) Size() int64 { return j.size }

// Until ends the reading once done is closed.
func (j *Joined) Until(done <-chan struct{}) {
	j.ended = done
	j.r.Until(done)
}

// Close closes the file that is open.
func (j *Joined) Close() error { return j.r.Close() }

// sparseRows is how many rows are looked at, and complete the share of them that are filled
// in a table which is not joined.
const sparseRows, complete = 5000, 0.1

// Sparse reports whether the groups of a table are filled in rows of their own: hardly any row
// has them all, and no group is filled in nearly all rows. A table that cannot be read is not
// sparse: reading it returns why.
func Sparse(path string, groups []Group, open Opener) bool {
	t, err := openTable(path, nil, open)
	if err != nil {
		return false
	}
	defer t.Close()
	var at [][]int
	for _, g := range groups {
		if g.in(t) {
			columns := make([]int, len(g.Columns))
			for i, c := range g.Columns {
				columns[i] = t.index(c)
			}
			at = append(at, columns)
		}
	}
	filled := make([]int, len(at))
	rows, whole := 0, 0
	for ; rows < sparseRows; rows++ {
		cells, err := t.next()
		if err != nil {
			break
		}
		n := 0
		for i, columns := range at {
			if !slices.ContainsFunc(columns, func(k int) bool { return missing(t.point(cells[k])) }) {
				filled[i]++
				n++
			}
		}
		if n == len(at) {
			whole++
		}
	}
	used := 0
	for _, n := range filled {
		if float64(n) > (1-complete)*float64(rows) {
			return false
		}
		if n*len(at) > rows/10 {
			used++
		}
	}
	return used > 1 && float64(whole) < complete*float64(rows)
}
