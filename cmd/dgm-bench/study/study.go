// Package study runs studies and shows their results. A study is data: its units of work,
// a function that turns a unit into rows, and a function that turns rows into tables.
//
// Rows are stored as JSON lines, one file a study. A unit whose row is stored does not run
// again, so that an interrupted study resumes. Tables are printed, written into an HTML
// report, and written into Markdown pages between markers.
package study

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// Study is one experiment or measurement.
//
// The units are all combinations of sets, variants and seeds, or where Units is given what
// it returns. An experiment has flags --sets, --seeds, --first-seed and --out. A measurement
// (Units is given) has --json and --out, without which its rows are not stored.
type Study struct {
	Name, Short, Long, Example string

	File    string                   // (optional) of its rows, without ending; defaults to Name
	Keyed   string                   // (optional) Study in its keys
	Sets    []string                 // of its units
	Usual   []string                 // (optional) sets without --sets; defaults to Sets
	Seeds   int                      // without --seeds
	From    int                      // first seed without --first-seed
	Kinds   []string                 // (optional) variants, of which --variants chooses
	Side    bool                     // units run side by side, each on one processor
	Version func(variant string) int // (optional) of the recipe that makes a variant's rows
	Needs   []string                 // values without which a row is no result, unless it has a text "failed"
	Summary []string                 // values that are printed when a unit is done

	Flags    func(f *pflag.FlagSet)        // (optional) further flags
	Check    func() error                  // (optional) what is wrong with their values
	Variants func() []string               // (optional) variants, where flags decide them
	Units    func() ([]Key, error)         // (optional) keys, where flags decide them
	Settings func() string                 // (optional) flags that are not at their defaults and change results
	Whole    func(dir string, r *Row) bool // (optional) whether nothing but the row is missing
	Run      func(ctx context.Context, u *Unit) error
	Tables   func(all *Results, rows []*Row) ([]Table, error)
	List     func() []string         // (optional) lines that are printed instead of running, where there are any
	Failed   func(rows []*Row) error // (optional) the error that makes the command fail
	Document func() map[string]any   // (optional) further values of the JSON document
}

// mostSeeds bounds --seeds.
const mostSeeds = 1000

func (s *Study) file() string {
	if s.File != "" {
		return s.File
	}
	return s.Name
}

// options are the values of the common flags.
type options struct {
	sets, variants []string
	seeds, from    int
	out            string
	json           bool
}

// keys returns the units that the flags ask for.
func (s *Study) keys(o *options) ([]Key, error) {
	var all []Key
	if s.Units != nil {
		var err error
		if all, err = s.Units(); err != nil {
			return nil, err
		}
	} else {
		variants := o.variants
		if s.Variants != nil {
			variants = s.Variants()
		}
		for _, set := range o.sets {
			for _, v := range variants {
				for seed := range o.seeds {
					all = append(all, Key{Set: set, Variant: v, Seed: o.from + seed})
				}
			}
		}
	}
	for i := range all {
		k := &all[i]
		k.Study, k.Version = s.Keyed, s.version(k.Variant)
		if s.Settings != nil {
			k.Settings = s.Settings()
		}
	}
	var out []Key
	for _, k := range all {
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	if len(out) == 0 {
		return nil, cli.Usage("a flag with an empty list leaves nothing to do")
	}
	return out, nil
}

func (s *Study) version(variant string) int {
	if s.Version == nil {
		return 0
	}
	return s.Version(variant)
}

// Command returns the study's command.
func (s *Study) Command() *cobra.Command {
	o := options{variants: []string{""}}
	var asked string
	cmd := &cobra.Command{Use: s.Name, Short: s.Short, Long: s.Long, Example: s.Example, Args: cobra.NoArgs}
	f := cmd.Flags()
	if s.Units == nil {
		usual := s.Usual
		if usual == nil {
			usual = s.Sets
		}
		f.StringVar(&asked, "sets", strings.Join(usual, ","), "data sets, separated by commas, of "+strings.Join(s.Sets, ","))
		f.IntVar(&o.seeds, "seeds", s.Seeds, "noise seeds of each set")
		f.IntVar(&o.from, "first-seed", s.From, "first of the seeds")
		f.StringVar(&o.out, "out", DefaultDir(), "folder of the results; at the top of the repository that of the committed ones")
	} else {
		f.BoolVar(&o.json, "json", false, "one JSON document on standard output and nothing else")
		f.StringVar(&o.out, "out", "", "(optional) folder to store results in; what is stored there is not measured again")
	}
	if s.Kinds != nil {
		f.StringSliceVar(&o.variants, "variants", s.Kinds, "of "+strings.Join(s.Kinds, ","))
	}
	if s.Flags != nil {
		s.Flags(f)
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := s.check(&o, asked); err != nil {
			return err
		}
		if s.List != nil {
			if lines := s.List(); len(lines) > 0 {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), strings.Join(lines, "\n"))
				return err
			}
		}
		keys, err := s.keys(&o)
		if err != nil {
			return err
		}
		return s.execute(cmd, &o, keys)
	}
	return cmd
}

