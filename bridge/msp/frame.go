package msp

import (
	"bytes"
	"encoding/binary"
)

// Frame is one frame. Its payload is valid until the reader that returned it gets more bytes.
type Frame struct {
	Command uint16
	Payload []byte
	Kind    byte // < a request, > a reply, ! the reply to what is not known
}

// The kinds of frames.
const (
	Request = '<'
	Reply   = '>'
	Unknown = '!'
)

// most is the longest payload that is read: what is asked for has less, and a damaged length must not hold up what follows.
const most = 4096

// jumbo is the length in a frame of version 1 whose length has a place of its own.
const jumbo = 255

// Reader finds frames among bytes. The zero value is ready.
type Reader struct {
	Damaged int // frames with a wrong checksum, or an impossible length
	Skipped int // bytes that belong to no frame

	buf []byte
	at  int // where in buf the next frame is sought
}

// Add takes bytes as they come; then Next returns the frames.
func (r *Reader) Add(b []byte) {
	r.buf = append(r.buf[:copy(r.buf, r.buf[r.at:])], b...)
	r.at = 0
}

// Next returns the next whole frame; ok is false where more bytes are needed.
func (r *Reader) Next() (f Frame, ok bool) {
	for {
		i := bytes.IndexByte(r.buf[r.at:], '$')
		if i < 0 {
			i = len(r.buf) - r.at
		}
		r.pass(i)
		f, n := parse(r.buf[r.at:])
		switch {
		case n > 0:
			r.at += n
			return f, true
		case n == short:
			return Frame{}, false
		case n == damaged:
			r.Damaged++
		}
		r.pass(1) // a frame may begin within
	}
}

// Resync gives up what was received of a frame: the rest of it does not come.
func (r *Reader) Resync() { r.pass(len(r.buf) - r.at) }

func (r *Reader) pass(n int) { r.at, r.Skipped = r.at+n, r.Skipped+n }

// What parse returns in place of a length.
const (
	short   = -iota // more bytes are needed
	no              // no frame begins here
	damaged         // a frame begins here, but it is damaged
)

// parse reads the frame at the start of b, and returns how many bytes it has.
func parse(b []byte) (f Frame, n int) {
	if len(b) < 3 {
		return f, short
	}
	if b[0] != '$' || b[2] != Request && b[2] != Reply && b[2] != Unknown {
		return f, no
	}
	head, length := 5, 0 // bytes ahead of the payload, and of it
	switch b[1] {
	case 'M':
		if len(b) > 3 && b[3] == jumbo {
			head = 7
		}
	case 'X':
		head = 8
	default:
		return f, no
	}
	if len(b) < head {
		return f, short
	}
	f.Kind, f.Command, length = b[2], uint16(b[4]), int(b[3])
	switch {
	case b[1] == 'X':
		f.Command, length = binary.LittleEndian.Uint16(b[4:]), int(binary.LittleEndian.Uint16(b[6:]))
	case head == 7:
		length = int(binary.LittleEndian.Uint16(b[5:]))
	}
	if length > most {
		return f, damaged
	}
	if n = head + length + 1; len(b) < n {
		return f, short
	}
	if checksum(b[:n-1]) != b[n-1] {
		return f, damaged
	}
	f.Payload = b[head : n-1]
	return f, n
}

// checksum returns that of a frame but for its last byte.
func checksum(b []byte) (sum byte) {
	for _, c := range b[3:] {
		sum ^= c
		if b[1] != 'X' {
			continue
		}
		for range 8 {
			high := sum&0x80 != 0
			if sum <<= 1; high {
				sum ^= 0xd5
			}
		}
	}
	return sum
}

// Append appends a frame to dst: of version 1 where the command fits, of version 2 else.
func (f *Frame) Append(dst []byte) []byte {
	at := len(dst)
	switch n := len(f.Payload); {
	case f.Command > 254:
		dst = append(dst, '$', 'X', f.Kind, 0)
		dst = binary.LittleEndian.AppendUint16(dst, f.Command)
		dst = binary.LittleEndian.AppendUint16(dst, uint16(n))
	case n >= jumbo:
		dst = append(dst, '$', 'M', f.Kind, jumbo, byte(f.Command))
		dst = binary.LittleEndian.AppendUint16(dst, uint16(n))
	default:
		dst = append(dst, '$', 'M', f.Kind, byte(n), byte(f.Command))
	}
	dst = append(dst, f.Payload...)
	return append(dst, checksum(dst[at:]))
}
