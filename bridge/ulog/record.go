package ulog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/internal/logfile"
	"github.com/dgm-robotics/dgm/bridge/internal/number"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// record reads one record of any kind. Both results are nil where it was not a
// message of a topic.
func (r *Reader) record() (*telemetry.Message, error) {
	at := r.Window.Offset()
	b := r.Window.Peek(frameSize)
	if len(b) < frameSize {
		return nil, r.End(at, len(b))
	}
	if b[0] == Magic[0] {
		if head := r.Window.Peek(headerSize); len(head) == headerSize && bytes.HasPrefix(head, Magic) {
			r.another()
			return nil, nil
		}
	}
	size, kind := int(binary.LittleEndian.Uint16(b)), b[2]
	if jump := r.appendix(at, size); jump > 0 {
		return nil, nil
	}
	whole := r.Window.Peek(frameSize + size)
	if len(whole) < frameSize+size {
		if r.Window.Err() == nil && !r.sensible(whole[frameSize:], size, kind) {
			r.resync(at)
			return nil, nil
		}
		return nil, r.End(at, len(whole))
	}
	if n := bytes.Index(whole, Magic); n > 0 {
		r.Report.Add(at, name(kind), "was not finished: another log begins behind it, %d bytes are not read", n)
		r.Window.Pass(n)
		return nil, nil
	}
	content := whole[frameSize:]
	if kind == 'D' { // nearly all of them
		s := r.subscribed(content)
		if s == nil || size-dataHead < s.min || size-dataHead > s.max {
			r.resync(at)
			return nil, nil
		}
		r.Window.Pass(frameSize + size)
		if s.topic == nil {
			return nil, nil
		}
		return r.data(s, content[dataHead:]), nil
	}
	if !r.sensible(content, size, kind) {
		if size == 0 || !r.follows(frameSize+size) {
			r.resync(at)
			return nil, nil
		}
		// A kind of a later version, or one that contradicts the definitions.
		r.Report.Add(at, name(kind), "not understood, %d bytes skipped", frameSize+size)
		r.Window.Pass(frameSize + size)
		return nil, nil
	}
	err := r.other(at, kind, content)
	r.Window.Pass(frameSize + size)
	return nil, err
}

// another begins another log behind the one so far, as where files were put one behind the other: with definitions of its own, of
// which topics go on that the logs before have.
func (r *Reader) another() {
	r.Window.Pass(headerSize)
	if r.before == nil {
		r.before = map[topicKey]*subscription{}
	}
	for key, s := range r.topics {
		if s.topic != nil {
			r.before[key] = s
		}
	}
	r.formats, r.topics, r.byID, r.isData, r.flags, r.counter = formats{}, map[topicKey]*subscription{}, nil, false, flags{}, telemetry.Counter{}
}

// appendix continues at appended data where the next one would begin within the
// record at hand, which is then what was left unfinished before a crash.
func (r *Reader) appendix(at int64, size int) int64 {
	for len(r.flags.appended) > 0 {
		begin := r.flags.appended[0]
		if begin >= at+frameSize+int64(size) {
			return 0
		}
		r.flags.appended = r.flags.appended[1:]
		if begin > at {
			r.Report.Add(at, "appended data", "the record before them was not finished, %d bytes are not read", begin-at)
			return r.Window.Skip(begin - at)
		}
	}
	return 0
}

var names = map[byte]string{
	'B': "flag bits", 'F': "format", 'I': "information", 'M': "multi information", 'P': "parameter", 'Q': "default parameter",
	'A': "subscription", 'R': "unsubscription", 'D': "data", 'L': "logged text", 'C': "tagged text", 'S': "synchronisation", 'O': "dropout",
}

// data reads the content of a message of a topic.
func (r *Reader) data(s *subscription, b []byte) *telemetry.Message {
	logged := r.counter.Continued(microseconds(binary.LittleEndian.Uint64(b[s.stamp.at:])))
	t := logged
	if s.sample.kind != number.None {
		t = telemetry.Sampled(logged, int64(s.sample.read(b))*1000)
	}
	for i, a := range s.wanted {
		s.values[i] = a.read(b)
	}
	r.message = telemetry.Message{Topic: s.topic, Time: t, Stamped: true, Logged: logged, Values: s.values}
	return &r.message
}

// other reads a record that is not a message of a topic.
func (r *Reader) other(at int64, kind byte, b []byte) error {
	var err error
	switch kind {
	case 'B':
		if r.flags, err = parseFlags(b); err == nil && r.flags.unknown() {
			return fmt.Errorf("%s: byte %d: flag bits: % x require what is not known here; get a newer dgm-bridge", r.Path, at, r.flags.incompat)
		}
	case 'F':
		err = r.define(string(b))
	case 'I':
		err = checkEntry(b)
	case 'P':
		if err = checkEntry(b); err == nil {
			r.parameter(b)
		}
	case 'M', 'Q':
		err = checkEntry(b[1:]) // behind one byte, see sensible
	case 'A':
		r.isData = true
		return r.subscribe(at, b)
	case 'R':
		if id := int(binary.LittleEndian.Uint16(b)); id < len(r.byID) {
			r.byID[id] = nil
		}
	case 'L':
		r.text(b[1:])
	case 'C':
		r.text(b[3:])
	case 'O':
		r.Report.Add(at, name(kind), "the logger lost %d ms of data", binary.LittleEndian.Uint16(b))
	}
	if err != nil {
		r.Report.Add(at, name(kind), "%v", err)
	}
	return nil
}

