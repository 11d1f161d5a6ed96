package blackbox

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/internal/logfile"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Magic begins the first line of a log.
var Magic = []byte("H Product:Blackbox")

// What is accepted of a log, so that a hostile one needs no more memory than this.
const (
	window    = 1 << 16 // bytes of the file that are held
	maxLine   = 1 << 14
	maxLines  = 1 << 12
	maxFields = 512
	maxFrame  = 1 << 12
	erased    = 64   // bytes of 0xff are memory that nothing was written to
	steady    = 1e5  // µs, from a main frame to the next
	longest   = 10e6 // µs from one main frame to the next, without word of a pause
)

// Reader reads the logs of one file. It implements telemetry.Source.
type Reader struct {
	logfile.Reader

	header  *header
	topics  map[byte]*topic // by kind of frames: I, S, G
	message telemetry.Message

	ended     bool // the last log is
	known     bool // the history is: an I frame was read since the last damage
	previous  []int64
	before    []int64
	current   []int64
	values    []int64 // of other frames
	home      [2]int64
	time      int64 // µs, of the last main frame, without the wrapping of its 32 bits
	timed     bool  // there is one
	doubtful  int64 // µs, of an I frame whose time did not fit
	timeField int
	main      from
}

var _ telemetry.Source = (*Reader)(nil)

// Open opens a file and reads its first header. It refuses what is no log.
func Open(path string, wants telemetry.Wants) (*Reader, error) {
	return logfile.Open(path, wants, NewReader, (*Reader).begin)
}

// NewReader returns a reader of any stream; name is its name in errors. What is no log is refused by the first Next.
func NewReader(name string, stream io.Reader, wants telemetry.Wants) *Reader {
	return &Reader{Reader: logfile.New(name, stream, wants, window), topics: map[byte]*topic{}}
}

// Next returns the next message of any topic, or io.EOF.
func (r *Reader) Next() (*telemetry.Message, error) { return r.Loop(r.begin, r.record) }

// begin reads a header.
func (r *Reader) begin() error {
	at := r.Window.Offset()
	if b := r.Window.Peek(len(Magic)); !bytes.Equal(b, Magic) {
		if err := r.Window.Err(); err != nil {
			return fmt.Errorf("%s: %w", r.Path, err)
		}
		return fmt.Errorf("%s: byte %d: this is no blackbox log: it begins with %q; give a .bbl, .bfl or .txt file from the flight controller", r.Path, at, b)
	}
	h := newHeader()
	for lines := 0; ; lines++ {
		held := r.Window.Peek(maxLine)
		if len(held) < 2 || held[0] != 'H' || held[1] != ' ' || lines > 0 && bytes.HasPrefix(held, Magic) {
			break // a header that was cut off ends where the next begins
		}
		end := bytes.IndexByte(held, '\n')
		if end < 0 || lines > maxLines {
			return fmt.Errorf("%s: byte %d: header: a line without an end, or too many; copy the file again", r.Path, r.Window.Offset())
		}
		if err := h.set(strings.TrimRight(string(held[2:end]), "\r")); err != nil {
			return fmt.Errorf("%s: byte %d: header: %w; copy the file again", r.Path, r.Window.Offset(), err)
		}
		r.Window.Pass(end + 1)
	}
	if err := h.done(); err != nil {
		return fmt.Errorf("%s: byte %d: header: %w", r.Path, at, err)
	}
	r.header, r.known, r.timed, r.ended = h, false, false, false
	n := len(h.frames['I'].names)
	r.previous, r.before, r.current = make([]int64, n), make([]int64, n), make([]int64, n)
	r.timeField = slices.Index(h.frames['I'].names, "time")
	if r.timeField < 0 {
		return fmt.Errorf("%s: byte %d: header: frames have no time", r.Path, at)
	}
	r.main.constants = &h.constants
	for name, unit := range map[string]float64{"motorOutput[0]": float64(h.constants.leastMotor), "acc_1G": h.number("acc_1G", 0), "looptime": h.number("looptime", 0)} {
		r.Wants.Set(name, unit)
	}
	if v := h.lines["Firmware revision"]; v != "" {
		r.Wants.Say(0, v)
	}
	for kind, t := range r.topics { // of the log before
		for i, path := range t.paths {
			if t.wanted[i], _ = r.find(kind, path); t.wanted[i].scale.factor == 0 {
				t.wanted[i].index = -1
			}
		}
	}
	return nil
}

