// Package view shows a running estimator in a terminal: the predicted band, the
// measurements that followed, coverage so far by horizon, and latency.
//
// It owns characters only: its input is a [Frame] of numbers. On a terminal the picture is redrawn in place, elsewhere (a
// pipe, a CI log) one line is printed every two seconds.
package view

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// How often something is shown.
const (
	redraw = 100 * time.Millisecond // on a terminal
	report = 2 * time.Second        // elsewhere
)

// View writes frames to a terminal, or lines to anything else.
type View struct {
	w      io.Writer
	tty    bool
	size   Size
	last   time.Time
	shown  bool
	height int // lines of the picture on the terminal
}

// Size is how many characters there are for the picture.
type Size struct{ Columns, Rows int }

// New returns a view on w. A terminal is redrawn in place.
func New(w io.Writer, tty bool, size Size) *View {
	return &View{w: w, tty: tty, size: size}
}

// IsTerminal reports whether f is a terminal that understands ANSI sequences.
func IsTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	term := os.Getenv("TERM")
	return term != "" && term != "dumb"
}

// Due reports whether Show would show a frame at this time.
func (v *View) Due(now time.Time) bool {
	every := report
	if v.tty {
		every = redraw
	}
	return !v.shown || now.Sub(v.last) >= every
}

// Show shows a frame, if it is time for the next one.
func (v *View) Show(now time.Time, f *Frame) error {
	if !v.Due(now) {
		return nil
	}
	v.last, v.shown = now, true
	if !v.tty {
		_, err := fmt.Fprintln(v.w, Line(f))
		return err
	}
	lines := strings.Split(strings.TrimSuffix(Picture(f, v.size, true), "\n"), "\n")
	var b strings.Builder
	if v.height > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", v.height)
	} else {
		b.WriteString("\x1b[?25l") // no cursor
	}
	for _, l := range lines {
		b.WriteString("\r" + l + "\x1b[K\n")
	}
	if len(lines) < v.height {
		b.WriteString("\x1b[J") // what is left of a taller picture
	}
	v.height = len(lines)
	_, err := io.WriteString(v.w, b.String())
	return err
}

// Close leaves the last picture and restores the cursor. It is called also when the
// program is interrupted.
func (v *View) Close() error {
	if !v.tty || v.height == 0 {
		return nil
	}
	v.height = 0
	_, err := io.WriteString(v.w, "\x1b[?25h")
	return err
}

// Line describes a frame in one line.
func Line(f *Frame) string {
	note := ""
	if f.Note != "" {
		note = "; " + f.Note
	}
	return fmt.Sprintf("%s  %d predictions at %.0f Hz, coverage of 95 %%: %s, latency p50 %s p99 %s, missing %d, overdue %d%s",
		elapsed(f), f.Predicted, f.Rate, percent(f.Pooled), millis(f.P50), millis(f.P99), f.Missing, f.Overdue, note)
}