// parameter hands on a setting, of which the key was checked.
func (r *Reader) parameter(b []byte) {
	kind, name, _ := strings.Cut(string(b[1:1+int(b[0])]), " ")
	value := b[1+int(b[0]):]
	if k := kinds[kind]; k != number.None && len(value) >= k.Size() {
		r.Wants.Set(name, k.Little(value))
	}
}

func (r *Reader) text(b []byte) {
	r.isData = true
	r.Wants.Say(r.counter.Continued(microseconds(binary.LittleEndian.Uint64(b))), string(b[stampSize:]))
}

// define keeps a definition. The first of a name counts.
func (r *Reader) define(text string) error {
	f, err := parseFormat(text)
	switch {
	case err != nil:
		return err
	case r.formats[f.name] != nil:
		return fmt.Errorf("%q is defined already; the first definition is used", telemetry.Clip(f.name))
	case len(r.formats) >= maxFormats:
		return fmt.Errorf("more than %d definitions: not kept", maxFormats)
	}
	r.formats[f.name] = f
	return nil
}

// subscribe gives a topic a message id.
func (r *Reader) subscribe(at int64, b []byte) error {
	multi, id, name := b[0], int(binary.LittleEndian.Uint16(b[1:])), strings.Clone(string(b[3:]))
	key := topicKey{name, multi}
	s := r.topics[key]
	if s == nil {
		if len(r.topics) >= maxTopics {
			r.Report.Add(at, "subscription", "more than %d topics: %q is not read", maxTopics, telemetry.Clip(name))
			return nil
		}
		var err error
		if s, err = r.topic(key); err != nil {
			if _, ok := errors.AsType[*telemetry.FieldError](err); ok {
				return err
			}
			r.Report.Add(at, "subscription", "topic %q is not read: %v", telemetry.Clip(name), err)
			s = &subscription{max: maxPayload}
		}
		r.topics[key] = s
	}
	for id >= len(r.byID) {
		r.byID = append(r.byID, nil)
	}
	r.byID[id] = s
	return nil
}

func (r *Reader) topic(key topicKey) (*subscription, error) {
	whole, err := r.formats.size(key.name, 0)
	if err != nil {
		return nil, err
	}
	s := &subscription{max: whole, min: whole}
	f := r.formats[key.name]
	for i := len(f.fields) - 1; i >= 0 && f.fields[i].padding(); i-- {
		n, err := r.formats.fieldSize(&f.fields[i], 0)
		if err != nil {
			return nil, err
		}
		s.min -= n
	}
	if s.stamp, err = r.formats.find(key.name, "timestamp"); err != nil || s.stamp.kind != number.U64 || s.stamp.at+stampSize > s.min {
		return nil, errors.New("it has no timestamp of type uint64_t")
	}
	if a, err := r.formats.find(key.name, "timestamp_sample"); err == nil && (a.kind == number.U64 || a.kind == number.U32) && a.at+a.kind.Size() <= s.min {
		s.sample = a
	}
	formats := r.formats
	find := func(path string) (accessor, error) { return formats.find(key.name, path) }
	if before := r.before[key]; before != nil {
		s.topic, s.paths = before.topic, before.paths
		for _, path := range s.paths {
			a, err := find(path)
			if err != nil {
				return nil, fmt.Errorf("a log behind the first one defines it anew, and %w", err)
			}
			s.wanted = append(s.wanted, a)
		}
		s.values = make([]float64, len(s.wanted))
		return s, nil
	}
	s.topic = &telemetry.Topic{Name: key.name, Instance: int(key.instance), Seq: r.seq,
		Fields: func() []telemetry.Field { return formats.list(key.name) },
		Check:  func(path string) error { _, err := find(path); return err },
	}
	if s.wanted, err = logfile.Wanted(&r.Reader, s.topic, func(path string) (accessor, error) {
		s.paths = append(s.paths, path)
		return find(path)
	}); err != nil {
		return nil, err
	}
	s.values = make([]float64, len(s.wanted))
	r.seq++
	return s, nil
}

// checkEntry checks the start of information or of a parameter: the length of the
// key, and "type key".
func checkEntry(b []byte) error {
	if len(b) < 1 || int(b[0])+1 > len(b) {
		return errors.New("its key is longer than the message")
	}
	kind, key, ok := strings.Cut(string(b[1:1+int(b[0])]), " ")
	if !ok || kind == "" || key == "" {
		return fmt.Errorf("its key %q is not a type and a name", telemetry.Clip(kind))
	}
	return nil
}

// flags are the flag bits of a log.
type flags struct {
	compat, incompat [8]byte
	appended         []int64 // offsets at which appended data begin, ascending
}

func parseFlags(b []byte) (f flags, err error) {
	if len(b) < 40 {
		return f, fmt.Errorf("%d bytes, expected 40", len(b))
	}
	copy(f.compat[:], b)
	copy(f.incompat[:], b[8:])
	for i := range 3 {
		v := binary.LittleEndian.Uint64(b[16+8*i:])
		if v == 0 {
			continue
		}
		if v > math.MaxInt64 || (len(f.appended) > 0 && int64(v) <= f.appended[len(f.appended)-1]) {
			return f, fmt.Errorf("appended data at byte %d, which is not behind those before", v)
		}
		f.appended = append(f.appended, int64(v))
	}
	return f, nil
}

// unknown reports whether the log uses something without which it cannot be read.
func (f *flags) unknown() bool {
	for i, b := range f.incompat {
		if i == 0 {
			b &^= 1 // appended data
		}
		if b != 0 {
			return true
		}
	}
	return false
}
