package paper

import (
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/dgm-robotics/dgm/estimator/durable"
)

// section is one table of a study with its pictures.
type section struct {
	Title, Text string
	Head        []string
	Rows        [][]string
	Pictures    []picture
}

// picture is an <svg> element that the plotter has drawn.
type picture struct {
	Name string // of its file, without folder and ending; empty: it has a file already
	SVG  []byte
}

// Inline returns the element for a page.
func (p picture) Inline() template.HTML { return template.HTML(p.SVG) }

// show prints the tables and writes the pictures to dir.
func show(w io.Writer, dir string, all []section) error {
	for i := range all {
		s := &all[i]
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := s.print(w); err != nil {
			return err
		}
		for _, p := range s.Pictures {
			if p.Name == "" {
				continue
			}
			if err := durable.WriteFile(filepath.Join(dir, p.Name+".svg"), p.SVG); err != nil {
				return err
			}
		}
	}
	return nil
}

// print writes the table as text.
func (s *section) print(w io.Writer) error {
	fmt.Fprintln(w, s.Title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, r := range append([][]string{s.Head}, s.Rows...) {
		fmt.Fprintln(t, strings.Join(r, "\t")+"\t")
	}
	return t.Flush()
}

// markdown returns the table.
func (s *section) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n| %s |\n|%s\n", s.Title, strings.Join(s.Head, " | "), strings.Repeat("---|", len(s.Head)))
	for _, r := range s.Rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(r, " | "))
	}
	return b.String()
}
