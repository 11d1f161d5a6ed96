package report

import (
	"html/template"
	"math"

	"github.com/dgm-robotics/dgm/trainer/datacheck"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
)

const (
	summaryHorizons = 3    // shown before the full table
	nominal         = 0.95 // what Coverage95 should be
	tie             = 1.02 // a baseline has to be better by more than 2 % to win
)

// view is what the template shows: the report, its tables judged, its charts drawn.
type view struct {
	*Report
	Tables      []tableView
	Windows     []windowView
	Errors      []svg
	Coverage    svg
	Reliability svg
	Training    svg
	Watched     bool // the training curve has held-out values
	Groups      []problemGroup
}

// svg is a drawn chart.
type svg = template.HTML

// tableView is one held-out table.
type tableView struct {
	*evaluate.Table
	Summary []horizonView
	Full    []horizonView // nil if the summary is all there is
}

type horizonView struct {
	T    float64
	Rows []rowView
}

// rowView is one channel at one horizon, judged.
type rowView struct {
	evaluate.Channel
	Ratio string // RMSE over that of the best baseline
	Rival string // the best baseline: hold, velocity or linear
	Wins  bool   // the model is as good as it, or better
	Low   bool   // coverage is below nominal, and so is its interval
	High  bool   // above
}

// windowView is the examples of one held-out window.
type windowView struct {
	Title  string
	Charts []svg
}

// problemGroup is the problems of one severity.
type problemGroup struct {
	Title string
	List  []datacheck.Problem
}

func newView(r *Report) (*view, error) {
	v := &view{Report: r, Groups: groups(r.Problems)}
	for _, t := range r.HeldOut {
		v.Tables = append(v.Tables, newTableView(t))
	}
	for _, draw := range []func() error{v.drawExamples, v.drawErrors, v.drawCoverage, v.drawReliability, v.drawTraining} {
		if err := draw(); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func newTableView(t *evaluate.Table) tableView {
	out := tableView{Table: t}
	for _, h := range t.Horizons {
		hv := horizonView{T: h.T}
		for _, c := range h.Channels {
			hv.Rows = append(hv.Rows, newRowView(c))
		}
		out.Full = append(out.Full, hv)
	}
	out.Summary = spread(out.Full, summaryHorizons)
	if len(out.Summary) == len(out.Full) {
		out.Full = nil
	}
	return out
}

func newRowView(c evaluate.Channel) rowView {
	best, rival := c.Hold, "hold"
	if c.Velocity < best {
		best, rival = c.Velocity, "velocity"
	}
	if c.Linear < best {
		best, rival = c.Linear, "linear"
	}
	r := rowView{
		Channel: c, Rival: rival, Ratio: "\u2013", Wins: c.RMSE <= tie*best,
		Low: c.Coverage95High < nominal, High: c.Coverage95Low > nominal,
	}
	if best > 0 {
		r.Ratio = value(c.RMSE / best)
	}
	return r
}

// spread picks n entries: the first, the last, and those evenly between.
func spread[T any](all []T, n int) []T {
	if len(all) <= n {
		return all
	}
	var out []T
	for i := range n {
		out = append(out, all[int(math.Round(float64(i)*float64(len(all)-1)/float64(n-1)))])
	}
	return out
}

func groups(problems []datacheck.Problem) []problemGroup {
	var out []problemGroup
	for _, g := range []struct {
		severity datacheck.Severity
		title    string
	}{
		{datacheck.Stop, "Must be mended"},
		{datacheck.Exclude, "Left out of training"},
		{datacheck.Note, "Good to know"},
	} {
		group := problemGroup{Title: g.title}
		for _, p := range problems {
			if p.Severity == g.severity {
				group.List = append(group.List, p)
			}
		}
		if len(group.List) > 0 {
			out = append(out, group)
		}
	}
	return out
}
