package csv

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// utf8Of reads UTF-16 text, after its byte order mark, as UTF-8.
type utf8Of struct {
	r       *bufio.Reader
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

// next returns the next character.
func (u *utf8Of) next() (rune, error) {
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

// tabbed reads text whose cells are separated by any number of spaces and tabs with one tab
// between them. Lines stay lines.
type tabbed struct {
	r       *bufio.Reader
	pending []byte
}

func (t *tabbed) Read(b []byte) (int, error) {
	for len(t.pending) == 0 {
		line, err := t.r.ReadString('\n')
		if line == "" && err != nil {
			return 0, err
		}
		if len(line) > maxLine {
			return 0, errLongLine
		}
		text := strings.Join(strings.FieldsFunc(line, unicode.IsSpace), "\t")
		if strings.HasSuffix(line, "\n") {
			text += "\n"
		}
		t.pending = []byte(text)
	}
	n := copy(b, t.pending)
	t.pending = t.pending[n:]
	return n, nil
}
