package trainer

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/report"
)

// normal50 is the 75 % point of a standard normal: half of it lies within.
const normal50 = 0.6744898

// Report gathers what a report shows of a training: logs and files are the names
// that were read and written.
func Report(d *Data, cfg Config, res *Result, logs, files []string) (*report.Report, error) {
	line, good := report.Verdict(res.Table, res.HoldTable, res.Partial)
	r := &report.Report{Title: "DGM model of " + d.Vehicle, Verdict: line, Good: good}
	if res.Partial != "" {
		r.Warnings = append(r.Warnings, "Training ended early: "+res.Partial+".")
	}
	if w := res.Warning(); w != "" {
		r.Warnings = append(r.Warnings, w)
	}
	for _, t := range res.tables() {
		t.Model, t.Log = filepath.Base(files[0]), "held out of "+list(logs)
		r.HeldOut = append(r.HeldOut, t)
	}
	for _, p := range d.Problems {
		r.Problems = append(r.Problems, p.Problem)
	}
	if err := examples(r, res); err != nil {
		return nil, err
	}
	for i, p := range res.Curves[0] {
		if i%max(1, len(res.Curves[0])/200) == 0 {
			r.Curve = append(r.Curve, report.CurvePoint{Step: p.Step, Loss: p.Total, Data: p.Data, Match: p.Match})
		}
	}
	r.Candidates = candidates(res)
	r.Provenance = []report.Item{
		{Name: "model", Value: res.Model.ID},
		{Name: "judged", Value: judged(res)},
		{Name: "by", Value: fmt.Sprintf("%s, %s, %s/%s", res.Model.Provenance.Tool, runtime.Version(), runtime.GOOS, runtime.GOARCH)},
		{Name: "time", Value: fmt.Sprintf("%v of a budget of %v", res.Elapsed.Round(time.Second), time.Duration(cfg.Budget))},
		{Name: "logs", Value: list(logs)},
		{Name: "data", Value: d.Hash},
		{Name: "split", Value: res.Split.How},
		{Name: "windows", Value: fmt.Sprint(res.Windows)},
		{Name: "equation", Value: equation(res)},
		{Name: "chosen", Value: fmt.Sprintf("core %s, basis %d, temper %g", res.Chosen.Core, res.Chosen.Basis, res.Chosen.Temper)},
	}
	r.Selection = report.SelectionOf(res.Model)
	r.Settings = settings(cfg)
	for _, f := range files {
		r.Files = append(r.Files, report.Item{Name: filepath.Base(f), Value: kind(f)})
	}
	return r, r.Check()
}

func list(paths []string) string {
	s := ""
	for i, p := range paths {
		if i > 0 {
			s += ", "
		}
		s += filepath.Base(p)
	}
	return s
}

// judged says which model the held-out tables are of.
func judged(res *Result) string {
	if res.Table == nil {
		return "nothing was held out"
	}
	return res.Table.EvaluatedID + ": the same nets, conditioned without the data that were held out; the model of the file has seen them too"
}

func kind(path string) string {
	switch filepath.Ext(path) {
	case ".dgm":
		return "the model, for dgm-estimator and dgm-eval"
	case ".html":
		return "this page"
	}
	return "the same as data"
}

func equation(res *Result) string {
	p := &res.Model.PriorDynamics
	if p.Degree == 0 {
		return "none"
	}
	return fmt.Sprintf("degree %d, %d terms, step %.3g ms", p.Degree, p.Terms(), 1000*p.Step)
}

// candidates lists what was tried: equations by their error, the rest by their
// likelihood.
func candidates(res *Result) []report.Candidate {
	var out []report.Candidate
	for i, c := range res.Priors {
		if math.IsInf(c.Score, 0) || !(c.Score > 0) {
			continue
		}
		out = append(out, report.Candidate{
			Name:    fmt.Sprintf("equation of degree %d, step %.3g ms, ridge %g", c.Degree, 1000*c.Step, c.Ridge),
			Measure: "−log of error over hold", Score: -math.Log(c.Score), Chosen: i == 0,
		})
	}
	return append(out, choices(res)...)
}

