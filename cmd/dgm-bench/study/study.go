// Package study runs studies and shows their results. A study is data: its units of work,
// a function that turns a unit into rows, and a function that turns rows into tables.
//
// Rows are stored as JSON lines, one file a study. A unit whose row is stored does not run
// again, so that an interrupted study resumes. Tables are printed, and written into Markdown
// pages between markers.
package study

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Study is one experiment or measurement.
//
// The units are all combinations of sets, variants and seeds, or where Units is given what
// it returns. An experiment has flags --sets, --seeds, --first-seed and --out. A measurement
// (Units is given) has --json and --out, without which its rows are not stored.
type Study struct {
	Name, Short, Long, Example string

	File    string                   // (optional) of its rows, without ending; defaults to Name
	Sets    []string                 // of its units
	Usual   []string                 // (optional) sets without --sets; defaults to Sets
	Seeds   int                      // without --seeds
	From    int                      // first seed without --first-seed
	Kinds   []string                 // (optional) variants, of which --variants chooses
	Version func(variant string) int // (optional) of the recipe that makes a variant's rows
	Needs   []string                 // values without which a row is no result, unless it has a text "failed"
	Summary []string                 // values that are printed when a unit is done

	Numbers []Flag                                   // (optional) further flags with bounds
	Flags   func(cmd *cobra.Command)                 // (optional) further flags
	Units   func() ([]Work, error)                   // (optional) of a measurement, where flags decide them
	Run     func(ctx context.Context, u *Unit) error // of units without a Run of their own; none: the study is only stored
	Tables  func(all *Results, rows []*Row) ([]Table, error)
	List    func() []string         // (optional) lines that are printed instead of running, where there are any
	Failed  func(rows []*Row) error // (optional) the error that makes the command fail

	usual []string // values of Numbers without flags
}

func (s *Study) file() string {
	if s.File != "" {
		return s.File
	}
	return s.Name
}

func (s *Study) version(variant string) int {
	if s.Version == nil {
		return 0
	}
	return s.Version(variant)
}

// tables returns the tables of rows, whose titles name flags that changed results.
func (s *Study) tables(all *Results, rows []*Row) ([]Table, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	tables, err := s.Tables(all, rows)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	if changed := rows[0].Settings; changed != "" {
		for i := range tables {
			tables[i].Text += " Made with " + changed + "."
			tables[i].Title += " (" + changed + ")"
		}
	}
	return tables, nil
}

func (s *Study) owns(r *Row) bool {
	if s.Sets != nil && !slices.Contains(s.Sets, r.Set) {
		return false
	}
	return s.Units != nil || s.Run == nil || slices.Contains(s.Kinds, r.Variant) || s.Kinds == nil && r.Variant == ""
}

// Gather returns the stored rows of the study that were made with the defaults and the
// recipe of today, in the order of sets and of their file.
func (s *Study) Gather(store *Results) ([]*Row, error) {
	var all []*Row
	for _, r := range store.Rows(s.file()) {
		if !s.owns(r) || r.Settings != "" || r.Version != s.version(r.Variant) {
			continue
		}
		if err := s.complete(r); err != nil {
			return nil, fmt.Errorf("%s%s: %w: remove the line, and its unit runs again", s.file(), ending, err)
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b *Row) int { return slices.Index(s.Sets, a.Set) - slices.Index(s.Sets, b.Set) })
	return all, nil
}

// complete returns what a row lacks to be a result.
func (s *Study) complete(r *Row) error {
	if r.Text("failed") != "" {
		return nil
	}
	for _, name := range s.Needs {
		if !r.Has(name) {
			return fmt.Errorf("%s is no result: it has no %s", r.Key, name)
		}
	}
	return nil
}

// summary returns the values that are printed when a unit is done.
func (s *Study) summary(r *Row) string {
	if why := r.Text("failed"); why != "" {
		return why
	}
	var parts []string
	for _, name := range s.Summary {
		if v := r.values[name]; v != nil {
			if x, ok := v.(float64); ok {
				v = fmt.Sprintf("%.4g", x)
			}
			parts = append(parts, fmt.Sprintf("%s %v", strings.ReplaceAll(name, "_", " "), v))
		}
	}
	if len(parts) == 0 {
		return "done"
	}
	return strings.Join(parts, ", ")
}

// rowsOf returns the stored rows of units.
func (s *Study) rowsOf(store *Results, units []Work) []*Row {
	var out []*Row
	for _, w := range units {
		if r := store.find(s.file(), w.Key); r != nil {
			out = append(out, r)
		}
	}
	return out
}

// LeftOut returns a line for every stored row that no study shows.
func LeftOut(store *Results, studies []*Study) []string {
	shown := map[*Row]bool{}
	var lines []string
	for _, s := range studies {
		for _, r := range store.Rows(s.file()) {
			shown[r] = shown[r] || s.owns(r) && r.Settings == "" && r.Version == s.version(r.Variant)
		}
	}
	for file, rows := range store.rows {
		for _, r := range rows {
			if shown[r] {
				continue
			}
			why := "no study makes it"
			if r.Settings != "" {
				why = "made with " + r.Settings
			} else if r.Version != 0 {
				why = fmt.Sprintf("made with version %d of the recipe", r.Version)
			}
			lines = append(lines, fmt.Sprintf("%s%s: %s: %s", file, ending, r.Key, why))
		}
	}
	slices.Sort(lines)
	return lines
}

var errNoResults = errors.New("the folder has no results: run one of the studies first")
