package flightlog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

// Reader reads a log record by record, in memory that is bounded by the limits of
// the format, not by the length of the log.
type Reader struct {
	src     *msgbin.Stream
	path    string
	header  Header
	raw     *msgbin.Reader // of records
	dec     decoder        // of their payloads
	records int            // whole records so far
	unknown int            // of them, of unknown kinds
	pending *DamageError
	count   count
}

// NewReader reads the header of a log; name is what errors call the log. The
// error is a *FormatError, or what r returned.
func NewReader(r io.Reader, name string) (*Reader, error) {
	rd := &Reader{src: msgbin.NewStream(r), raw: msgbin.NewReader(nil), path: name}
	if err := rd.readHeader(); err != nil {
		return nil, err
	}
	rd.dec = newDecoder(&rd.header)
	return rd, nil
}

// Header returns the header.
func (r *Reader) Header() Header { return r.header }

// Unknown returns how many records of unknown kinds were skipped so far.
func (r *Reader) Unknown() int { return r.unknown }

// Counted reports whether the log counts its records, so far: only then readers notice
// where records are missing at its end.
func (r *Reader) Counted() bool { return r.count.any }

// Offset returns the number of bytes read so far.
func (r *Reader) Offset() int64 { return r.src.Offset() }

// Next returns the next record of a known kind, or
//   - io.EOF at the end,
//   - a *DamageError for bytes that are no whole record. They are already skipped:
//     unless its Tail is set, the next call returns the record after them,
//   - a *FormatError for a record that is intact and has impossible content. The
//     next call returns the record after it,
//   - what the io.Reader returned.
//
// The record's slices are valid until the next call.
func (r *Reader) Next() (Record, error) {
	if d := r.pending; d != nil {
		r.pending = nil
		return Record{}, d
	}
	for {
		at := r.src.Offset()
		raw, err := r.next()
		if err != nil {
			return Record{}, r.atEnd(err)
		}
		kind := Kind(raw.Kind)
		number := r.records
		r.records++
		if kind == KindCount {
			if err = r.compareCount(at, raw.Payload); err != nil {
				return Record{}, err
			}
			continue
		}
		r.count.add()
		switch kind {
		case KindHeader: // read with the header
			continue
		case KindSegment, KindSample, KindPlan, KindNote:
		default:
			r.unknown++
			continue
		}
		rec, err := r.dec.decode(kind, raw.Payload)
		if err == nil {
			return rec, nil
		}
		return Record{}, r.impossible(kind, at, number, err)
	}
}

// impossible returns the error for a whole record of a kind whose payload is not as it
// must be.
func (r *Reader) impossible(kind Kind, at int64, number int, err error) error {
	e := &FormatError{
		Path: r.path, Offset: at, Record: number, Field: kind.String(), Err: err,
		Remedy: "its checksum matches, so the program that wrote it must be corrected",
	}
	if field, ok := errors.AsType[*msgbin.FieldError](err); ok {
		e.Field, e.Err = kind.String()+" field "+cmp.Or(field.Field, "payload"), field.Err
	}
	return e
}

// compareCount compares the count at a byte with the records that were read. It returns a
// *DamageError where some are missing, unless damage before it explains that.
func (r *Reader) compareCount(at int64, payload []byte) error {
	var n int64
	f := countElements(&n)
	r.raw.Reset(payload)
	if err := r.raw.Elements(f[:]); err != nil {
		return r.impossible(KindCount, at, r.records-1, err)
	}
	if missing := r.count.compare(n); missing != 0 {
		return &DamageError{
			Path: r.path, Offset: at, End: r.src.Offset(), Record: r.records - 1,
			Err: fmt.Errorf("%d records were written to here and %d are there", n, n-missing),
		}
	}
	return nil
}

// atEnd returns the error with which the records end: io.EOF, or once a *DamageError
// where the last ones are missing.
func (r *Reader) atEnd(err error) error {
	var damage *DamageError
	if errors.As(err, &damage) {
		r.count.damage(damage.Tail)
	}
	if errors.Is(err, io.EOF) && damage == nil && r.count.open {
		r.count.open = false
		at := r.src.Offset()
		return &DamageError{Path: r.path, Offset: at, End: at, Record: r.records, Tail: true, Err: errNoCount}
	}
	return err
}

// Records yields the records that can be read, until the end or what the io.Reader
// returned. skipped is called with the *DamageError or *FormatError of what cannot be.
func (r *Reader) Records(skipped func(error)) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for {
			rec, err := r.Next()
			var damage *DamageError
			var format *FormatError
			switch {
			case errors.As(err, &damage), errors.As(err, &format):
				skipped(err)
			case errors.Is(err, io.EOF):
				return
			case !yield(rec, err) || err != nil:
				return
			}
		}
	}
}