// What the scores of cores and tempers are, which cannot be compared.
const (
	byFirstFold = "held-out log lik., first fold"
	byAllFolds  = "held-out log lik., all folds"
)

// choices lists the cores and bases as the first fold has them, then the tempers as all
// folds have them. One of each is chosen, be it untried.
func choices(res *Result) []report.Candidate {
	var first, all []report.Candidate
	at := -1 // what the chosen core and basis were chosen by: the better of its tempers
	for _, c := range res.Candidates {
		r := report.Candidate{Name: fmt.Sprintf("core %s, basis %d, temper %g", c.Core, c.Basis, c.Temper), Score: c.Score}
		if c.Folds {
			r.Measure, r.Chosen = byAllFolds, c == res.Chosen
			all = append(all, r)
			continue
		}
		r.Measure = byFirstFold
		if c.Core == res.Chosen.Core && c.Basis == res.Chosen.Basis && (at < 0 || c.Score > first[at].Score) {
			at = len(first)
		}
		first = append(first, r)
	}
	if at >= 0 {
		first[at].Chosen = true
		for i := range first {
			if first[i].Score > first[at].Score {
				first[i].Why = fmt.Sprintf("A higher score on the first fold is not enough: to take the place of a safer candidate, one must be more than %g likelier there, and all folds together must agree beyond chance.", margin)
			}
		}
	}
	if c := res.Chosen; res.Untried.Core {
		first = append(first, report.Candidate{Name: fmt.Sprintf("core %s, basis %d", c.Core, c.Basis), Measure: byFirstFold, Chosen: true, Untried: true})
	}
	if c := res.Chosen; res.Untried.Temper {
		all = append(all, report.Candidate{Name: fmt.Sprintf("core %s, basis %d, temper %g", c.Core, c.Basis, c.Temper), Measure: byAllFolds, Chosen: true, Untried: true})
	}
	return append(first, all...)
}

// examples draws the judged model from three starts in the held-out data.
func examples(r *report.Report, res *Result) error {
	if res.Judged == nil || res.Table == nil {
		return nil
	}
	m := res.Judged
	fans, err := evaluate.Forecasts(m, res.Split.Held, evaluate.Options{Seed: 1}, 3, 60)
	if err != nil {
		return err
	}
	for _, f := range fans {
		for k := range m.K {
			e := report.Example{Window: fmt.Sprintf("segment %q at %.2f s", f.Segment, f.Start), Channel: m.Channels[k].Name, Unit: m.Channels[k].Unit, T: f.T}
			for i, mean := range f.Mean[k] {
				s := f.Std[k][i]
				e.Mean = append(e.Mean, mean)
				e.Lo50, e.Hi50 = append(e.Lo50, mean-normal50*s), append(e.Hi50, mean+normal50*s)
				e.Lo95, e.Hi95 = append(e.Lo95, mean-normal95*s), append(e.Hi95, mean+normal95*s)
				if y := f.Truth[k][i]; !math.IsNaN(y) {
					e.At, e.Measured = append(e.At, f.T[i]), append(e.Measured, y)
				}
			}
			r.Examples = append(r.Examples, e)
		}
	}
	return nil
}

// settings lists all of them, as a settings file would have them.
func settings(cfg Config) []report.Item {
	var out []report.Item
	table := ""
	for line := range strings.Lines(cfg.TOML()) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "["); ok {
			table = strings.TrimSuffix(name, "]") + "."
		} else if name, value, ok := strings.Cut(line, " = "); ok {
			out = append(out, report.Item{Name: table + name, Value: strings.Trim(value, `"`)})
		}
	}
	return out
}

// scores returns the held-out table as JSON, for the model's provenance, without the
// comparison with the prior dynamics, which the report has.
func scores(t *evaluate.Table) (string, error) {
	if t == nil {
		return "", nil
	}
	kept := *t
	kept.Networks = nil
	b, err := json.Marshal(kept)
	return string(b), err
}
