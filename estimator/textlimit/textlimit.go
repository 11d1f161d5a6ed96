// Package textlimit bounds TOML texts before they are parsed: maps and settings come from elsewhere, and a parser takes memory with the
// square of the depth of a text.
package textlimit

import (
	"bytes"
	"fmt"
)

// Limits of a text.
const (
	MostBytes = 1 << 20
	MostDepth = 32 // parts of a key, and brackets within each other
)

// TOML returns an error for a text that is larger or deeper than settings are. It checks nothing else.
func TOML(text []byte) error {
	if len(text) > MostBytes {
		return fmt.Errorf("the text has %d bytes, and settings have at most %d", len(text), MostBytes)
	}
	line, depth, parts := 1, 0, 1
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\n':
			line, parts = line+1, 1
		case '#':
			i += bytes.IndexByte(append(text[i:len(text):len(text)], '\n'), '\n') - 1
		case '"', '\'':
			end := quoted(text[i:])
			line += bytes.Count(text[i:i+end], []byte("\n"))
			i += end - 1
		case '[', '{':
			depth, parts = depth+1, 1
		case ']', '}':
			depth, parts = max(0, depth-1), 1
		case '=', ',':
			parts = 1
		case '.':
			parts++
		}
		switch {
		case depth > MostDepth:
			return fmt.Errorf("line %d: more than %d brackets within each other", line, MostDepth)
		case parts > MostDepth:
			return fmt.Errorf("line %d: a key of more than %d parts", line, MostDepth)
		}
	}
	return nil
}

// quoted returns the length of the string that a text begins with, to the end of the text or of the line where it has no end.
func quoted(text []byte) int {
	quote := text[:1]
	if three := bytes.Repeat(quote, 3); bytes.HasPrefix(text, three) {
		for i := 3; i < len(text); i++ {
			switch {
			case text[i] == '\\' && quote[0] == '"':
				i++
			case bytes.HasPrefix(text[i:], three):
				return i + 3
			}
		}
		return len(text)
	}
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\n':
			return i
		case text[i] == '\\' && quote[0] == '"':
			i++
		case text[i] == quote[0]:
			return i + 1
		}
	}
	return len(text)
}
