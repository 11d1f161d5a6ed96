package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// usageError is wrong usage, found by a command itself.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

// Usage returns an error for wrong usage: the error in the arguments or flags and
// its correction.
func Usage(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// Terminal reports whether w is a terminal.
func Terminal(w io.Writer) bool {
	if m, ok := w.(*messages); ok {
		w = m.w
	}
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Count prints a number with its noun: "1 sample", "2 samples".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// WriteJSON writes a document for --json.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Wait waits for a time, or until the context ends.
func Wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// oneLine joins the lines of a message, which may come from any library.
func oneLine(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	return strings.Join(lines, " ")
}

// mostSettings bounds the size of a settings file, bytes.
const mostSettings = 1 << 20

// ReadSettings returns the text of a settings or key file. A log or a device in its
// place is not read to its end.
func ReadSettings(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostSettings+1))
	if err != nil {
		return nil, err
	}
	if len(b) > mostSettings {
		return nil, fmt.Errorf("%s: larger than %d bytes, not a settings or key file; name another file", path, mostSettings)
	}
	return b, nil
}

// nearest returns the name that is most like a word that was typed, "" where none is: it
// differs by a third of its letters or fewer, or one of the two begins with the other.
func nearest(word string, names []string) string {
	best, least := "", 0
	for _, name := range names {
		d := distance(strings.ToLower(word), name)
		if prefix := strings.HasPrefix(name, word) || strings.HasPrefix(word, name); prefix && len(word) > 1 {
			d = min(d, 1)
		}
		if 3*d <= max(len(name), 3) && (best == "" || d < least) {
			best, least = name, d
		}
	}
	return best
}

// didYouMean is a question behind a message, "" where no name is near.
func didYouMean(word, dashes string, names []string) string {
	if name := nearest(word, names); name != "" {
		return "; did you mean " + dashes + name + "?"
	}
	return ""
}

// distance returns how many letters must be inserted, removed, replaced, or exchanged with
// their neighbour to make b of a.
func distance(a, b string) int {
	two, one, now := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range now {
		now[j] = j
	}
	for i := range len(a) {
		two, one, now = one, now, two
		now[0] = i + 1
		for j := range len(b) {
			now[j+1] = min(one[j+1], now[j]) + 1
			if a[i] == b[j] {
				now[j+1] = min(now[j+1], one[j])
			} else {
				now[j+1] = min(now[j+1], one[j]+1)
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				now[j+1] = min(now[j+1], two[j-1]+1)
			}
		}
	}
	return now[len(b)]
}
