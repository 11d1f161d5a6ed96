package datacheck

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// findings gathers what the detectors report.
type findings struct{ problems []Problem }

// add reports samples of a segment. k < 0: no channel. The problem that it returns may be
// changed until the next one is added.
func (r *recording) add(kind Kind, sev Severity, k int, at span, text string, args ...any) *Problem {
	s := at.seg
	p := Problem{
		Kind: kind, Segment: s.name, Index: s.index, Severity: sev, Count: at.last - at.first,
		From: s.t[at.first], To: s.t[at.last-1], Text: fmt.Sprintf(text, args...),
	}
	return r.keepProblem(p, k)
}

// addLog reports something about the whole recording.
func (r *recording) addLog(kind Kind, sev Severity, k, count int, text string, args ...any) {
	p := Problem{Kind: kind, Index: -1, Severity: sev, Count: count, Text: fmt.Sprintf(text, args...)}
	for _, s := range r.segs {
		p.To = max(p.To, s.t[s.n()-1])
	}
	if len(r.segs) == 1 {
		p.Segment, p.Index = r.segs[0].name, r.segs[0].index
	}
	r.keepProblem(p, k)
}

func (r *recording) keepProblem(p Problem, k int) *Problem {
	if k >= 0 {
		p.Channel = r.channels[k].Name
	}
	r.found.problems = append(r.found.problems, p)
	return &r.found.problems[len(r.found.problems)-1]
}

// exclude reports wrong values of a channel and marks them as left out.
func (r *recording) exclude(kind Kind, k int, at span, why Reason, text string, args ...any) {
	r.add(kind, r.severity(k), k, at, text, args...)
	at.mark(k, why)
}

// severity is that of wrong values: an auxiliary channel need not be left out.
func (r *recording) severity(k int) Severity {
	if r.channels[k].Role == channel.Aux {
		return Note
	}
	return Exclude
}

// list sorts and bounds the problems.
func (f *findings) list() []Problem {
	out := gather(f.problems)
	sortProblems(out)
	for i := range out {
		p := &out[i]
		p.From, p.To = microseconds(p.From), microseconds(p.To)
	}
	return out
}

func microseconds(t float64) float64 { return math.Round(t*1e6) / 1e6 }

// gather replaces more than maxListed problems of one kind, channel and segment by one
// that stands for all and the longest ones; wrong stamps by one alone.
func gather(all []Problem) []Problem {
	type key struct {
		kind    Kind
		channel string
		index   int
		sev     Severity
	}
	groups := map[key][]Problem{}
	var order []key
	for _, p := range all {
		k := key{p.Kind, p.Channel, p.Index, p.Severity}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], p)
	}
	out := []Problem{}
	for _, k := range order {
		g := groups[k]
		stamps := k.sev == Exclude && (k.kind == Backwards || k.kind == Duplicate)
		if len(g) == 1 || !stamps && len(g) <= maxListed {
			out = append(out, g...)
			continue
		}
		out = append(out, together(g))
		if !stamps {
			slices.SortStableFunc(g, func(a, b Problem) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
			out = append(out, g[:maxListed-1]...)
		}
	}
	return out
}

// together returns one problem for several of one kind.
func together(g []Problem) Problem {
	p := g[0]
	p.Count = 0
	for _, q := range g {
		p.Count += q.Count
		p.From, p.To = min(p.From, q.From), max(p.To, q.To)
	}
	when := printSpan(p.From, p.To)
	switch p.Kind {
	case Backwards:
		p.Text = fmt.Sprintf("%s stamped earlier than the sample before, in %s, %s. Records were stored out of order: sort the log by time, or remove them.",
			were(p.Count), plural(len(g), "place"), when)
	case Duplicate:
		p.Text = fmt.Sprintf("%s stamped like the sample before, in %s, %s. The first sample of each stamp is used; check that the resolution of the stamps is fine enough for the rate, and that no record is stored twice.",
			were(p.Count), plural(len(g), "place"), when)
	default:
		p.Text = fmt.Sprintf("%d findings of kind %s, %s, %s in all; the longest are listed one by one.",
			len(g), p.Kind, when, plural(p.Count, "sample"))
	}
	return p
}

var severityRank = map[Severity]int{Stop: 0, Exclude: 1, Note: 2}

// sortProblems sorts by severity, then by place in the log; a problem that stands for
// several comes ahead of them.
func sortProblems(p []Problem) {
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(severityRank[a.Severity], severityRank[b.Severity]),
			cmp.Compare(a.Index, b.Index),
			cmp.Compare(a.From, b.From),
			cmp.Compare(b.To, a.To),
			cmp.Compare(a.Channel, b.Channel),
			cmp.Compare(a.Kind, b.Kind),
		)
	})
}
