package ardupilot

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/input"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// TextMagic is what a log written as text (.log) begins with.
var TextMagic = []byte("FMT,")

// maxLine bounds a line, in bytes.
const maxLine = 1 << 16

// Text reads a log that ground stations wrote as text: a record each line, its name and its
// values separated by commas. It implements telemetry.Source.
type Text struct {
	*input.File
	path    string
	wants   telemetry.Wants
	report  telemetry.Problems
	lines   *bufio.Reader
	offset  int64
	text    string // of the line at hand
	formats map[string]*textFormat
	byType  map[string]string // names by the numbers of types
	seq     int
	telemetry.Counter
	message telemetry.Message
}

// textFormat is what a line of a name holds.
type textFormat struct {
	columns  []string
	kinds    string
	instance int     // column that numbers instances, −1 = none
	time     int     // column of the time, −1 = none
	scale    float64 // of it, ns
	topics   map[string]*textTopic
}

// textTopic is a topic with the places of its fields.
type textTopic struct {
	topic  *telemetry.Topic
	wanted []int
	values []float64
}

var _ telemetry.Source = (*Text)(nil)

// OpenText opens a log that is written as text.
func OpenText(path string, wants telemetry.Wants) (*Text, error) {
	file, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	r := NewText(path, file, wants)
	r.File = file
	if head, err := r.lines.Peek(len(TextMagic)); err != nil || !bytes.Equal(head, TextMagic) {
		return nil, errors.Join(fmt.Errorf("%s: byte 0: this is no DataFlash log as text: it begins with %q; give a file ending in .log", path, head), file.Close())
	}
	return r, r.lookAhead()
}

// NewText returns a reader of any stream; name is its name in errors.
func NewText(name string, stream io.Reader, wants telemetry.Wants) *Text {
	return &Text{path: name, wants: wants, lines: bufio.NewReaderSize(stream, maxLine), formats: map[string]*textFormat{}, byType: map[string]string{}}
}

// lookAhead reads the formats of the whole file: what numbers instances may be described
// behind the first records.
func (r *Text) lookAhead() error {
	file, err := input.Open(r.path)
	if err != nil {
		return err
	}
	s := NewText(r.path, file, telemetry.Wants{})
	for {
		cells, err := s.line()
		if err != nil {
			break
		}
		s.learn(cells)
	}
	r.formats, r.byType = s.formats, s.byType
	return file.Close()
}

// line returns the cells of the next line.
func (r *Text) line() ([]string, error) {
	for {
		b, err := r.lines.ReadSlice('\n')
		at := r.offset
		r.offset += int64(len(b))
		if errors.Is(err, bufio.ErrBufferFull) {
			r.report.Add(at, "line", "longer than %d bytes", maxLine)
			return nil, io.EOF
		}
		if len(b) == 0 && err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, input.ErrStopped) {
				r.report.Add(at, "file", "cannot be read further: %v", err)
			}
			return nil, io.EOF
		}
		if r.text = strings.TrimSpace(string(b)); r.text != "" {
			cells := strings.Split(r.text, ",")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			return cells, nil
		}
	}
}

// learn keeps a format.
func (r *Text) learn(cells []string) {
	switch {
	case cells[0] == "FMT" && len(cells) >= 5 && len(r.formats) < 256: // type, length, name, kinds, names
		if r.formats[cells[3]] == nil {
			f := &textFormat{columns: slices.Clone(cells[5:]), kinds: cells[4], instance: -1, scale: 1e3, topics: map[string]*textTopic{}}
			if f.time = slices.Index(f.columns, "TimeUS"); f.time < 0 {
				f.time, f.scale = slices.Index(f.columns, "TimeMS"), 1e6
			}
			r.formats[cells[3]] = f
			r.byType[cells[1]] = cells[3]
		}
	case cells[0] == "FMTU" && len(cells) >= 4:
		if f := r.formats[r.byType[cells[2]]]; f != nil && f.instance < 0 {
			f.instance = strings.IndexByte(cells[3], '#')
		}
	}
}

