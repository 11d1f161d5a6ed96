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

// view is what the template shows: the report, its tables judged, its charts drawn.
type view struct {
	*Report
	Tables           []tableView
	Windows          []windowView
	Errors           []svg
	Coverage         svg
	Reliability      svg
	Training         svg
	Watched          bool // the training curve has held-out values
	Tried            []triedView
	OneStandardError bool // one was chosen although another scored higher
	Groups           []problemGroup
	Selection        selectionView
}

// selectionView is what was decided, at a few horizons, a row a channel.
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
	Flagged string        // how many windows were flagged; empty where it depends on horizon or channel
}

type horizonView struct {
	evaluate.Horizon
	Rows []rowView
	Turn *rowView // of the attitude as one angle; nil without one
}

// rowView is one channel at one horizon, judged.
type rowView struct {
	evaluate.Channel
	Ratio        string // RMSE over that of the best baseline
	BestBaseline string // the best baseline: hold, velocity or linear
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
	Timed          bool     // how long they took is known
	Why            []string // likelier ones were not chosen
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
	for _, draw := range []func() error{v.drawExamples, v.drawErrors, v.drawCoverage, v.drawReliability, v.drawTraining} {
		if err := draw(); err != nil {
			return nil, err
		}
	}
	return v, nil
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
			row := newRowView(evaluate.Channel{Name: "attitude, the angle between", Unit: "rad", RMSE: a.RMSE, Hold: a.Hold, Velocity: a.Velocity, Linear: a.Linear})
			hv.Turn = &row
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
		Channel: c, BestBaseline: rival, Ratio: "\u2013",
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

// flagged says which share of the windows was called out of distribution, if it is
// one share, as it is where whole windows are flagged.
func flagged(t *evaluate.Table) string {
	if len(t.Horizons) == 0 || len(t.Horizons[0].Channels) == 0 {
		return ""
	}
	share := t.Horizons[0].Channels[0].OOD
	for _, h := range t.Horizons {
		for _, c := range h.Channels {
			if c.OOD != share {
				return ""
			}
		}
	}
	return percent(share) + " of the windows were flagged as out of distribution: unlike what the model was trained on."
}

// tried parts the candidates by what their score is, in the order in which they
// come.
func tried(all []Candidate) []triedView {
	var measures []string
	for _, c := range all {
		if !slices.Contains(measures, c.Measure) {
			measures = append(measures, c.Measure)
		}
	}
	var out []triedView
	for _, m := range measures {
		l := candidateList{Title: "candidate", Measure: m}
		if m == "" {
			l.Measure = "held-out log lik."
		}
		for _, c := range all {
			if c.Measure == m {
				l.List = append(l.List, c)
				l.Timed = l.Timed || c.Seconds > 0
				if c.Why != "" && !slices.Contains(l.Why, c.Why) {
					l.Why = append(l.Why, c.Why)
				}
			}
		}
		v := triedView{Best: l}
		if len(l.List) > mostTried {
			v.All = &l
			v.Best.List = slices.Clone(l.List)
			slices.SortStableFunc(v.Best.List, func(a, b Candidate) int {
				if a.Chosen != b.Chosen {
					return map[bool]int{true: -1, false: 1}[a.Chosen]
				}
				return cmp.Compare(b.Score, a.Score)
			})
			v.Best.List = v.Best.List[:mostTried]
			v.Best.Title = fmt.Sprintf("best of %d candidates", len(l.List))
		}
		out = append(out, v)
	}
	return out
}

// oneStandardError reports whether a candidate was chosen that does not score highest, and
// nothing says why.
func oneStandardError(tried []triedView) bool {
	return slices.ContainsFunc(tried, func(v triedView) bool {
		chosen, best := math.Inf(-1), math.Inf(-1)
		for _, c := range v.Best.List {
			if c.Untried || c.Why != "" { // which say it themselves
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
