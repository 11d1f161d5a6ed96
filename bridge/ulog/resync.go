package ulog

import (
	"bytes"
	"encoding/binary"
)

// syncRecord is a synchronisation message, whole.
var syncRecord = []byte{8, 0, 'S', 0x2f, 0x73, 0x13, 0x20, 0x25, 0x0c, 0xbb, 0x12}

// sensible reports whether a record of a kind can have this length and begin like
// this; b is its content, or less where the file ends.
func (r *Reader) sensible(b []byte, size int, kind byte) bool {
	switch kind {
	case 'D':
		s := r.subscribed(b)
		return s != nil && size-dataHead >= s.min && size-dataHead <= s.max
	case 'A':
		return size > 3 && len(b) > 3 && isName(b[3:])
	case 'B':
		return size >= 40 && !r.isData
	case 'F':
		return bytes.IndexByte(b, ':') > 0 && isName(b[:bytes.IndexByte(b, ':')])
	case 'I', 'P':
		return size > 4 && len(b) > 0 && int(b[0]) < size && b[0] >= 3
	case 'M', 'Q':
		return size > 5 && len(b) > 1 && int(b[1])+1 < size && b[1] >= 3
	case 'L':
		return size >= 1+stampSize
	case 'C':
		return size >= 3+stampSize
	case 'R', 'O':
		return size == 2
	case 'S':
		return size == 8 && bytes.HasPrefix(syncRecord[frameSize:], b)
	}
	return false
}

// follows reports whether sensible records follow n bytes from here, as far as the
// window and the file go.
func (r *Reader) follows(n int) bool {
	held := r.Window.Peek(window / 2)
	for k := 1; k < chain; k++ {
		if n == len(held) {
			return true // the file ends with a whole record, or the window with it
		}
		if n+frameSize > len(held) {
			return n > window/4
		}
		size := int(binary.LittleEndian.Uint16(held[n:]))
		content := held[n+frameSize : min(len(held), n+frameSize+size)]
		switch {
		case len(content) < size:
			return false
		case !r.sensible(content, size, held[n+2]):
			if !later(held[n+2], size) {
				return false
			}
			k-- // it shows nothing
		}
		n += frameSize + size
	}
	return true
}

// later reports whether a record may be of a later version of the format.
func later(kind byte, size int) bool {
	return names[kind] == "" && kind >= 'A' && kind <= 'Z' && size > 0
}

// resync continues at the next byte from which records make sense. The record at
// hand, at byte at, does not.
func (r *Reader) resync(at int64) {
	kind := "record"
	if head := r.Window.Peek(frameSize); len(head) == frameSize {
		kind = name(head[2])
	}
	r.Resync(at, kind, "damaged", frameSize-1, 4, func(held []byte, most int) int {
		for i := range most {
			if r.resyncCandidate(held[i:]) {
				return i
			}
		}
		return -1
	})
}

// resyncCandidate reports whether held begins with sensible records.
func (r *Reader) resyncCandidate(held []byte) bool {
	if bytes.HasPrefix(held, syncRecord) || bytes.HasPrefix(held, Magic) && len(held) >= headerSize {
		return true
	}
	for n, k := 0, 0; k < chain; k++ {
		if n == len(held) && k > 0 {
			return true // up to the end of the file
		}
		if n+frameSize > len(held) {
			return false
		}
		size := int(binary.LittleEndian.Uint16(held[n:]))
		switch {
		case n+frameSize+size > len(held):
			return false
		case !r.sensible(held[n+frameSize:n+frameSize+size], size, held[n+2]):
			if n == 0 || !later(held[n+2], size) {
				return false
			}
			k--
		}
		n += frameSize + size
	}
	return true
}

// isName reports whether bytes can name a type.
func isName(b []byte) bool {
	for _, c := range b {
		if c != '_' && c != '-' && c != '/' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return len(b) > 0
}
