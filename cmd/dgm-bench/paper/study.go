package paper

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// study is one experiment: for every set, variant and seed a piece of work, whose
// result has type R and stands in a file of its own.
type study[R any] struct {
	name, short, long string
	files             string   // first part of the names of its files; empty: none
	sets              []string // that may be asked for
	usual             []string // (optional) sets that are run unless others are asked for
	seeds, from       int
	side              bool                      // pieces of work run side by side, each on one processor
	recipe            func(variant string) bool // (optional) whether results are the recipe's

	flags    func(cmd *cobra.Command)     // (optional) further flags
	check    func() error                 // (optional) what is wrong with their values
	kinds    []string                     // (optional) variants, of which a flag may choose
	variants func() []string              // (optional) variants, where other flags say what they are
	settings func() string                // (optional) what they change about results
	whole    func(dir string, k key) bool // (optional) whether all but the result is there
	run      func(ctx context.Context, dir string, k key) (*R, error)
	tell     func(r *R) string
	sections func(dir string, all []*R) ([]section, error)
}

// always says of every variant that the recipe makes its results.
func always(string) bool { return true }

// unseen is the first of the seeds of noise and starts by whose scores no setting of the
// recipe was chosen.
const unseen = 200

// mostSeeds is more than anybody has waited for.
const mostSeeds = 1000

// part is a study without the type of its results.
type part struct {
	command  *cobra.Command
	sections func(dir string) ([]section, error) // of all results that are there
	claims   func(name string) bool              // whether a file of this name is one of them
	knows    func(k key) bool                    // whether results of this key are
}

// plan is what a command is asked for.
type plan struct {
	sets        []string
	variants    []string
	seeds, from int
	out         string
}

// keys returns the pieces of work of a plan.
func (s *study[R]) keys(p *plan) []key {
	variants, settings := p.variants, ""
	if s.variants != nil {
		variants = s.variants()
	}
	if s.settings != nil {
		settings = s.settings()
	}
	var all []key
	for _, set := range p.sets {
		for _, v := range variants {
			for seed := range p.seeds {
				k := key{Study: s.files, Set: set, Variant: v, Seed: p.from + seed, Settings: settings, Version: s.made(v)}
				if !slices.Contains(all, k) {
					all = append(all, k)
				}
			}
		}
	}
	return all
}

// made returns the version of the recipe that makes the results of a variant; 0 where none
// does.
func (s *study[R]) made(variant string) int {
	if s.recipe != nil && s.recipe(variant) {
		return version
	}
	return 0
}

// part returns the study's command and what it adds to the report.
func (s *study[R]) part() part {
	p := plan{}
	var asked string
	usual := s.usual
	if usual == nil {
		usual = s.sets
	}
	cmd := &cobra.Command{Use: s.name, Short: s.short, Long: s.long, Args: cobra.NoArgs}
	f := cmd.Flags()
	f.StringVar(&asked, "sets", strings.Join(usual, ","), "data sets, separated by commas, of "+strings.Join(s.sets, ","))
	f.IntVar(&p.seeds, "seeds", s.seeds, "noise seeds of each set")
	f.IntVar(&p.from, "first-seed", s.from, "first of the seeds")
	f.StringVar(&p.out, "out", results(), "folder of the results; at the top of the repository that of the committed ones")
	p.variants = []string{""}
	if s.kinds != nil {
		f.StringSliceVar(&p.variants, "variants", s.kinds, "of "+strings.Join(s.kinds, ","))
	}
	if s.flags != nil {
		s.flags(cmd)
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if p.seeds < 1 || p.seeds > mostSeeds || p.from < 0 || p.from > math.MaxInt32-mostSeeds {
			return cli.Usage("--seeds must be within 1 … %d and --first-seed within 0 … %d", mostSeeds, math.MaxInt32-mostSeeds)
		}
		var err error
		if p.sets, err = chosen(asked, s.sets); err != nil {
			return err
		}
		for i, v := range p.variants {
			p.variants[i] = strings.ToLower(strings.TrimSpace(v))
			if !s.makes(p.variants[i]) && s.variants == nil {
				return cli.Usage("--variants: %q is none of %s", v, strings.Join(s.kinds, ", "))
			}
		}
		if s.check != nil {
			if err := s.check(); err != nil {
				return err
			}
		}
		if len(s.keys(&p)) == 0 {
			return cli.Usage("a flag with an empty list leaves nothing to do")
		}
		if err := writable(p.out); err != nil {
			return err
		}
		all, err := s.finish(cmd.Context(), cmd.ErrOrStderr(), &p)
		if err != nil {
			return err
		}
		parts, err := s.described(p.out, all)
		if err != nil {
			return err
		}
		// The pictures in the folder are of all that is there.
		if whole, err := s.gather(p.out); err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "pictures are of these results only: %v\n", err)
		} else if drawn, err := s.described(p.out, whole); err == nil && len(drawn) == len(parts) {
			for i := range parts {
				parts[i].Pictures = drawn[i].Pictures
			}
		}
		if err := show(cmd.OutOrStdout(), p.out, parts); err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "results and pictures are in %s\n", p.out)
		return nil
	}
	return part{cmd, func(dir string) ([]section, error) {
		all, err := s.gather(dir)
		if err != nil || len(all) == 0 {
			return nil, err
		}
		return s.described(dir, all)
	}, s.claims, s.knows}
}

// chosen returns the sets that --sets asks for, with spaces and capitals as people write them.
func chosen(asked string, of []string) ([]string, error) {
	var all []string
	for _, n := range strings.Split(strings.ToLower(asked), ",") {
		n = strings.ReplaceAll(n, " ", "") // as tables print them
		if !slices.Contains(of, n) {
			return nil, cli.Usage("--sets %s: %q is none of %s", asked, n, strings.Join(of, ", "))
		}
		if !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all, nil
}

// described returns the sections of results, which say what flags have changed about them.
func (s *study[R]) described(dir string, all []*R) ([]section, error) {
	parts, err := s.sections(dir, all)
	if err != nil || len(all) == 0 {
		return parts, err
	}
	if r, ok := any(all[0]).(interface{ changes() string }); ok && r.changes() != "" {
		for i := range parts {
			parts[i].Text += " Made with " + r.changes() + "."
			parts[i].Title += " (" + r.changes() + ")"
		}
	}
	return parts, nil
}

// writable makes a folder and tells whether a file can be written to it, before hours of
// work end there.
func writable(dir string) error {
	if dir == "" {
		return cli.Usage("--out must not be empty")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("--out %s: %w", dir, err)
	}
	f, err := os.CreateTemp(dir, ".writable-*")
	if err != nil {
		return fmt.Errorf("--out %s: %w", dir, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
