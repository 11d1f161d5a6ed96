package ardupilot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/dgm-robotics/dgm/bridge/internal/logfile"
	"github.com/dgm-robotics/dgm/bridge/internal/number"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Magic is what a log begins with: the first record is a format.
var Magic = []byte{magic1, magic2, idFMT}

// What is kept of a log, so that a hostile one needs no more memory than this.
const (
	window = 1 << 18 // bytes of the file that are held
	chain  = 3       // records in a row that must make sense after damage
)

// Reader reads one log. It implements telemetry.Source.
type Reader struct {
	logfile.Reader

	formats [256]*format
	later   [256]*format               // formats that were read ahead
	before  map[topicKey]*subscription // of the logs ahead of this one in the file
	log     int                        // which log of the file it is
	data    bool                       // records other than formats were read of it
	units   units
	seq     int
	telemetry.Counter
	ahead   bool // only the descriptions of formats are read
	looked  bool // those behind the first records were read ahead
	begun   bool // last is set
	message telemetry.Message
}

var _ telemetry.Source = (*Reader)(nil)

// Open opens a log. It refuses what does not begin like one.
func Open(path string, wants telemetry.Wants) (*Reader, error) {
	return logfile.Open(path, wants, NewReader, (*Reader).begin)
}

// NewReader returns a reader of any stream; name is its name in errors.
func NewReader(name string, stream io.Reader, wants telemetry.Wants) *Reader {
	r := &Reader{Reader: logfile.New(name, stream, wants, window), units: units{labels: map[byte]string{}, mults: map[byte]float64{}}}
	b := builtin
	r.formats[idFMT] = &b
	return r
}

// begin refuses what has another format.
func (r *Reader) begin() error {
	head := r.Window.Peek(4096)
	if err := r.Window.Err(); err != nil {
		return fmt.Errorf("%s: %w", r.Path, err)
	}
	if !bytes.Contains(head, Magic) {
		return fmt.Errorf("%s: byte 0: this is no DataFlash log: there is no format in its first %d bytes; give a file ending in .BIN", r.Path, len(head))
	}
	return nil
}

// Next returns the next message of any topic, or io.EOF.
func (r *Reader) Next() (*telemetry.Message, error) { return r.Loop(nil, r.record) }

