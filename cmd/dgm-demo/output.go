package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/dgm-robotics/dgm/cmd/dgm-demo/view"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
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
	if err := cli.Folder("--out", folder); err != nil {
		return nil, err
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
