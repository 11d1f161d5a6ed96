package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dgm-robotics/dgm/cmd/dgm-demo/view"
	"github.com/dgm-robotics/dgm/trainer"
)

// output is the folder that everything is written to, and what was.
type output struct {
	folder string
	files  []written
}

// written is a file in it.
type written struct{ name, what string }

// openOutput returns the folder, new if need be. It fails at once where nothing
// can be written.
func openOutput(folder string) (*output, error) {
	if folder == "" {
		made, err := os.MkdirTemp("", "dgm-demo-")
		if err != nil {
			return nil, fmt.Errorf("no folder for temporary files: %w; choose one with --out", err)
		}
		return &output{folder: made}, nil
	}
	err := os.MkdirAll(folder, 0o777)
	if err == nil {
		var probe *os.File
		if probe, err = os.CreateTemp(folder, ".dgm-demo-"); err == nil {
			err = errors.Join(probe.Close(), os.Remove(probe.Name()))
		}
	}
	if err != nil {
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			err = path.Err
		}
		return nil, fmt.Errorf("%s: nothing can be written there: %w; choose another folder with --out", folder, err)
	}
	return &output{folder: folder}, nil
}

// path returns the path of a file in the folder.
func (o *output) path(name string) string { return filepath.Join(o.folder, name) }

func (o *output) wrote(name, what string) { o.files = append(o.files, written{name, what}) }

// list prints what was written and where.
func (o *output) list(w io.Writer) {
	if len(o.files) == 0 {
		return
	}
	fmt.Fprintf(w, "Written to %s:\n", o.folder)
	for _, f := range o.files {
		size := int64(0)
		if info, err := os.Stat(o.path(f.name)); err == nil {
			size = info.Size()
		}
		fmt.Fprintf(w, "  %-20s %6.0f kB  %s\n", f.name, float64(size)/1000, f.what)
	}
}

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

// screen is where the demo prints what it does.
type screen struct {
	io.Writer
	tty  bool
	size view.Size
}

func newScreen(w io.Writer) *screen {
	s := &screen{Writer: w, size: view.Size{Columns: 80, Rows: 24}}
	if f, ok := w.(*os.File); ok && view.IsTerminal(f) {
		s.tty = true
		if columns, rows, ok := terminalSize(f); ok {
			s.size = view.Size{Columns: min(columns, 120), Rows: min(rows, 32)}
		}
	}
	s.size.Rows-- // the cursor has a line of its own
	return s
}