// record reads one record. Both results are nil where there was none.
func (r *Reader) record() (*telemetry.Message, error) {
	if !r.begun && !r.ahead {
		r.begun, r.Last = true, firstTime(r.Window.Peek(window))
	}
	at := r.Window.Offset()
	b := r.Window.Peek(headSize)
	if len(b) < headSize {
		return nil, r.End(at, len(b))
	}
	var f *format
	if b[0] == magic1 && b[1] == magic2 {
		f = r.formats[b[2]]
	}
	if f == nil {
		r.resync(at)
		return nil, nil
	}
	whole := r.Window.Peek(f.length)
	if len(whole) < f.length {
		return nil, r.End(at, len(whole))
	}
	if next := r.Window.Peek(f.length + 2); len(next) == f.length+2 && (next[f.length] != magic1 || next[f.length+1] != magic2) {
		r.resync(at) // no record has a checksum: the damage behind this one may begin within it
		return nil, nil
	}
	content := whole[headSize:]
	if r.data = r.data || f.id != idFMT; r.data && f.id == idFMT && content[0] == idFMT {
		if r.ahead {
			return nil, io.EOF
		}
		r.another()
	}
	if f.unread != "" {
		r.Window.Pass(f.length)
		return nil, nil
	}
	if r.ahead {
		if f.name == "FMT" || f.name == "FMTU" {
			r.learn(at, f, content)
		}
		r.Window.Pass(f.length)
		if r.message.Topic == nil {
			r.message.Topic = &telemetry.Topic{}
		}
		return &r.message, nil
	}
	s, err := r.topic(f, content)
	if err != nil && r.log > 0 {
		f.unread = err.Error()
		r.Report.Add(at, f.name, "is not read: a log behind the first one defines it anew, and %v", err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m := r.read(s, content)
	r.learn(at, f, content)
	r.Window.Pass(f.length)
	return m, nil
}

// topic returns the topic that a record belongs to.
func (r *Reader) topic(f *format, content []byte) (*subscription, error) {
	if f.topics == nil && !f.described && f.numbered() && !r.looked {
		r.looked = true
		if err := r.lookAhead(); err != nil {
			return nil, err
		}
	}
	instance := 0
	if f.instance.kind != number.None {
		if v := f.instance.read(content); v > 0 && v < 256 {
			instance = int(v)
		}
	}
	if s := f.topics[instance]; s != nil {
		return s, nil
	}
	s := &subscription{}
	s.time, s.scale = f.time()
	if a, err := f.path("SampleUS"); err == nil && s.scale == 1e3 {
		s.sample = a
	}
	var err error
	if before := r.before[topicKey{f.name, instance}]; before != nil {
		s.topic, s.paths = before.topic, before.paths
		s.wanted, err = f.places(s.paths)
	} else {
		err = r.subscribe(s, f, instance)
	}
	if err != nil {
		return nil, err
	}
	s.values = make([]float64, len(s.wanted))
	if f.topics == nil {
		f.topics = map[int]*subscription{}
	}
	f.topics[instance] = s
	return s, nil
}

// maxAhead is how much of a file is read ahead, in bytes: the logger describes all formats
// within seconds of its start.
const maxAhead = 16 << 20

// lookAhead reads the descriptions of formats that are to come: in a log that begins in
// flight they are behind records that they describe.
func (r *Reader) lookAhead() error {
	if r.Size() == 0 { // a stream
		return nil
	}
	s, err := Open(r.Path, telemetry.Wants{})
	if err != nil {
		return err
	}
	s.ahead = true
	for err == nil && s.Window.Offset() < maxAhead {
		_, err = s.Next()
	}
	for id, f := range r.formats {
		if g := s.formats[id]; f != nil && g != nil && g.described && g.name == f.name && g.length == f.length {
			f.instance, f.described = g.instance, true
		}
	}
	for id, g := range s.formats { // formats that are still to come
		if r.formats[id] == nil && g != nil {
			r.later[id] = g
		}
	}
	return s.Close()
}

// latest is the time, ns, of a record whose own is damaged so that it is beyond: far from all others.
const latest = math.MaxInt64 / 2

// read makes a message of a record.
func (r *Reader) read(s *subscription, content []byte) *telemetry.Message {
	logged, stamped := r.Last, false
	if s.time.kind != number.None {
		switch v := s.time.read(content); {
		case v*float64(s.scale) >= latest:
			logged, stamped = latest, true
		case v >= 0:
			logged, stamped = r.Continued(int64(v)*s.scale), true
		}
	}
	t := logged
	if s.sample.kind != number.None {
		if v := s.sample.read(content) * 1e3; v < math.MaxInt64/2 {
			t = telemetry.Sampled(logged, int64(v))
		}
	}
	for i, a := range s.wanted {
		s.values[i] = a.read(content)
	}
	r.message = telemetry.Message{Topic: s.topic, Time: t, Stamped: stamped, Logged: logged, Values: s.values}
	return &r.message
}

// learn keeps what a record describes of the log itself.
func (r *Reader) learn(at int64, f *format, content []byte) {
	text := func(name string) string {
		c := f.find(name)
		if c == nil || !c.text() {
			return ""
		}
		return cString(content[c.at : c.at+size(c.kind)])
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
			r.Report.Add(at, "FMT", "%v", err)
		}
	case "FMTU":
		if v := number("FmtType"); v >= 0 && v < 256 && r.formats[int(v)] != nil {
			g := r.formats[int(v)]
			if err := g.describe(text("UnitIds"), text("MultIds")); err != nil {
				r.Report.Add(at, "FMTU", "of %s: %v", g.name, err)
			}
		}
	case "UNIT":
		if v := number("Id"); v >= 0 && v < 256 {
			r.units.labels[byte(v)] = text("Label")
		}
	case "MULT":
		if v := number("Id"); v >= 0 && v < 256 {
			// It was a float32 once: seven digits are exact.
			r.units.mults[byte(v)] = round7(number("Mult"))
		}
	case "MSG":
		r.Wants.Say(r.Last, text("Message"))
	case "PARM":
		r.Wants.Set(text("Name"), number("Value"))
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

// define keeps a format. The first of a type counts in each log.
func (r *Reader) define(content []byte) error {
	f, err := parseFMT(content)
	if err != nil {
		return err
	}
	f.log = r.log
	if old := r.formats[f.id]; old != nil {
		switch {
		case old.same(f):
			old.log = f.log
			return nil
		case old.log == f.log:
			return fmt.Errorf("type %d is %s already; the first definition is used", f.id, old.name)
		}
	}
	if g := r.later[f.id]; g != nil && g.name == f.name && g.length == f.length {
		f.instance, f.described = g.instance, g.described
	}
	r.formats[f.id] = f
	if f.unread != "" {
		return errors.New(f.unread)
	}
	return nil
}

// resync continues at the next byte from which records make sense.
func (r *Reader) resync(at int64) {
	kind := "record"
	if b := r.Window.Peek(headSize); len(b) == headSize && b[0] == magic1 && b[1] == magic2 {
		kind = fmt.Sprintf("record of type %d", b[2])
	}
	r.Resync(at, kind, "damaged or without a format", headSize-1, 2, func(held []byte, most int) int {
		for i := 0; i < most; i++ {
			k := bytes.IndexByte(held[i:most], magic1)
			if k < 0 {
				break
			}
			if i += k; r.resyncCandidate(held[i:]) {
				return i
			}
		}
		return -1
	})
}

// resyncCandidate reports whether records of known formats follow each other from the
// start of held.
func (r *Reader) resyncCandidate(held []byte) bool {
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

// firstTime returns the time (ns) of the first record at the beginning of a log that has one: the
// records ahead of it, which describe formats, are not older. 0 where none has.
func firstTime(head []byte) int64 {
	formats := [256]*format{idFMT: &builtin}
	for n := 0; n+headSize <= len(head); {
		f := formats[head[n+2]]
		if head[n] != magic1 || head[n+1] != magic2 || f == nil {
			n++
			continue
		}
		if n+f.length > len(head) {
			break
		}
		content := head[n+headSize : n+f.length]
		if g, err := parseFMT(content); f.name == "FMT" && err == nil && formats[g.id] == nil {
			formats[g.id] = g
		}
		if a, unit := f.time(); a.kind != number.None {
			if v := a.read(content); v >= 0 && v*float64(unit) < math.MaxInt64/2 {
				return int64(v) * unit
			}
		}
		n += f.length
	}
	return 0
}
