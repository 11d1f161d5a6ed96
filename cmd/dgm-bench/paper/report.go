package paper

import (
	"bytes"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/durable"
)

// section is one table of the report with its picture.
type section struct {
	Title, Text string
	Head        []string
	Rows        [][]string
	Picture     template.HTML // an <svg> element that the plotter has drawn
}

var page = template.Must(template.New("report").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>The paper's experiments, repeated</title>
<style>
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1f2933}
table{border-collapse:collapse;display:block;overflow-x:auto;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .7rem;text-align:right;border-bottom:1px solid #d8dee4;white-space:nowrap}
th:first-child,td:first-child{text-align:left}
svg{width:100%;max-width:42rem;height:auto}
</style></head><body>
<h1>The paper's experiments, repeated</h1>
<p>Log likelihood and coverage are of the true state, without noise; one recipe for all sets. Intervals are those of the model, nothing is fitted to the truth.</p>
{{range .}}<h2>{{.Title}}</h2><p>{{.Text}}</p>
<table><tr>{{range .Head}}<th>{{.}}</th>{{end}}</tr>
{{range .Rows}}<tr>{{range .}}<td>{{.}}</td>{{end}}</tr>
{{end}}</table>
{{.Picture}}
{{end}}</body></html>
`))

func reportCommand() *cobra.Command {
	var in, out string
	cmd := &cobra.Command{
		Use: "report", Short: "Gather all results that are there into one page, and tables for the README", Args: cobra.NoArgs,
		Long: `report reads the results under --results, writes one self-contained page to --out and prints its tables as Markdown.`,
	}
	cmd.Flags().StringVar(&in, "results", filepath.Join("cmd", "dgm-bench", "results"), "folder of the results")
	cmd.Flags().StringVar(&out, "out", "paper.html", "the page")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := cli.Outputs("--out", nil, []string{out}); err != nil {
			return err
		}
		all, err := gather(in)
		if err != nil {
			return err
		}
		parts, err := sections(all)
		if err != nil {
			return err
		}
		if len(parts) == 0 {
			return fmt.Errorf("%s holds no results: run paper single or paper multi first", in)
		}
		var b bytes.Buffer
		if err := page.Execute(&b, parts); err != nil {
			return err
		}
		if err := durable.WriteFile(out, b.Bytes()); err != nil {
			return err
		}
		for _, p := range parts {
			if _, err := fmt.Fprintln(cmd.OutOrStdout(), p.markdown()); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}

// gather reads the results of every set, by its name.
func gather(dir string) (map[string][]*result, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	all := map[string][]*result{}
	for _, e := range entries {
		set, number, ok := strings.Cut(strings.TrimSuffix(e.Name(), ".json"), "-")
		seed, err := strconv.Atoi(number)
		if !ok || err != nil || !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		r, _, err := read(dir, set, seed)
		if err != nil {
			return nil, err
		}
		all[set] = append(all[set], r)
	}
	return all, nil
}

// sections returns the tables of what is there: both tables of log likelihoods,
// then the times.
func sections(all map[string][]*result) ([]section, error) {
	var out []section
	times := section{
		Title: "Time", Text: "Seconds of learning, mean over seeds: gradient matching of all members, refinement of their dynamics, the smoother that predicts. The paper's are for one fit on a GPU.",
		Head: []string{"set", "members", "refinement", "smoother", "in all", "paper"},
	}
	for _, single := range []bool{true, false} {
		s := section{
			Title: "Many trajectories, ten unseen starts", Text: "The paper's Table 2. Test starts are drawn anew for each seed.",
			Head: []string{"set", "seeds", "log likelihood", "median", "worst", "paper", "coverage 50", "90", "95", "rmse / noise"},
		}
		if single {
			s.Title, s.Text = "One trajectory", "The paper's Table 1."
		}
		var rows []row
		var seeds [][]*result
		for _, set := range sets() {
			rs := all[set.name]
			if set.single() != single || len(rs) == 0 {
				continue
			}
			r := summarise(&set, rs)
			rows, seeds = append(rows, r), append(seeds, rs)
			s.Rows = append(s.Rows, []string{
				set.label, strconv.Itoa(r.seeds), fmt.Sprintf("%.2f ± %.2f", r.mean, r.std), two(r.median), two(r.worst),
				fmt.Sprintf("%.2f ± %.2f", set.paper[0], set.paper[1]), two(r.c50), two(r.c90), two(r.c95), two(r.rmse),
			})
			p := phases{}
			for _, q := range rs {
				p.Members += q.Phases.Members / float64(len(rs))
				p.Flows += q.Phases.Flows / float64(len(rs))
				p.Smoother += q.Phases.Smoother / float64(len(rs))
			}
			times.Rows = append(times.Rows, []string{set.label, whole(p.Members), whole(p.Flows), whole(p.Smoother), whole(r.seconds), whole(set.seconds)})
		}
		if len(rows) == 0 {
			continue
		}
		picture, err := chart(s.Title, rows, seeds)
		if err != nil {
			return nil, err
		}
		s.Picture = template.HTML(picture)
		out = append(out, s)
	}
	if len(times.Rows) > 0 {
		out = append(out, times)
	}
	return out, nil
}

func two(v float64) string   { return strconv.FormatFloat(v, 'f', 2, 64) }
func whole(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }

// markdown prints the table.
func (s *section) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n| %s |\n|%s\n", s.Title, strings.Join(s.Head, " | "), strings.Repeat("---|", len(s.Head)))
	for _, r := range s.Rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(r, " | "))
	}
	return b.String()
}
