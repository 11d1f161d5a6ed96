package paper

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/durable"
)

var page = template.Must(template.New("report").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>The paper's experiments, repeated</title>
<style>
body{font:16px/1.5 system-ui,sans-serif;max-width:80rem;margin:2rem auto;padding:0 1rem;color:#1f2933}
p,nav{max-width:50rem}
nav a{margin-right:1rem;white-space:nowrap;color:#0072b2}
table{border-collapse:collapse;display:block;overflow-x:auto;font-size:.9rem;font-variant-numeric:tabular-nums;margin-bottom:1rem}
th,td{padding:.25rem .6rem;text-align:right;border-bottom:1px solid #d8dee4;white-space:nowrap}
th{white-space:normal;vertical-align:bottom;line-height:1.2}
th:first-child,td:first-child{text-align:left}
svg{max-width:100%;height:auto}
h2{margin-top:3rem}
</style></head><body>
<h1>The paper's experiments, repeated</h1>
<p>Log likelihood and coverage are of the true state, without noise; one recipe for all sets. No model sees the truth, but for the priors and rates of the sampled neural ODEs, which are the paper's. The recipe itself was worked out on these systems with noise seeds 0 to 40, and changed twice after a look at seeds 100 to 114, where intervals of many Lorenz trajectories were too wide and those of many quadrotor flights too narrow. Seeds from 200 on had not been looked at when it was fixed, but for two changes: the prior's pull is part of the width of many quadrotor flights, and one lost refit of eight does not rule the width. Baselines, products of matrices, ablation, weights of the matching, scaling and times are of seeds 0 to 2 unless asked for otherwise. LV is Lotka-Volterra, LO Lorenz, DP a double pendulum, QU a quadrotor, the number that of trajectories.</p>
<nav>{{range $i, $s := .}}<a href="#part{{$i}}">{{$s.Title}}</a> {{end}}</nav>
{{range $i, $s := .}}{{with $s}}<h2 id="part{{$i}}">{{.Title}}</h2><p>{{.Text}}</p>
<table><tr>{{range .Head}}<th>{{.}}</th>{{end}}</tr>
{{range .Rows}}<tr>{{range .}}<td>{{.}}</td>{{end}}</tr>
{{end}}</table>
{{range .Pictures}}{{.Inline}}
{{end}}{{end}}{{end}}</body></html>
`))

func reportCommand() *cobra.Command {
	var in, out string
	cmd := &cobra.Command{
		Use: "report", Short: "Gather all results that are there into one page, and tables for the README", Args: cobra.NoArgs,
		Long: `report reads the results under --results, writes one self-contained page to --out and prints its tables as Markdown.`,
	}
	cmd.Flags().StringVar(&in, "results", results(), "folder of the results; at the top of the repository that of the committed ones")
	cmd.Flags().StringVar(&out, "out", "paper.html", "the page")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !isFolder(in) {
			return cli.Usage("there is no folder %s: name the one that the studies have written to with --results", in)
		}
		studies := parts()
		lines, err := strays(in, studies)
		if err != nil {
			return err
		}
		if out == "" || filepath.Ext(out) == ".json" {
			return cli.Usage("--out %q: name a page, as paper.html", out) // never a result
		}
		if err := cli.Outputs("--out", nil, []string{out}); err != nil {
			return err
		}
		for _, line := range lines {
			fmt.Fprintln(cmd.ErrOrStderr(), "left out:", line)
		}
		var all []section
		var old, more stale
		for _, p := range studies {
			s, err := p.sections(in)
			if errors.As(err, &more) {
				for _, one := range more {
					if !slices.Contains(old, one) { // several studies show some results
						old = append(old, one)
					}
				}
			} else if err != nil {
				return err
			}
			all = append(all, s...)
		}
		if old != nil {
			return old
		}
		if len(all) == 0 {
			return fmt.Errorf("%s holds no results: run paper single or another of the studies first", in)
		}
		var b bytes.Buffer
		if err := page.Execute(&b, all); err != nil {
			return err
		}
		if err := durable.WriteFile(out, b.Bytes()); err != nil {
			return err
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "the page is in", out)
		for _, s := range all {
			if _, err := fmt.Fprintln(cmd.OutOrStdout(), s.markdown()); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}