// record reads one frame, or the header of the next log. Both results are nil where there was no message.
func (r *Reader) record() (*telemetry.Message, error) {
	at := r.Window.Offset()
	held := r.Window.Peek(maxFrame)
	if len(held) == 0 {
		return nil, r.End(at, 0)
	}
	if bytes.HasPrefix(held, Magic) {
		return nil, r.next(at)
	}
	if n := len(held) - len(bytes.TrimLeft(held, "\x00\xff")); n > 0 && r.ended {
		r.Window.Pass(n) // memory behind the last log that nothing was written to
		return nil, nil
	}
	c := &cursor{b: held, at: 1}
	kind := held[0]
	read := nothingToSay
	switch f := r.header.frames[kind]; {
	case kind == 'E':
		read = r.event(c)
	case kind == 'P' && !r.known && f != nil:
		// differences from frames that are not known
		r.main.previous, r.main.before = r.previous, r.before
		f.decode(c, r.current, &r.main)
	case (kind == 'I' || kind == 'P') && f != nil:
		read = r.mainFrame(c, kind, f)
	case f != nil:
		read = r.other(c, kind, f)
	default:
		c.wrong = true
	}
	switch {
	case c.short && len(held) < maxFrame:
		return nil, r.End(at, len(held))
	case c.short || c.wrong || !(kind == 'E' && held[1] == eventEnd) && !r.follows(held[c.at:], len(held) < maxFrame):
		if rest := held[c.at:]; !c.short && !c.wrong && len(rest) > erased && len(bytes.TrimLeft(rest[:erased], "\xff")) == 0 {
			r.ended = true // the battery went before the log was closed
			break
		}
		r.known = false
		r.Resync(at, "frame "+string(rune(kind)), "damaged", 0, 2, r.again)
		return nil, nil
	}
	r.Window.Pass(c.at)
	return read()
}

// next reads the header of a further log. One that cannot be read costs its own log.
func (r *Reader) next(at int64) error {
	before := r.header
	err := r.begin()
	if err == nil || r.Window.Err() != nil {
		return err
	}
	r.header, r.known, r.ended = before, false, true
	r.Report.Add(at, "header", "the log behind it is not read: %v", err)
	if r.Window.Offset() == at {
		r.Window.Pass(1) // its first line has no end
	}
	for {
		held := r.Window.Peek(window / 2)
		if i := bytes.Index(held, Magic); i >= 0 {
			r.Window.Pass(i)
			return nil
		}
		if len(held) < window/2 {
			r.Window.Pass(len(held))
			return nil
		}
		r.Window.Pass(len(held) - len(Magic))
	}
}

// again returns where, among the first most bytes, a header or a whole main frame begins whose time is near the last.
func (r *Reader) again(held []byte, most int) int {
	f := r.header.frames['I']
	for i := range most {
		if bytes.HasPrefix(held[i:], Magic) {
			return i
		}
		if held[i] != 'I' {
			continue
		}
		c := &cursor{b: held[i:min(len(held), i+maxFrame)], at: 1}
		f.decode(c, r.current, &r.main)
		d := int64(int32(uint32(r.current[r.timeField]) - uint32(r.time)))
		near := !r.timed || d >= 0 && d <= longest || r.follow(f, held[i:], c.at)
		if !c.short && !c.wrong && near && r.follows(held[i+c.at:], i+c.at == len(held)) {
			return i
		}
	}
	return -1
}