// check returns what is wrong with the values of the flags.
func (s *Study) check(o *options, asked string) error {
	if s.Units == nil {
		if o.seeds < 1 || o.seeds > mostSeeds || o.from < 0 || o.from > math.MaxInt32-mostSeeds {
			return cli.Usage("--seeds must be within 1 … %d and --first-seed within 0 … %d", mostSeeds, math.MaxInt32-mostSeeds)
		}
		var err error
		if o.sets, err = Chosen("--sets", asked, s.Sets); err != nil {
			return err
		}
	}
	for i, v := range o.variants {
		o.variants[i] = strings.ToLower(strings.TrimSpace(v))
		if s.Kinds != nil && !slices.Contains(s.Kinds, o.variants[i]) {
			return cli.Usage("--variants: %q is none of %s", v, strings.Join(s.Kinds, ", "))
		}
	}
	if s.Check != nil {
		if err := s.Check(); err != nil {
			return err
		}
	}
	if s.Units == nil || o.out != "" {
		return writable(o.out)
	}
	return nil
}

// execute runs the units and shows their tables.
func (s *Study) execute(cmd *cobra.Command, o *options, keys []Key) error {
	store, err := Open(o.out)
	if err != nil {
		return err
	}
	rows, err := s.run(cmd.Context(), cmd.ErrOrStderr(), store, keys)
	if err != nil {
		return err
	}
	if o.json {
		err = s.document(cmd.OutOrStdout(), rows)
	} else {
		err = s.show(cmd, store, rows)
	}
	if err == nil && s.Failed != nil {
		err = s.Failed(rows)
	}
	return err
}

// show prints the tables of rows. Pictures are of all rows that are stored.
func (s *Study) show(cmd *cobra.Command, store *Results, rows []*Row) error {
	tables, err := s.tables(store, rows)
	if err != nil {
		return err
	}
	whole, err := s.Gather(store)
	if err == nil && len(whole) > len(rows) && rows[0].Settings == "" {
		if drawn, err := s.tables(store, whole); err == nil && len(drawn) == len(tables) {
			for i := range tables {
				tables[i].Pictures = drawn[i].Pictures
			}
		}
	} else if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "pictures are of these results only: %v\n", err)
	}
	if err := show(cmd.OutOrStdout(), store.Dir, tables); err != nil {
		return err
	}
	if store.Dir != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "results and pictures are in %s\n", store.Dir)
	}
	return nil
}

// document writes the values of rows as one JSON document.
func (s *Study) document(w io.Writer, rows []*Row) error {
	list := []any{}
	for _, r := range rows {
		list = append(list, r.document())
	}
	doc := map[string]any{s.Name: list}
	if s.Document != nil {
		for name, v := range s.Document() {
			doc[name] = v
		}
	}
	return json.NewEncoder(w).Encode(doc)
}

// Chosen returns the names that a flag asks for, of those there are; spaces and capitals
// are ignored.
func Chosen(flag, asked string, of []string) ([]string, error) {
	var all []string
	for _, n := range strings.Split(strings.ToLower(asked), ",") {
		n = strings.ReplaceAll(n, " ", "")
		if !slices.Contains(of, n) {
			return nil, cli.Usage("%s %s: %q is none of %s", flag, asked, n, strings.Join(of, ", "))
		}
		if !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all, nil
}

// Changed returns a flag with its value, empty where the value is the default.
func Changed(flag string, is, usual any) string {
	if is == usual {
		return ""
	}
	return fmt.Sprintf("--%s %v", flag, is)
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

// owns reports whether a row of its file is one of the study's.
func (s *Study) owns(r *Row) bool {
	if r.Study != s.Keyed || s.Sets != nil && !slices.Contains(s.Sets, r.Set) {
		return false
	}
	return s.Units != nil || s.Variants != nil || s.Run == nil || slices.Contains(s.Kinds, r.Variant) || s.Kinds == nil && r.Variant == ""
}

// Gather returns the stored rows of the study that were made with the defaults and the
// recipe of today, in the order of sets, then of variants and seeds. A measurement's rows
// keep the order of its file.
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
	if s.Sets == nil {
		return all, nil
	}
	slices.SortStableFunc(all, func(a, b *Row) int {
		if c := slices.Index(s.Sets, a.Set) - slices.Index(s.Sets, b.Set); c != 0 {
			return c
		}
		if c := natural(a.Variant, b.Variant); c != 0 {
			return c
		}
		return a.Seed - b.Seed
	})
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

// rowsOf returns the rows of keys, each followed by those that its unit made besides.
func (s *Study) rowsOf(store *Results, keys []Key) []*Row {
	var out []*Row
	for _, k := range keys {
		for _, r := range store.Rows(s.file()) {
			same := r.Key
			if strings.HasPrefix(same.Variant, k.Variant+also) {
				same.Variant = k.Variant
			}
			if same == k {
				out = append(out, r)
			}
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

// natural orders texts with numbers in them by these.
func natural(a, b string) int {
	x, y := numbersIn(a), numbersIn(b)
	if len(x) == 0 || len(y) == 0 || textOf(a) != textOf(b) {
		return strings.Compare(a, b)
	}
	return slices.Compare(x, y)
}

func isDigit(c rune) bool { return c >= '0' && c <= '9' }

// textOf returns what stands before the first number.
func textOf(s string) string {
	if i := strings.IndexFunc(s, isDigit); i >= 0 {
		return s[:i]
	}
	return s
}

func numbersIn(s string) []int {
	var out []int
	for _, part := range strings.FieldsFunc(s, func(c rune) bool { return !isDigit(c) }) {
		n := 0
		for _, c := range part {
			n = 10*n + int(c-'0')
		}
		out = append(out, n)
	}
	return out
}

var errNoResults = errors.New("the folder holds no results: run one of the studies first")
