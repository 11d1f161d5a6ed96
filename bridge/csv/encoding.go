package csv

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"unicode"
	"unicode/utf8"

	"github.com/dgm-robotics/dgm/bridge/input"
)

// mostHead bounds what a layout is found from, bytes.
const mostHead = 64 << 10

// text returns a file as UTF-8 behind what programs write before a table, and its first bytes.
func (t *table) text(f *input.File) (*bufio.Reader, []byte, error) {
	text, head, err := peeked(f)
	if err != nil {
		return nil, nil, t.failed(err)
	}
	if order, mark := utf16Of(head); order != nil {
		_, _ = text.Discard(mark) // they were looked at
		if text, head, err = peeked(&utf8Of{r: text, order: order}); err != nil {
			return nil, nil, t.failed(err)
		}
	}
	if err := t.isTable(head); err != nil {
		return nil, nil, err
	}
	skip := func(n int) {
		head = head[n:]
		_, _ = text.Discard(n) // they were looked at
	}
	if bytes.HasPrefix(head, mark) {
		skip(3)
	}
	if !utf8.Valid(head[:max(0, len(head)-utf8.UTFMax)]) || len(head) < mostHead/2 && !utf8.Valid(head) {
		if text, head, err = peeked(&utf8Of{r: text}); err != nil {
			return nil, nil, t.failed(err)
		}
	}
	if end := bytes.IndexByte(head, '\n'); end > 0 && bytes.HasPrefix(head, []byte("sep=")) { // spreadsheets write it
		skip(end)
	}
	return text, head, nil
}

// utf16Of returns the order of the bytes of text in UTF-16, and how many bytes mark it: programs that append to a file write no mark. It is
// nil of other text.
func utf16Of(head []byte) (order binary.ByteOrder, mark int) {
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		return binary.LittleEndian, 2
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return binary.BigEndian, 2
	case len(head) < 4 || len(head)%2 > 0:
		return nil, 0
	}
	var zeros [2]int
	for i, c := range head {
		if c == 0 {
			zeros[i%2]++
		}
	}
	switch mostly := len(head) / 2 * 9 / 10; {
	case zeros[0] == 0 && zeros[1] >= mostly:
		return binary.LittleEndian, 0
	case zeros[1] == 0 && zeros[0] >= mostly:
		return binary.BigEndian, 0
	}
	return nil, 0
}

// peeked returns a reader of r and the first bytes of it.
func peeked(r io.Reader) (*bufio.Reader, []byte, error) {
	text := bufio.NewReaderSize(r, mostHead)
	head, err := text.Peek(mostHead)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return text, head, err
}

// tarAt is where an archive of tar says that it is one.
const tarAt = 257

// isTable returns an error for what is no text in lines.
func (t *table) isTable(head []byte) error {
	switch {
	case len(bytes.TrimSpace(head)) == 0 && len(head) < mostHead:
		return t.fail(0, "", "the file is empty", "export it again")
	case len(head) > tarAt && bytes.HasPrefix(head[tarAt:], []byte("ustar")):
		return t.fail(0, "", "the file is an archive (tar)", "unpack it with tar -xf, and give what is in it")
	case bytes.IndexByte(head, 0) >= 0 && !unwritten(head):
		return t.fail(0, "", "the file is not text", "give a table of text, as UTF-8; other logs have importers of their own")
	case bytes.IndexByte(head, '\n') < 0 && bytes.IndexByte(head, '\r') >= 0:
		return t.fail(1, "", "lines end with a carriage return alone, and it would be one line", "export it with line feeds")
	}
	return nil
}

// unwritten reports whether a beginning is lines of text up to zeros, as where a recorder lost its power, or a card a part of
// the file.
func unwritten(head []byte) bool {
	text := head[:bytes.IndexByte(head, 0)]
	return bytes.Count(text, []byte{'\n'}) > 1 && bytes.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }) < 0
}
