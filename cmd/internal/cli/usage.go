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
