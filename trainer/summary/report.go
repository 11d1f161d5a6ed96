package summary

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/datacheck"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/report"
	"github.com/dgm-robotics/dgm/trainer/selection"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Training is what a report shows beside the result.
type Training struct {
	Vehicle  string
	Problems []datacheck.Problem
	DataHash string
	Settings string // as a settings file
	Budget   time.Duration
	Logs     []string // names that were read
	Files    []string // names that were written, the model first
}

// Report returns the contents of the report of a training.
func Report(res *Result, t Training) (*report.Report, error) {
	r := &report.Report{Title: "DGM model of " + t.Vehicle, Verdict: res.Verdict, Problems: t.Problems}
	if w := res.Warning(); w != "" {
		r.Warnings = append(r.Warnings, w)
	}
	for _, table := range res.Tables() {
		table.Model, table.Log = filepath.Base(t.Files[0]), "held out of "+list(t.Logs)
		r.HeldOut = append(r.HeldOut, table)
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
		{Name: "evaluated", Value: evaluated(res)},
		{Name: "made by", Value: fmt.Sprintf("%s, %s, %s/%s", res.Model.Provenance.Tool, runtime.Version(), runtime.GOOS, runtime.GOARCH)},
		{Name: "time", Value: fmt.Sprintf("%v, limit %v", res.Elapsed.Round(time.Second), t.Budget)},
		{Name: "logs", Value: list(t.Logs)},
		{Name: "data", Value: t.DataHash},
		{Name: "split", Value: res.Split.How},
		{Name: "windows", Value: fmt.Sprint(res.Windows)},
		{Name: "states measured at", Value: rates(res.Model.Channels, res.Split.Train)},
		{Name: "prior dynamics", Value: priorDynamics(res)},
		{Name: "chosen", Value: res.Chosen.String()},
	}
	r.Latency, r.LatencyGain = latencies(res.Model), res.LatencyGain
	r.Equation = Equation(res)
	r.Selection = report.SelectionOf(res.Model)
	r.Selection.Rules = append(r.Selection.Rules, report.Item{Name: "flight effect", Value: flightEffect(res)})
	r.Settings = settings(t.Settings)
	for _, f := range t.Files {
		r.Files = append(r.Files, report.Item{Name: filepath.Base(f), Value: kind(f)})
	}
	return r, r.Check()
}

// Equation returns the equation of motion of a training with what it brought; nil without one.
func Equation(res *Result) *report.Equation {
	e := report.EquationOf(res.Motion)
	if e == nil {
		return nil
	}
	at, _, _ := res.Model.Physical()
	e.Used = at >= 0
	if s := res.Stack; s != nil {
		if e.Diverged = s.Diverged; s.Physical != nil {
			e.Alone, e.Without, e.With = s.Physical.Alone, s.Physical.Without, s.Physical.With
		}
	}
	return e
}

// latencies lists when the inputs act.
func latencies(m *model.Model) []report.Latency {
	out := []report.Latency{}
	for j, l := range m.Latency {
		_, used := m.Response(j)
		out = append(out, report.Latency{Input: m.Channels[m.K+j].Name, Text: l.String(), Known: l.Known, Used: used, DeadTime: l.Dead, Low: l.DeadLow, High: l.DeadHigh, Lag: l.Lag, LagLow: l.LagLow, LagHigh: l.LagHigh})
	}
	return out
}

// flightEffect lists the channels whose errors differ most between flights.
func flightEffect(res *Result) string {
	if res.FlightEffect == nil {
		return "not known: the folds hold out no whole flights; intervals are widened by that of other robots"
	}
	order := make([]int, len(res.FlightEffect))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(res.FlightEffect[b], res.FlightEffect[a]) })
	var most []string
	for _, k := range order[:min(3, len(order))] {
		most = append(most, fmt.Sprintf("%s %.2f", res.Model.Channels[k].Name, res.FlightEffect[k]))
	}
	return "standard deviation between flights of their mean errors after the horizon, over that of an error; largest: " + strings.Join(most, ", ")
}

// rates lists the states by the rates at which they were measured: "x, y at 50 Hz; z at 10 Hz".
func rates(states []channel.Channel, flights []window.Flight) string {
	var order []string
	names := map[string][]string{}
	for k := range flights[0].K {
		rate := fmt.Sprintf("%.3g Hz", window.Rate(flights, k))
		if names[rate] == nil {
			order = append(order, rate)
		}
		names[rate] = append(names[rate], states[k].Name)
	}
	for i, rate := range order {
		order[i] = strings.Join(names[rate], ", ") + " at " + rate
	}
	return strings.Join(order, "; ")
}

