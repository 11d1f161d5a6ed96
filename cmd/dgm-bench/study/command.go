package study

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// mostSeeds bounds --seeds.
const mostSeeds = 1000

// options are the values of the common flags.
type options struct {
	sets, variants []string
	seeds, from    int
	out            string
	json           bool
}

// units returns the units that the flags ask for.
func (s *Study) units(o *options) (all []Work, err error) {
	if s.Units != nil {
		if all, err = s.Units(); err != nil {
			return nil, err
		}
	}
	for _, set := range o.sets {
		for _, v := range o.variants {
			for seed := range o.seeds {
				all = append(all, Work{Key: Key{Set: set, Variant: v, Seed: o.from + seed}})
			}
		}
	}
	var out []Work
	for _, w := range all {
		w.Settings, w.Version = s.settings(), s.version(w.Variant)
		if !slices.ContainsFunc(out, func(other Work) bool { return other.Key == w.Key }) {
			out = append(out, w)
		}
	}
	if len(out) == 0 {
		return nil, cli.Usage("a flag with an empty list leaves nothing to do")
	}
	return out, nil
}

// Command returns the study's command.
func (of *Study) Command() *cobra.Command {
	own := *of
	s := &own // what follows adds flags to it
	o := options{variants: []string{""}, seeds: s.Seeds, from: s.From}
	cmd := &cobra.Command{Use: s.Name, Short: s.Short, Long: s.Long, Example: s.Example, Args: cobra.NoArgs}
	f := cmd.Flags()
	if s.Units == nil {
		usual := s.Usual
		if usual == nil {
			usual = s.Sets
		}
		f.StringSliceVar(&o.sets, "sets", usual, "data sets, separated by commas, of "+strings.Join(s.Sets, ","))
		s.Numbers = append([]Flag{
			{Name: "seeds", Usage: "noise seeds of each set", Value: &o.seeds, Least: 1, Most: mostSeeds},
			{Name: "first-seed", Usage: "first of the seeds", Value: &o.from, Most: math.MaxInt32 - mostSeeds},
		}, s.Numbers...)
		f.StringVar(&o.out, "out", DefaultDir(), "folder of the results; at the top of the repository that of the committed ones")
	} else {
		f.BoolVar(&o.json, "json", false, "one JSON document on standard output and nothing else")
		f.StringVar(&o.out, "out", "", "(optional) folder to store results in; what is stored there is not measured again")
	}
	if s.Kinds != nil {
		f.StringSliceVar(&o.variants, "variants", s.Kinds, "of "+strings.Join(s.Kinds, ","))
	}
	for i := range s.Numbers {
		s.Numbers[i].register(cmd)
		s.usual = append(s.usual, s.Numbers[i].text())
	}
	if s.Flags != nil {
		s.Flags(cmd)
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := s.check(&o); err != nil {
			return err
		}
		if s.List != nil {
			if lines := s.List(); len(lines) > 0 {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), strings.Join(lines, "\n"))
				return err
			}
		}
		units, err := s.units(&o)
		if err != nil {
			return err
		}
		return s.execute(cmd, &o, units)
	}
	return cmd
}

// check returns what is wrong with the values of the flags.
func (s *Study) check(o *options) (err error) {
	if s.Units == nil {
		if o.sets, err = Chosen("--sets", o.sets, s.Sets); err != nil {
			return err
		}
	}
	if s.Kinds != nil {
		if o.variants, err = Chosen("--variants", o.variants, s.Kinds); err != nil {
			return err
		}
	}
	for i := range s.Numbers {
		if err := s.Numbers[i].check(); err != nil {
			return err
		}
	}
	if s.Units == nil || o.out != "" {
		return writable(o.out)
	}
	return nil
}

func (s *Study) execute(cmd *cobra.Command, o *options, units []Work) error {
	store, err := Open(o.out)
	if err != nil {
		return err
	}
	rows, failed := s.run(cmd.Context(), cmd.ErrOrStderr(), store, units)
	if failed != nil && (cmd.Context().Err() != nil || len(rows) == 0) {
		return failed
	}
	if o.json {
		err = s.document(cmd.OutOrStdout(), rows)
	} else {
		err = s.show(cmd, store, rows)
	}
	if err = errors.Join(err, failed); err == nil && s.Failed != nil {
		err = s.Failed(rows)
	}
	return err
}

func (s *Study) show(cmd *cobra.Command, store *Results, rows []*Row) error {
	tables, err := s.tables(store, rows)
	if err != nil {
		return err
	}
	if err := show(cmd.OutOrStdout(), tables); err != nil {
		return err
	}
	if store.Dir != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "results are in %s\n", store.Dir)
	}
	return nil
}

func (s *Study) document(w io.Writer, rows []*Row) error {
	list := []any{}
	for _, r := range rows {
		list = append(list, r.values)
	}
	return json.NewEncoder(w).Encode(map[string]any{strings.ReplaceAll(s.Name, "-", "_"): list})
}

// Chosen returns the names that a flag asks for, of those there are; spaces and capitals
// are ignored.
func Chosen(flag string, asked, of []string) (all []string, err error) {
	for _, n := range asked {
		n = strings.ReplaceAll(strings.ToLower(n), " ", "")
		if !slices.Contains(of, n) {
			return nil, cli.Usage("%s %s: %q is none of %s", flag, strings.Join(asked, ","), n, strings.Join(of, ", "))
		}
		if !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all, nil
}