// Next returns the next message of any topic, or io.EOF.
func (r *Text) Next() (*telemetry.Message, error) {
	for {
		at := r.offset
		cells, err := r.line()
		if err != nil {
			return nil, err
		}
		name := cells[0]
		r.learn(cells)
		f := r.formats[name]
		if f != nil && len(cells)-1 > len(f.columns) {
			cells = f.pointed(cells, r.text)
		}
		switch {
		case f == nil:
			r.report.Add(at, telemetry.Clip(name), "has no format")
			continue
		case len(cells)-1 > len(f.columns) && !f.texts():
			r.report.Add(at, name, "%d values for %d fields; numbers may not have decimal commas", len(cells)-1, len(f.columns))
			continue
		case name == "MSG" && len(cells) > 2:
			r.wants.Say(r.Last, strings.Join(cells[2:], ", "))
		case name == "PARM" && len(cells) > 3:
			if v, err := strconv.ParseFloat(cells[3], 64); err == nil {
				r.wants.Set(cells[2], v)
			}
		}
		values := cells[1:]
		if len(values) < len(f.columns) {
			r.report.Add(at, name, "%d values for %d fields", len(values), len(f.columns))
			continue
		}
		m, err := r.read(name, f, values)
		if m != nil || err != nil {
			return m, err
		}
	}
}

// pointed returns the cells of a line that is separated by commas with a blank, and whose numbers have decimal commas, with points; the
// cells as they are of any other line.
func (f *textFormat) pointed(cells []string, text string) []string {
	apart := strings.Split(text, ", ")
	if len(apart)-1 != len(f.columns) {
		return cells
	}
	for i, c := range f.columns {
		if f.check(c) == nil {
			apart[i+1] = strings.Replace(apart[i+1], ",", ".", 1)
		}
	}
	return apart
}

// texts reports whether a line has a text, which may have commas.
func (f *textFormat) texts() bool {
	return slices.ContainsFunc(f.columns, func(c string) bool { return f.check(c) != nil })
}

// read makes a message of the values of a line.
func (r *Text) read(name string, f *textFormat, values []string) (*telemetry.Message, error) {
	number := ""
	if f.instance >= 0 && f.instance < len(f.columns) {
		number = values[f.instance]
	}
	s := f.topics[number]
	if s == nil {
		if len(f.topics) >= 256 {
			return nil, nil
		}
		instance, _ := strconv.Atoi(number)
		s = &textTopic{topic: &telemetry.Topic{Name: name, Instance: max(0, instance), Seq: r.seq, Fields: f.fields, Check: f.check}}
		r.seq++
		for _, path := range r.wants.Paths(s.topic) {
			if err := f.check(path); err != nil {
				return nil, telemetry.NewFieldError(r.path, s.topic, path, err.Error())
			}
			s.wanted = append(s.wanted, slices.Index(f.columns, path))
		}
		s.values = make([]float64, len(s.wanted))
		f.topics[strings.Clone(number)] = s
	}
	logged, stamped := r.Last, false
	if f.time >= 0 {
		switch v, err := strconv.ParseFloat(values[f.time], 64); {
		case err == nil && v*f.scale >= latest:
			logged, stamped = latest, true
		case err == nil && v >= 0:
			logged, stamped = r.Continued(int64(v*f.scale)), true
		}
	}
	for i, k := range s.wanted {
		v, err := strconv.ParseFloat(values[k], 64)
		if err != nil {
			v = math.NaN()
		}
		s.values[i] = v
	}
	r.message = telemetry.Message{Topic: s.topic, Time: logged, Stamped: stamped, Logged: logged, Values: s.values}
	return &r.message, nil
}

// check returns what is wrong with the name of a field.
func (f *textFormat) check(path string) error {
	if i := slices.Index(f.columns, path); i < 0 {
		return fmt.Errorf("there is no %q", path)
	} else if i < len(f.kinds) && sizes[f.kinds[i]] > 0 {
		return fmt.Errorf("%s is text", path)
	}
	return nil
}

// fields lists the numbers of a line.
func (f *textFormat) fields() (out []telemetry.Field) {
	for _, c := range f.columns {
		if f.check(c) == nil {
			out = append(out, telemetry.Field{Path: c})
		}
	}
	return out
}

// Problems returns what could not be read so far.
func (r *Text) Problems() *telemetry.Problems { return &r.report }

// OpenAny opens a log that is binary (.BIN) or text (.log).
func OpenAny(path string, wants telemetry.Wants) (telemetry.Source, error) {
	file, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	head := bytes.Clone(input.NewWindow(file, len(TextMagic)).Peek(len(TextMagic)))
	if err := file.Close(); err != nil {
		return nil, err
	}
	if bytes.Equal(head, TextMagic) {
		return telemetry.Opens(OpenText)(path, wants)
	}
	return telemetry.Opens(Open)(path, wants)
}
