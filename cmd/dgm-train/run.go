package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer"
	"github.com/dgm-robotics/dgm/trainer/report"
)

// run checks, trains, judges and writes. Text goes to out unless --json asks for
// one document there; progress and oddities go to errs.
func run(ctx context.Context, o options, cfg trainer.Config, out, errs io.Writer) error {
	modelPath, htmlPath, jsonPath := o.outputs()
	if !o.check {
		if err := cli.Outputs("--out", append([]string{o.config}, o.logs...), []string{modelPath, htmlPath, jsonPath}); err != nil {
			return err
		}
	}
	text := out
	if o.json {
		text = io.Discard
	}
	var logs []*flightlog.Log
	for _, path := range o.logs {
		log, err := flightlog.ReadFile(path)
		if err != nil {
			return err
		}
		if log.Damage != nil {
			fmt.Fprintf(errs, "%v\n", log.Damage)
		}
		logs = append(logs, log)
	}
	data, err := trainer.Load(logs, cfg)
	if data == nil {
		return err
	}
	if o.check {
		if o.json {
			return writeProblems(out, data.Problems)
		}
		return printProblems(text, data)
	}
	if e := printProblems(text, data); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	bar := newBar(errs)
	res, err := trainer.Train(ctx, data, cfg, bar.show)
	bar.end()
	if err != nil {
		return err
	}
	if err := model.WriteFile(modelPath, res.Model); err != nil {
		return err
	}
	page, err := trainer.Report(data, cfg, res, o.logs, []string{modelPath, htmlPath, jsonPath})
	if err != nil {
		return err
	}
	if err := report.Write(htmlPath, page); err != nil {
		return err
	}
	if err := report.WriteJSON(jsonPath, page); err != nil {
		return err
	}
	if o.json {
		b, err := os.ReadFile(jsonPath)
		if err != nil {
			return err
		}
		_, err = out.Write(b)
		return err
	}
	return printResult(text, res, []string{modelPath, htmlPath, jsonPath})
}

func writeProblems(w io.Writer, p []trainer.Problem) error {
	if p == nil {
		p = []trainer.Problem{}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Problems []trainer.Problem `json:"problems"`
	}{p})
}

func printProblems(out io.Writer, d *trainer.Data) error {
	w := bufio.NewWriter(out) // keeps the first error
	if len(d.Problems) == 0 {
		fmt.Fprintln(w, "Data check: nothing to report.")
		return w.Flush()
	}
	fmt.Fprintf(w, "Data check: %d findings\n", len(d.Problems))
	for i, p := range d.Problems {
		if i == 20 {
			fmt.Fprintf(w, "  … and %d more; --check --json lists all\n", len(d.Problems)-i)
			break
		}
		fmt.Fprintf(w, "  %-9s %-9s %s\n", p.Severity, p.Kind, p.Text)
	}
	return w.Flush()
}

func printResult(out io.Writer, res *trainer.Result, files []string) error {
	w := bufio.NewWriter(out)
	fmt.Fprintln(w)
	if res.Partial != "" {
		fmt.Fprintf(w, "PARTIAL: %s. The files are written, and marked.\n", res.Partial)
	}
	fmt.Fprintf(w, "%s\n\n", res.Verdict)
	if res.Table != nil {
		res.Table.WriteText(w)
		fmt.Fprintln(w)
	}
	for _, f := range files {
		size := int64(0)
		if info, err := os.Stat(f); err == nil {
			size = info.Size()
		}
		fmt.Fprintf(w, "wrote %s (%.0f kB)\n", f, float64(size)/1000)
	}
	return w.Flush()
}
