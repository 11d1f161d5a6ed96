package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/trainer"
	"github.com/dgm-robotics/dgm/trainer/datacheck"
)

// mostPrinted bounds how many findings are printed for people.
const mostPrinted = 20

// checkOnly prints the findings in the logs. The error is the reason why they cannot be
// trained on. d and refused are the results of trainer.Load.
func (o *options) checkOnly(logs []*flightlog.Log, d *trainer.Data, refused error, cfg trainer.Config, out io.Writer) error {
	if refused != nil {
		// Load stops at the first log that cannot be used: check those after it too.
		last := d.Problems[len(d.Problems)-1].Log
		i := slices.IndexFunc(logs, func(l *flightlog.Log) bool { return l.Path == last })
		for _, l := range logs[i+1:] {
			more, err := trainer.Load([]*flightlog.Log{l}, cfg)
			if more == nil {
				return err
			}
			d.Problems = append(d.Problems, more.Problems...)
		}
	} else if p := trainer.Precheck(d, cfg); p != nil {
		d.Problems = append(d.Problems, *p)
		refused = errors.New(p.Text)
	}
	print := func() error { return printProblems(out, d, o.logs) }
	if o.json {
		print = func() error {
			return cli.WriteJSON(out, map[string][]trainer.Problem{"problems": append([]trainer.Problem{}, d.Problems...)})
		}
	}
	if err := print(); err != nil {
		return err
	}
	if refused != nil {
		return fmt.Errorf("cannot be trained on: %w", refused)
	}
	return nil
}

// printProblems prints the findings log by log, then those of all logs.
func printProblems(out io.Writer, d *trainer.Data, logs []string) error {
	w := bufio.NewWriter(out) // keeps the first error
	printed := 0
	for _, log := range append(slices.Clone(logs), "") {
		of := slices.DeleteFunc(slices.Clone(d.Problems), func(p trainer.Problem) bool { return p.Log != log })
		switch {
		case log == "" && len(of) == 0:
			continue
		case log == "":
			fmt.Fprintln(w, "All logs together:")
		case len(of) == 0:
			fmt.Fprintf(w, "Data check of %s: no findings.\n", filepath.Base(log))
		default:
			fmt.Fprintf(w, "Data check of %s: %s\n", filepath.Base(log), cli.Count(len(of), "finding"))
		}
		for i, p := range of {
			if printed == mostPrinted {
				fmt.Fprintf(w, "  … and %d more; --check --json lists all\n", len(of)-i)
				return w.Flush()
			}
			fmt.Fprintf(w, "  %-8s %-10s %s%s\n", p.Severity, p.Kind, where(&p.Problem), p.Text)
			printed++
		}
	}
	return w.Flush()
}

// where names the segment, by its number in dgm-bridge info and its name, and the interval
// that a problem is about; empty for the whole log.
func where(p *datacheck.Problem) string {
	switch {
	case p.Index < 0:
		return ""
	case p.From == p.To:
		return fmt.Sprintf("segment %d (%q) at %.3f s: ", p.Index+1, p.Segment, p.From)
	}
	return fmt.Sprintf("segment %d (%q), %.3f-%.3f s: ", p.Index+1, p.Segment, p.From, p.To)
}
