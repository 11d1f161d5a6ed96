package csv

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
)

// utf8Of reads UTF-16 text, after its byte order mark, or text of one byte a character, as
// UTF-8.
type utf8Of struct {
	r       io.Reader
	order   binary.ByteOrder // nil: ISO 8859-1, in which spreadsheets on Windows write a degree sign
	buf     [4096]byte
	half    []uint16 // the first of a pair at the end of buf
	pending []byte
}

func (u *utf8Of) Read(b []byte) (int, error) {
	for len(u.pending) == 0 {
		n, err := io.ReadFull(u.r, u.buf[:])
		if n == 0 {
			return 0, err
		}
		units := u.half
		u.half = nil
		for i := 0; u.order == nil && i < n; i++ {
			units = append(units, uint16(u.buf[i]))
		}
		for i := 0; u.order != nil && i+1 < n; i += 2 { // half of a unit at the end is left out
			units = append(units, u.order.Uint16(u.buf[i:]))
		}
		if k := len(units) - 1; err == nil && units[k]&0xfc00 == 0xd800 {
			units, u.half = units[:k], []uint16{units[k]}
		}
		u.pending = []byte(string(utf16.Decode(units)))
	}
	n := copy(b, u.pending)
	u.pending = u.pending[n:]
	return n, nil
}

// mark is what text in UTF-8 begins with, also within files that were put one behind the other.
var mark = []byte("\xef\xbb\xbf")

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
	ahead   int // lines ahead of the table: they are given as empty ones
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
			return &lineError{l.number, "it has zeros, as if power was lost before the end of the file was written", fmt.Sprintf("keep the lines before line %d, or, if there are others behind the zeros, delete those that have some", l.number)}
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
	if l.number <= l.ahead {
		l.line = append(l.line[:0], '\n')
		return nil
	}
	l.line = plain(bytes.TrimPrefix(l.line, mark))
	if bytes.Count(l.line, []byte{'"'})%2 > 0 && l.line[0] != l.comment {
		return &lineError{l.number, "a quote is open at its end", "correct the quotes of the line or delete it; a cell may not continue in the next line"}
	}
	if l.spaces {
		l.line = tabbed(l.line)
	}
	return nil
}

// plain returns text in which cells that are written as formulas of spreadsheets, such as ="0.01", are their texts.
func plain(text []byte) []byte {
	text = unwrapped(text)
	at := bytes.Index(text, []byte(`="`))
	if at < 0 {
		return text
	}
	out := bytes.Clone(text[:at])
	for i := at; i < len(text); i++ {
		if text[i] == '=' && i+1 < len(text) && text[i+1] == '"' && (i == 0 || bytes.IndexByte([]byte(",;\t\n "), text[i-1]) >= 0) {
			continue
		}
		out = append(out, text[i])
	}
	return out
}

// unwrapped returns lines without the brackets around each, as arrays and tuples of Python are printed, or the quotes.
func unwrapped(text []byte) []byte {
	if len(text) == 0 || bytes.IndexByte([]byte("[(\""), text[0]) < 0 {
		return text
	}
	own := false
	for from := 0; from < len(text); {
		end := from + bytes.IndexByte(text[from:], '\n')
		if end < from {
			end = len(text)
		}
		if n := wrapped(text[from:end]); n > 0 {
			if !own {
				text, own = bytes.Clone(text), true
			}
			text[from] = ' '
			for i := from + n - 1; i < end; i++ {
				text[i] = ' '
			}
		}
		from = end + 1
	}
	return text
}

// wrapped returns the length of a line up to the bracket or quote that ends it as one begins it, 0 where none does.
func wrapped(line []byte) int {
	line = bytes.TrimRight(line, " \r,")
	n := len(line)
	if n < 2 {
		return 0
	}
	switch first, last := line[0], line[n-1]; {
	case first == '[' && last == ']', first == '(' && last == ')':
		return n
	case first == '"' && last == '"' && bytes.ContainsAny(line, ",;\t") && bytes.Count(line, line[:1]) == 2:
		return n
	}
	return 0
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
