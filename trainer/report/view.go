package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/trainer/datacheck"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
)

const (
	summaryHorizons = 3    // shown before the full table
	nominal         = 0.95 // what Coverage95 should be
	tie             = 0.05 // errors that differ by less are neither better nor worse
	mostTried       = 6    // candidates of one measure shown before all of them
)

// view is what the template shows: the report, its tables rated, its charts drawn.
type view struct {
	*Report
	Tables           []tableView
	Windows          []windowView
	Errors           []svg
	Calibration      []svg
	Training         []svg
	Watched          bool // the training curve has held-out values
	Tried            []triedView
	OneStandardError bool // a candidate was chosen although another scores higher
	Groups           []problemGroup
	Selection        selectionView
}

// selectionView is the selection at a few horizons, a row a channel.
type selectionView struct {
	Rules    []Item
	Horizons []SelectionHorizon
	Rows     []selectionRow
}

type selectionRow struct {
	SelectionChannel                    // at the first of the horizons
	At               []SelectionChannel // a horizon each
}

// svg is a drawn chart.
type svg = template.HTML

// tableView is one held-out table.
type tableView struct {
	*evaluate.Table
	Summary []horizonView
	Full    []horizonView // nil if the summary is all there is
	Flagged string
}

type horizonView struct {
	evaluate.Horizon
	Rows        []rowView
	AttitudeRow *rowView // attitude error; nil without an attitude
}

// rowView is one channel at one horizon, rated.
type rowView struct {
	evaluate.Channel
	Ratio        string // RMSE over that of the best baseline
	BestBaseline string // hold, velocity or linear
	Comparison   string // of the model beside it: better, worse, or empty where they do not differ
	Low          bool   // coverage is below nominal, and so is its interval
	High         bool   // above
}

// triedView is the candidates of one measure: the best of them, and all if these
// are more.
type triedView struct {
	Best candidateList
	All  *candidateList
}

type candidateList struct {
	Title, Measure string
	List           []Candidate
	Timed          bool     // the times are known
	Why            []string // candidates of higher score were not chosen
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
	v := &view{Report: r, Groups: groups(r.Problems), Tried: tried(r.Candidates), Selection: newSelectionView(&r.Selection)}
	v.OneStandardError = oneStandardError(v.Tried)
	for _, t := range r.HeldOut {
		v.Tables = append(v.Tables, newTableView(t))
	}
	return v, v.draw()
}

func newSelectionView(d *Selection) selectionView {
	v := selectionView{Rules: d.Rules, Horizons: spread(d.Horizons, summaryHorizons)}
	for i, h := range v.Horizons {
		for k, c := range h.Channels {
			if i == 0 {
				v.Rows = append(v.Rows, selectionRow{SelectionChannel: c})
			}
			v.Rows[k].At = append(v.Rows[k].At, c)
		}
	}
	return v
}

func newTableView(t *evaluate.Table) tableView {
	out := tableView{Table: t, Flagged: flagged(t)}
	for _, h := range t.Horizons {
		hv := horizonView{Horizon: h}
		for _, c := range h.Channels {
			hv.Rows = append(hv.Rows, newRowView(c))
		}
		if a := h.Attitude; a != nil {
			row := newRowView(evaluate.Channel{Name: "attitude error (rotation angle)", Unit: "rad", RMSE: a.RMSE, Hold: a.Hold, Velocity: a.Velocity, Linear: a.Linear})
			hv.AttitudeRow = &row
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
	name, best := c.Best()
	r := rowView{
		Channel: c, BestBaseline: name, Ratio: "\u2013",
		Low: c.Coverage95High < nominal, High: c.Coverage95Low > nominal,
	}
	if best > 0 {
		r.Ratio = value(c.RMSE / best)
	}
	switch {
	case c.RMSE <= (1-tie)*best:
		r.Comparison = "better"
	case c.RMSE >= (1+tie)*best && c.RMSE > 0:
		r.Comparison = "worse"
	}
	return r
}

// flagged states which share of the windows was flagged OOD.
func flagged(t *evaluate.Table) string {
	if len(t.Horizons) == 0 || len(t.Horizons[0].Channels) == 0 {
		return ""
	}
	return percent(t.Horizons[0].Channels[0].OOD) + " of the windows were flagged OOD (out of distribution): unlike the training data."
}

// tried groups the candidates by what their score measures, in the order of the report.
func tried(all []Candidate) []triedView {
	var out []triedView
	for _, c := range all {
		if !slices.ContainsFunc(out, func(v triedView) bool { return v.Best.List[0].Measure == c.Measure }) {
			out = append(out, newTriedView(slices.DeleteFunc(slices.Clone(all), func(o Candidate) bool { return o.Measure != c.Measure })))
		}
	}
	return out
}

// newTriedView shows candidates of one measure.
func newTriedView(list []Candidate) triedView {
	l := candidateList{Title: "candidate", Measure: cmp.Or(list[0].Measure, "held-out log lik."), List: list}
	for _, c := range list {
		l.Timed = l.Timed || c.Seconds > 0
		if c.Why != "" && !slices.Contains(l.Why, c.Why) {
			l.Why = append(l.Why, c.Why)
		}
	}
	v := triedView{Best: l}
	if len(list) > mostTried {
		v.All = &l
		v.Best.List = slices.SortedStableFunc(slices.Values(list), func(a, b Candidate) int {
			if a.Chosen != b.Chosen {
				return map[bool]int{true: -1, false: 1}[a.Chosen]
			}
			return cmp.Compare(b.Score, a.Score)
		})[:mostTried]
		v.Best.Title = fmt.Sprintf("best of %d candidates", len(list))
	}
	return v
}

// oneStandardError reports whether a candidate was chosen that does not score highest,
// and no candidate states the reason.
func oneStandardError(tried []triedView) bool {
	return slices.ContainsFunc(tried, func(v triedView) bool {
		chosen, best := math.Inf(-1), math.Inf(-1)
		for _, c := range v.Best.List {
			if c.Untried || c.Why != "" { // the reason is on the page
				continue
			}
			best = max(best, c.Score)
			if c.Chosen {
				chosen = c.Score
			}
		}
		return !math.IsInf(chosen, -1) && chosen < best
	})
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
		{datacheck.Stop, "Must be fixed"},
		{datacheck.Exclude, "Excluded from training"},
		{datacheck.Note, "Notes"},
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
