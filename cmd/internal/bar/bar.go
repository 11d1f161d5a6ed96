// Package bar shows how far a training is.
package bar

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/dgm-robotics/dgm/trainer"
)

// Bar shows progress: one line that changes on a terminal, else a line every ten
// seconds. It is safe for concurrent use.
type Bar struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	last     time.Time
	shown    bool
}

// New returns a bar on w, which may be a terminal.
func New(w io.Writer, terminal bool) *Bar { return &Bar{w: w, terminal: terminal} }

// Show shows p, unless the last one is too recent.
func (b *Bar) Show(p trainer.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	pause := 10 * time.Second
	if b.terminal {
		pause = 100 * time.Millisecond
	}
	now := time.Now()
	if now.Sub(b.last) < pause {
		return
	}
	b.last = now
	left := "estimating time left"
	if p.Left > 0 {
		left = fmt.Sprintf("about %s left", p.Left.Round(time.Second))
	}
	line := fmt.Sprintf("%3.0f %%  %s, %s, %s", 100*p.Done, p.Phase, p.Elapsed.Round(time.Second), left)
	if b.terminal {
		const width = 24
		n := int(p.Done * width)
		fmt.Fprintf(b.w, "\r\x1b[K[%s%s] %s", strings.Repeat("=", n), strings.Repeat(" ", width-n), line)
		b.shown = true
		return
	}
	fmt.Fprintln(b.w, line)
}

// Print prints a line of its own, at once.
func (b *Bar) Print(line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.erase()
	fmt.Fprintln(b.w, line)
}

// Clear removes the line.
func (b *Bar) Clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.erase()
}

func (b *Bar) erase() {
	if b.shown {
		fmt.Fprint(b.w, "\r\x1b[K")
		b.shown = false
	}
}
