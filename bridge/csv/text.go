package csv

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// utf8Of reads UTF-16 text, after its byte order mark, or text of one byte a character, as
// UTF-8.
type utf8Of struct {
	r       *bufio.Reader
	single  bool // ISO 8859-1, in which spreadsheets on Windows write a degree sign
	big     bool // the high byte comes first
	pending []byte
	kept    rune // read ahead; 0 = none
}

func (u *utf8Of) Read(b []byte) (n int, err error) {
	for n < len(b) {
		if len(u.pending) == 0 {
			c, err := u.next()
			if err != nil {
				if n > 0 && errors.Is(err, io.EOF) {
					err = nil
				}
				return n, err
			}
			u.pending = utf8.AppendRune(u.pending[:0], c)
		}
		k := copy(b[n:], u.pending)
		u.pending = u.pending[k:]
		n += k
	}
	return n, nil
}

func (u *utf8Of) next() (rune, error) {
	if u.single {
		b, err := u.r.ReadByte()
		return rune(b), err
	}
	c := u.kept
	u.kept = 0
	if c == 0 {
		var err error
		if c, err = u.unit(); err != nil {
			return 0, err
		}
	}
	if !utf16.IsSurrogate(c) {
		return c, nil
	}
	low, err := u.unit()
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	pair := utf16.DecodeRune(c, low)
	if pair == unicode.ReplacementChar {
		u.kept = low // half a pair
	}
	return pair, nil
}

// unit returns the next 16 bits. Half of them at the end are left out.
func (u *utf8Of) unit() (rune, error) {
	var b [2]byte
	if _, err := io.ReadFull(u.r, b[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF
		}
		return 0, err
	}
	if u.big {
		return rune(b[0])<<8 | rune(b[1]), nil
	}
	return rune(b[1])<<8 | rune(b[0]), nil
}

// lineError is a line that no table has.
type lineError struct {
	line           int
	reason, remedy string
}

func (e *lineError) Error() string { return e.reason }

// lines reads text line by line, in bounded memory, and fails at a line that is too long or
// in which a quote stays open: up to the next quote, rows would be one cell. Where cells are
// separated by any number of spaces and tabs, one tab is between them.
type lines struct {
	r       *bufio.Reader
	spaces  bool
	comment byte
	number  int
	open    int // number of the last line where it has no line end
	line    []byte
	given   int // bytes of line that were read
}

func (l *lines) Read(b []byte) (int, error) {
	for l.given == len(l.line) {
		if err := l.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, l.line[l.given:])
	l.given += n
	return n, nil
}

func (l *lines) next() error {
	l.number++
	l.line, l.given = l.line[:0], 0
	for {
		part, err := l.r.ReadSlice('\n')
		if bytes.IndexByte(part, 0) >= 0 {
			return &lineError{l.number, "it holds zeros, as a file does of which the end was not written before power was lost", fmt.Sprintf("keep what is ahead of line %d", l.number)}
		}
		if l.line = append(l.line, part...); len(l.line) > maxLine {
			return &lineError{l.number, fmt.Sprintf("a line of more than %d bytes", maxLine), "give a table of text with line ends"}
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (len(l.line) == 0 || !errors.Is(err, io.EOF)) {
			return err
		}
		if err != nil {
			l.open = l.number
		}
		break
	}
	if bytes.Count(l.line, []byte{'"'})%2 > 0 && l.line[0] != l.comment {
		return &lineError{l.number, "a quote is open at its end", "correct the quotes of the line or delete it; a cell may not go on in the next line"}
	}
	if l.spaces {
		l.line = tabbed(l.line)
	}
	return nil
}

// tabbed puts one tab between the cells of a line in place.
func tabbed(line []byte) []byte {
	end := bytes.HasSuffix(line, []byte{'\n'})
	out := line[:0]
	for cell := range bytes.FieldsFuncSeq(line, unicode.IsSpace) {
		if len(out) > 0 {
			out = append(out, '\t')
		}
		out = append(out, cell...)
	}
	if end {
		out = append(out, '\n')
	}
	return out
}
