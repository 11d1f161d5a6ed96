package journal

import (
	"errors"
	"fmt"
	"io"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

// Reader reads a journal.
type Reader struct {
	Header Header

	// The record that Next read; those of other kinds hold what they held.
	Model      Model
	State      State
	Prediction Prediction
	Lost       uint64 // records that are missing before the one read, in all

	name    string
	in      *msgbin.Stream
	raw     *msgbin.Reader // of records and payloads
	at      int64          // place of the record read
	record  int            // number of records read
	next    uint64
	payload []byte // of the record read
}

// ErrTorn is that a journal ends within a record, as after a power cut; the records
// before are intact.
var ErrTorn = errors.New("the file ends within a record")

// NewReader reads the header. name is for errors.
func NewReader(in io.Reader, name string) (*Reader, error) {
	r := &Reader{name: name, in: msgbin.NewStream(in), raw: msgbin.NewReader(nil)}
	k, err := r.nextRecord()
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, ErrTorn) {
			return nil, fmt.Errorf("%s: %w", name, ErrTorn)
		}
		return nil, err
	}
	if k != KindHeader {
		return nil, r.fail("is not the header of a journal: was this file written by --record?")
	}
	start := ""
	f := r.Header.elements(&start)
	err = r.raw.Elements(f[:])
	var other *msgbin.ConstantError
	switch {
	case start != magic:
		return nil, r.fail("is not the header of a journal: was this file written by --record?")
	case errors.As(err, &other):
		return nil, r.fail(fmt.Sprintf("is of version %d, this program reads %d", other.Got, other.Want))
	case err != nil:
		return nil, r.fail(err.Error())
	}
	return r, nil
}

// Record returns the number and the place of the record that Next read.
func (r *Reader) Record() (number int, offset int64) { return r.record - 1, r.at }

// Next reads a record. It returns io.EOF at the end, ErrTorn where the file ends
// within a record, and an *Error for what cannot be read.
func (r *Reader) Next() (Kind, error) {
	k, err := r.nextRecord()
	if err != nil {
		return 0, err
	}
	var number uint64
	f := [...]msgbin.Field{msgbin.Required("number", &number)}
	if err := r.raw.Elements(f[:]); err != nil {
		return 0, r.fail(err.Error())
	}
	if number < r.next {
		return 0, r.fail(fmt.Sprintf("has number %d, after %d", number, r.next))
	}
	if k == KindLost { // announces the gap; the next record has this number too
		return k, nil
	}
	r.Lost += number - r.next
	r.next = number + 1
	r.raw.Reset(r.payload)
	switch k {
	case KindModel:
		f := r.Model.elements(&number)
		err = r.raw.Elements(f[:])
	case KindState:
		f := r.State.elements(&number)
		err = r.raw.Elements(f[:])
	case KindPrediction:
		err = r.Prediction.read(r.raw, r.payload)
	}
	if err != nil {
		return 0, r.fail(err.Error())
	}
	return k, nil
}

// nextRecord reads one record; r.raw is then at the start of its payload.
func (r *Reader) nextRecord() (Kind, error) {
	r.at = r.in.Offset()
	r.record++
	var rec msgbin.Record
	for {
		window := r.in.Bytes()
		r.raw.Reset(window)
		var err error
		if rec, err = r.raw.Record(maxBytes); err == nil {
			break
		}
		switch torn := errors.Is(err, io.ErrUnexpectedEOF); {
		case torn && r.in.Fill(len(window)+1):
		case len(window) == 0:
			return 0, io.EOF
		case torn, window[0] == 0: // what a file system leaves behind a power cut
			return 0, ErrTorn
		case r.at == 0:
			return 0, r.fail("this is not a recording: give a file that dgm-estimator --record wrote")
		default:
			return 0, r.fail(err.Error() + ": the file is damaged")
		}
	}
	if rec.Kind == 0 || Kind(rec.Kind) > KindReset {
		return 0, r.fail(fmt.Sprintf("is of kind %d, which this program does not know", rec.Kind))
	}
	if !rec.Intact() {
		return 0, r.fail("its checksum does not match: the file is damaged")
	}
	r.in.Advance(rec.Size)
	r.payload = rec.Payload
	r.raw.Reset(rec.Payload)
	return Kind(rec.Kind), nil
}

func (r *Reader) fail(text string) error {
	return &Error{Name: r.name, Record: r.record - 1, Offset: r.at, Text: text}
}
