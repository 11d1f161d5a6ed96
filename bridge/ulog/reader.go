package ulog

import (
	"bytes"
	"fmt"
	"io"

	"github.com/dgm-robotics/dgm/bridge/internal/logfile"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Magic is what every ULog begins with.
var Magic = []byte{'U', 'L', 'o', 'g', 0x01, 0x12, 0x35}

// Reader reads one log. It implements telemetry.Source.
type Reader struct {
	logfile.Reader

	flags   flags
	formats formats
	topics  map[topicKey]*subscription
	before  map[topicKey]*subscription // of the logs ahead of this one in the file
	seq     int                        // topics so far
	byID    []*subscription            // by message id, nil = none
	isData  bool                       // the definitions are over
	counter telemetry.Counter
	message telemetry.Message
}

// topicKey identifies a topic.
type topicKey struct {
	name     string
	instance uint8
}

// subscription is a topic with the places of its fields.
type subscription struct {
	topic    *telemetry.Topic // nil: its messages are skipped
	min, max int              // bytes of content, without and with the padding at its end
	stamp    accessor         // timestamp
	sample   accessor         // timestamp_sample; of no kind where there is none
	paths    []string
	wanted   []accessor
	values   []float64
}

var _ telemetry.Source = (*Reader)(nil)

// Open opens a log and reads its header. It refuses what is no ULog.
func Open(path string, wants telemetry.Wants) (*Reader, error) {
	return logfile.Open(path, wants, NewReader, (*Reader).header)
}

// NewReader returns a reader of any stream; name is its name in errors. What is
// no ULog is refused by the first Next.
func NewReader(name string, stream io.Reader, wants telemetry.Wants) *Reader {
	return &Reader{Reader: logfile.New(name, stream, wants, window), formats: formats{}, topics: map[topicKey]*subscription{}}
}

// header reads the first bytes of the file.
func (r *Reader) header() error {
	b := r.Window.Peek(headerSize)
	switch {
	case r.Window.Err() != nil:
		return fmt.Errorf("%s: %w", r.Path, r.Window.Err())
	case len(b) < headerSize && (len(b) == 0 || bytes.HasPrefix(Magic, b[:min(len(b), len(Magic))])):
		return fmt.Errorf("%s: byte 0: header: %d bytes, a ULog has %d before its first message; copy the file again", r.Path, len(b), headerSize)
	case !bytes.HasPrefix(b, Magic):
		return fmt.Errorf("%s: byte 0: header: this is not a ULog: it begins with % x; give a file ending in .ulg", r.Path, b[:min(len(b), 8)])
	}
	if b[7] > 1 {
		r.Report.Add(7, "header", "version %d is not known; read as version 1", b[7])
	}
	r.Window.Pass(headerSize)
	return nil
}

// Next returns the next message of any topic, or io.EOF.
func (r *Reader) Next() (*telemetry.Message, error) { return r.Loop(r.header, r.record) }

// What is kept of a log, so that a hostile one needs no more memory than this.
const (
	maxFormats = 4096    // definitions of messages
	maxFields  = 4096    // fields of one definition, arrays counted once
	maxTopics  = 1 << 14 // topics, instances counted
	maxDepth   = 16      // types within types
	maxPayload = 1 << 16 // bytes of a message; its length is a uint16
	window     = 1 << 19 // bytes of the file that are held
	headerSize = 16      // of the file
	frameSize  = 3       // of a message: length, kind
	dataHead   = 2       // of a data message: its id
	stampSize  = 8       // of a timestamp
	chain      = 3       // messages in a row that must make sense after damage
)