func list(paths []string) string {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = filepath.Base(p)
	}
	return strings.Join(names, ", ")
}

// evaluated describes the model that the held-out tables are of.
func evaluated(res *Result) string {
	if res.Table == nil {
		return "nothing was held out"
	}
	return res.Table.EvaluatedID + ": the same networks, conditioned without the held-out data; the model of the file is conditioned on them too"
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

func priorDynamics(res *Result) string {
	p := model.EquationOf(res.Model.Stack)
	if p == nil {
		return "none"
	}
	return fmt.Sprintf("degree %d, %d terms, step %.3g ms", p.Degree, p.Terms(), 1000*p.Step)
}

// candidates lists what was tried: prior dynamics by their error, the rest by their
// likelihood.
func candidates(res *Result) []report.Candidate {
	var out []report.Candidate
	for i, c := range res.Prior {
		if math.IsInf(c.Score, 0) || !(c.Score > 0) {
			continue
		}
		out = append(out, report.Candidate{
			Name:    fmt.Sprintf("prior dynamics of degree %d, step %.3g ms, ridge %g", c.Degree, 1000*c.Step, c.Ridge),
			Measure: "log error reduction over hold", Score: -math.Log(c.Score), Chosen: i == 0,
		})
	}
	if s := res.Stack; s != nil {
		for j, name := range s.Names {
			if s.Errors[j] > 0 {
				out = append(out, report.Candidate{Name: "in the prior mean: " + name, Measure: "log error reduction over hold, alone", Score: -math.Log(s.Errors[j]), Chosen: true})
			}
		}
	}
	return append(out, choices(&res.Choice)...)
}

// What the scores of cores and temperatures are, which cannot be compared.
const (
	byFirstFold = "held-out log lik., first fold"
	byAllFolds  = "held-out log lik., all folds"
)

// choices lists the cores and bases by the first fold, then the temperatures by all
// folds. One of each is chosen, be it untried.
func choices(choice *selection.Choice) []report.Candidate {
	var first, all []report.Candidate
	chosen := choice.Chosen
	at := -1 // what the chosen core and basis were chosen by: the better of its temperatures
	for _, c := range choice.Candidates {
		r := report.Candidate{Name: c.String(), Score: c.Score}
		if c.Folds {
			r.Measure, r.Chosen = byAllFolds, c == chosen
			all = append(all, r)
			continue
		}
		r.Measure = byFirstFold
		if c.Core == chosen.Core && c.Basis == chosen.Basis && (at < 0 || c.Score > first[at].Score) {
			at = len(first)
		}
		first = append(first, r)
	}
	if at >= 0 {
		first[at].Chosen = true
		for i := range first {
			if first[i].Score > first[at].Score {
				first[i].Why = fmt.Sprintf("A higher score on the first fold is not enough: a candidate replaces a safer one only if it is more than %g likelier there, and likelier on all folds together by more than the standard error.", selection.Margin)
			}
		}
	}
	if choice.Untried.Core {
		first = append(first, report.Candidate{Name: fmt.Sprintf("core %s, basis %d", chosen.Core, chosen.Basis), Measure: byFirstFold, Chosen: true, Untried: true})
	}
	if choice.Untried.Temperature {
		all = append(all, report.Candidate{Name: chosen.String(), Measure: byAllFolds, Chosen: true, Untried: true})
	}
	return append(first, all...)
}

// examples adds the evaluated model's forecasts from three starts in the held-out data.
func examples(r *report.Report, res *Result) error {
	if res.Judged == nil || res.Table == nil {
		return nil
	}
	m := res.Judged
	forecasts, err := evaluate.Forecasts(m, window.Compared(res.Split.Held), evaluate.Options{Seed: 1}, 3, 60)
	if err != nil {
		return err
	}
	for _, f := range forecasts {
		for k, c := range m.Channels[:m.K] {
			e := report.Example{Window: fmt.Sprintf("segment %q at %.2f s", f.Segment, f.Start), Prediction: f.Bands(k)}
			e.Channel, e.Unit = c.Name, c.Unit
			r.Examples = append(r.Examples, e)
		}
	}
	return nil
}

// settings lists all settings of a settings file.
func settings(toml string) []report.Item {
	var out []report.Item
	table := ""
	for line := range strings.Lines(toml) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "["); ok {
			table = strings.TrimSuffix(name, "]") + "."
		} else if name, value, ok := strings.Cut(line, " = "); ok {
			out = append(out, report.Item{Name: table + name, Value: strings.Trim(value, `"`)})
		}
	}
	return out
}
