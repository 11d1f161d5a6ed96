package mcap

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/foxglove/mcap/go/mcap"

	"github.com/dgm-robotics/dgm/bridge/input"
)

// Magic is what a file begins and ends with.
var Magic = mcap.Magic

// headSize is the kind of a record and the length of its content, bytes.
const headSize = 1 + 8

// The contents of the records that end the data and the file, bytes.
const (
	dataEndSize = 4
	footerSize  = 8 + 8 + 4
)

// known reports whether a kind of record is one of this version. Of a later version
// kinds are from 0x80 on.
func known(kind mcap.OpCode) bool { return kind >= mcap.OpHeader && kind <= mcap.OpDataEnd }

// record names a kind of record in problems.
func record(kind mcap.OpCode) string {
	if known(kind) {
		return kind.String()
	}
	return "record"
}

// used reports whether the content of a kind of record is read.
func used(kind mcap.OpCode) bool {
	return kind == mcap.OpSchema || kind == mcap.OpChannel || kind == mcap.OpMessage || kind == mcap.OpChunk
}

// records are those of the file, or of the chunk that is open.
type records struct {
	w     *input.Window
	chunk []byte // what is left of the open chunk
	open  bool
	lexer *mcap.Lexer
	buf   []byte
}

// peek returns the next n bytes, or fewer at the end.
func (r *records) peek(n int) []byte {
	if r.open {
		return r.chunk[:min(n, len(r.chunk))]
	}
	return r.w.Peek(n)
}

// Read reads the next bytes, for the lexer.
func (r *records) Read(b []byte) (int, error) {
	if !r.open {
		return r.w.Read(b)
	}
	if len(r.chunk) == 0 {
		return 0, io.EOF
	}
	n := copy(b, r.chunk)
	r.chunk = r.chunk[n:]
	return n, nil
}

// skip skips n bytes and returns how many there were.
func (r *records) skip(n int64) int64 {
	if !r.open {
		return r.w.Skip(n)
	}
	n = min(n, int64(len(r.chunk)))
	r.chunk = r.chunk[n:]
	return n
}

// head returns kind and length of the next record; ok is false where fewer bytes
// than that are left.
func (r *records) head() (kind mcap.OpCode, size uint64, ok bool) {
	b := r.peek(headSize)
	if len(b) < headSize {
		return 0, 0, false
	}
	return mcap.OpCode(b[0]), binary.LittleEndian.Uint64(b[1:]), true
}

// next returns the content of the next record, of size bytes; valid until the next
// call. Of a record that is cut off it returns what is there.
func (r *records) next(size int) (content []byte, whole bool, err error) {
	if r.lexer == nil {
		if r.lexer, err = mcap.NewLexer(r, &mcap.LexerOptions{SkipMagic: true, EmitChunks: true, MaxRecordSize: maxRecord}); err != nil {
			return nil, false, err
		}
	}
	if cap(r.buf) < size {
		r.buf = slices.Grow(r.buf[:0], size)
	}
	before := r.left()
	_, content, err = r.lexer.Next(r.buf[:0])
	if err == nil {
		return content, true, nil
	}
	var cut *mcap.ErrTruncatedRecord
	if !errors.As(err, &cut) && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	return r.buf[:max(0, before-r.left()-headSize)], false, nil
}

// left returns the bytes that are left of the open chunk, of the file minus its
// position.
func (r *records) left() int {
	if r.open {
		return len(r.chunk)
	}
	return -int(r.w.Offset())
}
