package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dgm-robotics/dgm/trainer"
)

// progress shows how far the training is: one line that changes on a terminal,
// elsewhere a line every ten seconds.
type progress struct {
	w     io.Writer
	tty   bool
	last  time.Duration // when it was shown last, of the training's time
	began bool
}

const barWidth = 24

func (b *progress) show(p trainer.Progress) {
	pause := 10 * time.Second
	if b.tty {
		pause = 100 * time.Millisecond
	}
	if b.began && p.Elapsed-b.last < pause {
		return
	}
	b.last, b.began = p.Elapsed, true
	line := fmt.Sprintf("%3.0f %%  training, %s", 100*p.Done, p.Phase)
	if p.Left > 0 {
		line += fmt.Sprintf(", about %.0f s left", p.Left.Seconds())
	}
	if !b.tty {
		fmt.Fprintln(b.w, line)
		return
	}
	n := min(max(int(p.Done*barWidth), 0), barWidth)
	fmt.Fprintf(b.w, "\r[%s%s] %s\x1b[K", strings.Repeat("=", n), strings.Repeat(" ", barWidth-n), line)
}

// end removes the line.
func (b *progress) end() {
	if b.tty && b.began {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
	b.began = false
}
