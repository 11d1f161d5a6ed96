package study

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
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

// PicturesOf returns the pictures of tables to which a Markdown page links, by file name.
func PicturesOf(page []byte, all []Table) map[string][]byte {
	out := map[string][]byte{}
	for i := range all {
		for _, p := range all[i].Pictures {
			if name := p.Name + ".svg"; p.Name != "" && bytes.Contains(page, []byte("("+name+")")) {
				out[name] = p.SVG
			}
		}
	}
	return out
}

// Pages are the Markdown pages with tables of results, from the top of the repository.
var Pages = []string{filepath.Join("docs", "results.md"), filepath.Join("docs", "worth.md"), filepath.Join("docs", "paper.md"), filepath.Join("docs", "planning.md"), filepath.Join("docs", "benchmark.md"), filepath.Join("docs", "gallery.md")}

// TablesCommand returns the command that rewrites the tables of the pages.
func TablesCommand(studies []*Study) *cobra.Command {
	var in string
	cmd := &cobra.Command{
		Use: "tables [page.md …]", Short: "Write the tables of results into the pages under docs",
		Long: `tables makes the tables between the markers <!-- table NAME --> and <!-- end --> of Markdown pages anew from
stored results, and writes the pictures to which a page links beside it.`,
	}
	cmd.Flags().StringVar(&in, "results", DefaultDir(), "folder of the results")
	cmd.RunE = func(cmd *cobra.Command, pages []string) error {
		store, err := Open(in)
		if err != nil {
			return err
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
			for name, svg := range PicturesOf(page, all) {
				if err := durable.WriteFile(filepath.Join(filepath.Dir(path), name), svg); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return cmd
}

//go:embed page.html
var reportPage string

var report = template.Must(template.New("report").Parse(reportPage))

// ReportCommand returns the command that gathers all tables of studies into one HTML page.
func ReportCommand(title, text string, studies []*Study) *cobra.Command {
	var in, out string
	cmd := &cobra.Command{
		Use: "report", Short: "Gather all stored results into one page, and print their tables as Markdown", Args: cobra.NoArgs,
		Long: `report reads the results under --results, writes one self-contained page to --out and prints its tables as Markdown.`,
	}
	cmd.Flags().StringVar(&in, "results", DefaultDir(), "folder of the results; at the top of the repository that of the committed ones")
	cmd.Flags().StringVar(&out, "out", "paper.html", "the page")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if info, err := os.Stat(in); err != nil || !info.IsDir() {
			return cli.Usage("there is no folder %s: name the one that the studies have written to with --results", in)
		}
		if out == "" || filepath.Ext(out) == ending {
			return cli.Usage("--out %q: name a page, as paper.html", out) // never a file of results
		}
		if err := cli.Outputs("--out", nil, []string{out}); err != nil {
			return err
		}
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
		var b bytes.Buffer
		if err := report.Execute(&b, struct {
			Title, Text string
			Tables      []Table
		}{title, text, all}); err != nil {
			return err
		}
		if err := durable.WriteFile(out, b.Bytes()); err != nil {
			return err
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "the page is in", out)
		for i := range all {
			if _, err := fmt.Fprintf(cmd.OutOrStdout(), "### %s\n\n%s\n", all[i].Title, all[i].markdown()); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}