// next returns the next whole record, or io.EOF, or a *DamageError.
func (r *Reader) next() (msgbin.Record, error) {
	for {
		window := r.src.Bytes()
		rec, _, err := r.parse(window, MaxPayload)
		switch {
		case err == nil:
			r.src.Advance(rec.Size)
			return rec, nil
		case errors.Is(err, errTorn) && r.src.Fill(len(window)+1):
			continue
		}
		if err := r.src.Err(); err != nil {
			return rec, fmt.Errorf("%s: reading at byte %d: %w", r.path, r.src.Offset(), err)
		}
		if len(window) == 0 {
			return rec, io.EOF
		}
		return rec, r.skipDamage(err)
	}
}

// readHeader reads the header, or where it is damaged the copy of it that is the
// first record.
func (r *Reader) readHeader() error {
	if !r.src.Fill(1) {
		if err := r.src.Err(); err != nil {
			return fmt.Errorf("%s: reading at byte 0: %w", r.path, err)
		}
		return &FormatError{
			Path: r.path, Record: -1, Err: ErrEmpty,
			Remedy: "the recording stopped before it began, or the copy failed: use the original or record again",
		}
	}
	var size int
	var err error
	for {
		window := r.src.Bytes()
		r.header, size, err = parseHeader(window)
		var short *msgbin.Error
		if err != nil && errors.As(err, &short) && short.Short && len(window) < MaxHeader && r.src.Fill(len(window)+1) {
			continue
		}
		break
	}
	if failed := r.src.Err(); err != nil && failed != nil {
		return fmt.Errorf("%s: reading at byte %d: %w", r.path, len(r.src.Bytes()), failed)
	}
	return r.checkHeader(size, err)
}

// checkHeader compares the header (size bytes, or unreadable by err) with its
// copy and uses the copy where they differ: it has a checksum.
func (r *Reader) checkHeader(size int, err error) error {
	written := r.src.Bytes()[:size]
	at, copied, found := r.findCopy(size)
	switch {
	case !found && err != nil:
		return r.unreadable(err)
	case !found || (err == nil && string(written) == string(copied.Payload)):
		// A log need not have a copy, or the copy is damaged and Next reports it.
		r.src.Advance(size)
		return nil
	}
	h, _, copyErr := parseHeader(copied.Payload)
	if copyErr != nil {
		// The copy is what its writer wrote.
		return r.unreadable(copyErr)
	}
	if err == nil {
		err = errors.New("it differs from its copy")
	}
	r.header = h
	r.pending = &DamageError{
		Path: r.path, Offset: 0, End: int64(at), Record: 0,
		Err: fmt.Errorf("the header is damaged (%w); its copy in the first record is used", err),
	}
	r.src.Advance(at)
	return nil
}

// findCopy returns the header's copy and its place in the window: the first whole
// record at from or after it. It is right after the header, but where that is
// damaged its end is unknown.
func (r *Reader) findCopy(from int) (at int, rec msgbin.Record, found bool) {
	budget := sumBudget
	for at = from; at <= MaxHeader; at++ {
		if at == len(r.src.Bytes()) && !r.src.Fill(at+1) {
			return at, rec, false
		}
		if rec, whole := r.recordAt(at, &budget); whole {
			return at, rec, Kind(rec.Kind) == KindHeader
		}
		budget += sumsPerByte
	}
	return at, rec, false
}

// unreadable returns the error for the user of a header that has no intact copy.
func (r *Reader) unreadable(err error) error {
	e := &FormatError{Path: r.path, Record: -1, Field: "header", Err: err}
	if in, ok := errors.AsType[*msgbin.FieldError](err); ok {
		e.Field, e.Err = in.Field, in.Err
	}
	var b *msgbin.Error
	switch {
	case errors.Is(err, ErrVersion):
		e.Remedy = "update this program"
	case errors.Is(err, ErrNotLog):
		e.Remedy = "name a log made by a recorder or by dgm-bridge import"
	case errors.As(err, &b) && b.Short && len(r.src.Bytes()) < MaxHeader:
		e.Remedy = fmt.Sprintf("the file ends within the header, after %d bytes, and has no sample: use the original or record again", len(r.src.Bytes()))
	default:
		e.Remedy = "the file is damaged or was written wrongly: use the original or make it again"
	}
	return e
}

// count is what a reader knows of the count of the records.
type count struct {
	any     bool
	open    bool  // the log must not end here: there must be a count after this
	n       int64 // records since the first count of the writer, that one included
	damaged bool  // some of them may be lost in damage that was reported
}

// add counts a record other than a count.
func (c *count) add() {
	c.n++
	c.open = c.any
}

// compare compares with a count in the log, 0 being the first of a writer. It returns how
// many records are missing; less than 0 = there are too many.
func (c *count) compare(n int64) (missing int64) {
	switch {
	case n == 0:
		*c = count{any: true, open: true}
	case !c.any: // the first count is lost, and what was before it
		c.any, c.n = true, n
	default:
		c.open = false
		if !c.damaged {
			missing = n - c.n
		}
		c.n, c.damaged = n, false
	}
	c.n++
	return missing
}

// damage notes that damage was reported, tail: to the end of the log.
func (c *count) damage(tail bool) {
	c.damaged = true
	c.open = c.open && !tail
}
