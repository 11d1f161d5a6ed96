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
	summaryHorizons = 3    // shown before all of them
	nominal         = 0.95 // what Coverage95 should be
	tie             = 0.05 // errors that differ by less are neither better nor worse
	mostTried       = 6    // candidates of one measure shown before all of them
)

// view is what the template shows: the report, its charts drawn.
type view struct {
	*Report
	Numbers          []number
	Windows          []windowView
	Errors           []svg
	Calibration      []svg
	Training         []svg
	Tried            []triedView
	OneStandardError bool // a candidate was chosen although another scores higher
}

// svg is a drawn chart.
type svg = template.HTML

// rowView is one channel at one horizon, rated.
type rowView struct {
	evaluate.Channel
	Ratio        string // RMSE over that of the best baseline
	BestBaseline string // hold, velocity, linear or ridge
	Comparison   string // of the model with it: better, worse, or empty where they do not differ
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
	v := &view{Report: r, Tried: tried(r.Candidates)}
	if len(r.HeldOut) > 0 {
		v.Numbers = numbers(r.HeldOut[0])
	}
	v.OneStandardError = oneStandardError(v.Tried)
	return v, v.draw()
}

// newAttitudeRow rates the attitude error.
func newAttitudeRow(e evaluate.Errors) rowView {
	return newRowView(evaluate.Channel{Name: "attitude error (rotation angle)", Unit: "rad", Errors: e})
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

// ChannelNames returns the names of the channels of the first table, which is drawn.
func (v *view) ChannelNames() []string {
	var out []string
	for _, c := range v.HeldOut[0].Horizons[0].Channels {
		out = append(out, c.Name)
	}
	return out
}

func groups(problems []datacheck.Problem) []problemGroup {
	out := []problemGroup{{Title: "Must be fixed"}, {Title: "Excluded from training"}, {Title: "Notes"}}
	for i, severity := range []datacheck.Severity{datacheck.Stop, datacheck.Exclude, datacheck.Note} {
		for _, p := range problems {
			if p.Severity == severity {
				out[i].List = append(out[i].List, p)
			}
		}
	}
	return slices.DeleteFunc(out, func(g problemGroup) bool { return g.List == nil })
}