// follow reports whether a main frame that ends at a place, of a time far from the last, is followed by differences from it that go
// on in time: what was lost took longer than frames are apart.
func (r *Reader) follow(f *frame, held []byte, end int) bool {
	part := r.header.frames['P']
	if part == nil || end >= len(held) || held[end] != 'P' || r.current[r.timeField] < int64(uint32(r.time)) {
		return false
	}
	c := &cursor{b: held[end:min(len(held), end+maxFrame)], at: 1}
	values, by := make([]int64, len(f.names)), r.main
	by.previous, by.before = r.current, r.current
	part.decode(c, values, &by)
	d := values[r.timeField] - r.current[r.timeField]
	return !c.short && !c.wrong && d > 0 && d < steady && r.follows(held[end+c.at:], false)
}

// follows reports whether a frame begins there, or the file ends.
func (r *Reader) follows(b []byte, last bool) bool {
	if len(b) == 0 {
		return last
	}
	return b[0] == 'E' || b[0] == 'H' || r.header.frames[b[0]] != nil
}

// nothingToSay is what a frame without a message says.
func nothingToSay() (*telemetry.Message, error) { return nil, nil }

// mainFrame decodes a main frame; what it returns takes it.
func (r *Reader) mainFrame(c *cursor, kind byte, f *frame) func() (*telemetry.Message, error) {
	r.main.previous, r.main.before, r.main.skipped = r.previous, r.before, 0
	if kind == 'P' {
		r.main.skipped = r.header.skipped(r.previous[0])
	}
	f.decode(c, r.current, &r.main)
	return func() (*telemetry.Message, error) {
		us := r.current[r.timeField]
		if r.timed {
			us = r.time + int64(int32(uint32(us)-uint32(r.time))) // 32 bits of it are logged
			if d := us - r.time; (d < 0 || d > longest) && !(kind == 'I' && us-r.doubtful >= 0 && us-r.doubtful < longest) {
				r.known, r.doubtful = false, us
				return nil, nil // damaged, or behind a pause: the next whole frame decides
			}
		}
		r.time, r.timed, r.known = us, true, true
		r.previous, r.before, r.current = r.current, r.previous, r.before
		if kind == 'I' {
			copy(r.before, r.previous)
		}
		return r.send('I', r.previous, us)
	}
}

// other decodes a frame of another kind.
func (r *Reader) other(c *cursor, kind byte, f *frame) func() (*telemetry.Message, error) {
	r.values = slices.Grow(r.values[:0], len(f.names))[:len(f.names)]
	f.decode(c, r.values, &from{home: r.home, mainTime: r.time, constants: &r.header.constants})
	return func() (*telemetry.Message, error) {
		if kind == 'H' {
			if len(r.values) >= 2 {
				r.home = [2]int64(r.values[:2])
			}
			return nil, nil
		}
		if !r.timed {
			return nil, nil
		}
		return r.send(kind, r.values, r.time)
	}
}

// The events that are more than a note.
const (
	eventBeep       = 0
	eventAdjustment = 13
	eventResume     = 14
	eventDisarm     = 15
	eventMode       = 30
	eventFailure    = 40
	eventEnd        = 255
)

// end is the text of the last event.
const end = "End of log\x00"

// event decodes an event.
func (r *Reader) event(c *cursor) func() (*telemetry.Message, error) {
	switch c.byte() {
	case eventBeep, eventDisarm, eventFailure:
		c.varying()
	case eventMode:
		c.varying()
		c.varying()
	case eventAdjustment:
		if c.byte() < 128 {
			c.zigzag()
		} else {
			c.little(4)
		}
	case eventResume:
		c.varying()
		us := c.varying()
		return func() (*telemetry.Message, error) {
			if !r.timed {
				r.time = 0
			}
			r.time, r.timed, r.known = r.time+int64(uint32(us)-uint32(r.time)), true, false
			return nil, nil
		}
	case eventEnd:
		for i := range len(end) {
			if c.byte() != end[i] && !c.short {
				c.wrong = true
			}
		}
		return func() (*telemetry.Message, error) {
			r.known, r.ended = false, true
			return nil, nil
		}
	default:
		c.wrong = true
	}
	return nothingToSay
}
