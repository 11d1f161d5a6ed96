package study

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/estimator/durable"
)

// TablesOf returns all tables of studies, of the rows that a folder holds.
func TablesOf(store *Results, studies []*Study) ([]Table, error) {
	var all []Table
	for _, s := range studies {
		rows, err := s.Gather(store)
		if err != nil {
			return nil, err
		}
		tables, err := s.tables(store, rows)
		if err != nil {
			return nil, err
		}
		all = append(all, tables...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: %w", store.Dir, errNoResults)
	}
	return all, nil
}

var marked = regexp.MustCompile(`(?s)<!-- table (\S+) -->\n.*?<!-- end -->`)

// Rewrite returns a Markdown page with the tables between its markers, <!-- table NAME -->
// and <!-- end -->, made anew.
func Rewrite(page []byte, all []Table) ([]byte, error) {
	var err error
	out := marked.ReplaceAllFunc(page, func(b []byte) []byte {
		name := string(marked.FindSubmatch(b)[1])
		for i := range all {
			if all[i].Name == name {
				return fmt.Appendf(nil, "<!-- table %s -->\n%s<!-- end -->", name, all[i].markdown())
			}
		}
		err = errors.Join(err, fmt.Errorf("there is no table %q", name))
		return b
	})
	return out, err
}

// Pages are the Markdown pages with tables of results, from the top of the repository.
var Pages = []string{filepath.Join("docs", "results.md"), filepath.Join("docs", "worth.md"), filepath.Join("docs", "paper.md"), filepath.Join("docs", "benchmark.md"), filepath.Join("docs", "gallery.md")}

// TablesCommand returns the command that rewrites the tables of the pages.
func TablesCommand(studies []*Study) *cobra.Command {
	var in string
	cmd := &cobra.Command{
		Use: "tables [page.md …]", Short: "Write the tables of results into the pages under docs",
		Long: `tables writes the tables between the markers <!-- table NAME --> and <!-- end --> of Markdown pages from
stored results.`,
	}
	cmd.Flags().StringVar(&in, "results", DefaultDir(), "folder of the results")
	cmd.RunE = func(cmd *cobra.Command, pages []string) error {
		store, err := Open(in)
		if err != nil {
			return err
		}
		for _, line := range LeftOut(store, studies) {
			fmt.Fprintln(cmd.ErrOrStderr(), "left out:", line)
		}
		all, err := TablesOf(store, studies)
		if err != nil {
			return err
		}
		if len(pages) == 0 {
			pages = Pages
		}
		for _, path := range pages {
			page, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if page, err = Rewrite(page, all); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			if err := durable.WriteFile(path, page); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}
