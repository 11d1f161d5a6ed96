package ardupilot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/dgm-robotics/dgm/bridge/input"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Magic is what a log begins with: the first record is a format.
var Magic = []byte{magic1, magic2, idFMT}

// What is kept of a log, so that a hostile one takes no more memory than this.
const (
	window        = 1 << 18 // bytes of the file that are held
	chain         = 3       // records in a row that must make sense after damage
	maxParameters = 1 << 13
)

// Parameter is a setting of the autopilot.
type Parameter struct {
	Name  string
	Value float64
}

// Reader reads one log. It implements telemetry.Source.
type Reader struct {
	input.Stream
	path     string
	w        *input.Window
	wants    telemetry.Wants
	problems telemetry.Problems

	formats    [256]*format
	units      units
	seq        int
	last       int64 // ns, of the record before
	parameters []Parameter
	message    telemetry.Message
	firstErr   error
}

// subscription is a topic with where its fields stand.
type subscription struct {
	topic  *telemetry.Topic
	time   accessor // of kind 0 where there is none
	scale  int64    // of time, ns
	sample accessor // of kind 0 where there is none
	wanted []accessor
	values []float64
}

var _ telemetry.Source = (*Reader)(nil)

// Open opens a log. It refuses what does not begin like one.
func Open(path string, wants telemetry.Wants) (*Reader, error) {
	file, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	r := NewReader(path, file, wants)
	head := r.w.Peek(4096)
	if err := r.w.Err(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	if !bytes.Contains(head, Magic) {
		return nil, errors.Join(fmt.Errorf("%s: byte 0: this is no DataFlash log: no format stands in its first %d bytes; give a file ending in .BIN", path, len(head)), file.Close())
	}
	return r, nil
}

// NewReader returns a reader of any stream; name is what errors call it.
func NewReader(name string, stream io.Reader, wants telemetry.Wants) *Reader {
	w := input.NewWindow(stream, window)
	r := &Reader{path: name, w: w, Stream: w.Stream(), wants: wants}
	b := builtin
	r.formats[idFMT] = &b
	r.units = units{labels: map[byte]string{}, mults: map[byte]float64{}}
	return r
}

// Next returns the next message of any topic, or io.EOF.
func (r *Reader) Next() (*telemetry.Message, error) {
	for r.firstErr == nil {
		m, err := r.record()
		if err != nil {
			r.firstErr = err
		} else if m != nil {
			return m, nil
		}
	}
	return nil, r.firstErr
}

// record reads one record. Both results are nil where there was none.
func (r *Reader) record() (*telemetry.Message, error) {
	at := r.w.Offset()
	b := r.w.Peek(headSize)
	if len(b) < headSize {
		return nil, r.end(at, len(b))
	}
	var f *format
	if b[0] == magic1 && b[1] == magic2 {
		f = r.formats[b[2]]
	}
	if f == nil {
		return nil, r.resync(at)
	}
	whole := r.w.Peek(f.length)
	if len(whole) < f.length {
		return nil, r.end(at, len(whole))
	}
	content := whole[headSize:]
	s, err := r.topic(f, content)
	if err != nil {
		return nil, err
	}
	m := r.read(at, s, content)
	r.learn(at, f, content)
	r.w.Pass(f.length)
	return m, nil
}

func (r *Reader) end(at int64, n int) error {
	if err := r.w.Err(); err != nil {
		r.problems.Add(at, "file", "cannot be read on: %v", err)
	} else if n > 0 {
		r.problems.Add(at, "file", "cut off within a record, the last %d bytes are not read", n)
	}
	return io.EOF
}

// topic returns the topic that a record belongs to.
func (r *Reader) topic(f *format, content []byte) (*subscription, error) {
	instance := 0
	if f.instance.kind != 0 {
		if v := f.instance.read(content); v > 0 && v < 256 {
			instance = int(v)
		}
	}
	if s := f.topics[instance]; s != nil {
		return s, nil
	}
	s := &subscription{topic: &telemetry.Topic{Name: f.name, Instance: instance, Seq: r.seq,
		Fields: func() []telemetry.Field { return f.fields(&r.units) },
		Check:  func(path string) error { _, err := f.path(path); return err },
	}}
	r.seq++
	for _, c := range []struct {
		name  string
		scale int64
	}{{"TimeUS", 1e3}, {"TimeMS", 1e6}} {
		if a, err := f.path(c.name); err == nil && s.time.kind == 0 {
			s.time, s.scale = a, c.scale
		}
	}
	if a, err := f.path("SampleUS"); err == nil && s.scale == 1e3 {
		s.sample = a
	}
	for _, path := range r.wants.Paths(s.topic) {
		a, err := f.path(path)
		if err != nil {
			return nil, telemetry.NewFieldError(r.path, s.topic, path, err.Error())
		}
		s.wanted = append(s.wanted, a)
	}
	s.values = make([]float64, len(s.wanted))
	if f.topics == nil {
		f.topics = map[int]*subscription{}
	}
	f.topics[instance] = s
	return s, nil
}

// read makes a message of a record.
func (r *Reader) read(at int64, s *subscription, content []byte) *telemetry.Message {
	logged, stamped := r.last, false
	if s.time.kind != 0 {
		if v := s.time.read(content) * float64(s.scale); v >= 0 && v < math.MaxInt64/2 {
			logged, stamped = int64(s.time.read(content))*s.scale, true
			r.last = logged
		}
	}
	t := logged
	if s.sample.kind != 0 {
		// 0 where the driver does not fill it in.
		if v := s.sample.read(content) * 1e3; v > 0 && v <= float64(logged) {
			t = int64(v)
		}
	}
	for i, a := range s.wanted {
		s.values[i] = a.read(content)
	}
	r.message = telemetry.Message{Topic: s.topic, Time: t, Stamped: stamped, Logged: logged, Offset: at, Values: s.values}
	return &r.message
}

// learn takes what a record says about the log itself.
func (r *Reader) learn(at int64, f *format, content []byte) {
	text := func(name string) string {
		c := f.find(name)
		if c == nil || !c.text() {
			return ""
		}
		return cString(content[c.at : c.at+sizes[c.kind]])
	}
	number := func(name string) float64 {
		a, err := f.path(name)
		if err != nil {
			return math.NaN()
		}
		return a.read(content)
	}
	switch f.name {
	case "FMT":
		if err := r.define(content); err != nil {
			r.problems.Add(at, "FMT", "%v", err)
		}
	case "FMTU":
		if v := number("FmtType"); v >= 0 && v < 256 && r.formats[int(v)] != nil {
			g := r.formats[int(v)]
			if err := g.describe(text("UnitIds"), text("MultIds")); err != nil {
				r.problems.Add(at, "FMTU", "of %s: %v", g.name, err)
			}
		}
	case "UNIT":
		if v := number("Id"); v >= 0 && v < 256 {
			r.units.labels[byte(v)] = text("Label")
		}
	case "MULT":
		if v := number("Id"); v >= 0 && v < 256 {
			// It was a float32 once: seven digits are true.
			r.units.mults[byte(v)] = round7(number("Mult"))
		}
	case "PARM":
		if name := text("Name"); name != "" && len(r.parameters) < maxParameters {
			r.parameters = append(r.parameters, Parameter{name, number("Value")})
		}
	case "MSG":
		r.wants.Say(r.last, text("Message"))
	}
}

// round7 rounds to seven significant digits.
func round7(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	scale := math.Pow10(6 - int(math.Floor(math.Log10(math.Abs(v)))))
	if scale >= 1 {
		return math.Round(v*scale) / scale
	}
	return math.Round(v*scale) * (1 / scale)
}

// define takes a format. One that is there already stays as it is.
func (r *Reader) define(content []byte) error {
	f, err := parseFMT(content)
	if err != nil {
		return err
	}
	if old := r.formats[f.id]; old != nil {
		if old.name != f.name || old.length != f.length || len(old.columns) != len(f.columns) {
			return fmt.Errorf("type %d is %s already; the first definition is used", f.id, old.name)
		}
		return nil
	}
	r.formats[f.id] = f
	return nil
}

// resync goes on at the next byte from which records make sense, and says which
// bytes it passed.
func (r *Reader) resync(at int64) error {
	kind := "record"
	if b := r.w.Peek(headSize); len(b) == headSize && b[0] == magic1 && b[1] == magic2 {
		kind = fmt.Sprintf("record of type %d", b[2])
	}
	r.w.Pass(1)
	for {
		held := r.w.Peek(window / 2)
		most := len(held) - headSize + 1
		if most <= 0 {
			r.w.Pass(len(held))
			r.problems.Add(at, kind, "the last %d bytes are damaged or not used and are not read", r.w.Offset()-at)
			return nil
		}
		if len(held) == window/2 {
			most = len(held) / 2
		}
		for i := 0; i < most; {
			k := bytes.IndexByte(held[i:most], magic1)
			if k < 0 {
				break
			}
			if i += k; r.stands(held[i:]) {
				r.w.Pass(i)
				r.problems.Add(at, kind, "damaged or without a format; %d bytes passed, read on at byte %d", r.w.Offset()-at, r.w.Offset())
				return nil
			}
			i++
		}
		r.w.Pass(most)
	}
}

// stands says whether records of known formats follow each other from the start
// of held.
func (r *Reader) stands(held []byte) bool {
	for n, k := 0, 0; k < chain; k++ {
		if n == len(held) && k > 0 {
			return true // up to the end of the file
		}
		if n+headSize > len(held) || held[n] != magic1 || held[n+1] != magic2 || r.formats[held[n+2]] == nil {
			return false
		}
		if n += r.formats[held[n+2]].length; n > len(held) {
			return k > 0 // cut off
		}
	}
	return true
}

// Parameters returns the settings that the log told so far.
func (r *Reader) Parameters() []Parameter { return r.parameters }

// Problems returns what could not be read so far.
func (r *Reader) Problems() *telemetry.Problems { return &r.problems }
