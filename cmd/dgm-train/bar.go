package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/dgm-robotics/dgm/trainer"
)

// bar shows progress: one line that changes on a terminal, else a line every ten
// seconds.
type bar struct {
	w        io.Writer
	terminal bool
	last     time.Time
	shown    bool
}

func newBar(w io.Writer) *bar {
	f, ok := w.(*os.File)
	if !ok {
		return &bar{w: w}
	}
	info, err := f.Stat()
	return &bar{w: w, terminal: err == nil && info.Mode()&os.ModeCharDevice != 0}
}

func (b *bar) show(p trainer.Progress) {
	pause := 10 * time.Second
	if b.terminal {
		pause = 100 * time.Millisecond
	}
	if now := time.Now(); now.Sub(b.last) >= pause {
		b.last = now
	} else {
		return
	}
	left := "time left not known yet"
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

func (b *bar) end() {
	if b.shown {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}
