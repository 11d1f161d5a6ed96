package datacheck

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// findings gathers what the detectors report.
type findings struct {
	problems []Problem
	remedy   string // for values that are not finite
}

// add reports samples of a segment. k < 0: no channel. The problem that it returns may be
// changed until the next one is added.
func (r *recording) add(kind Kind, sev Severity, k int, at span, text string, args ...any) *Problem {
	s := at.seg
	p := Problem{
		Kind: kind, Segment: s.name, Index: s.index, Severity: sev, Count: at.last - at.first,
		From: s.t[at.first], To: s.t[at.last-1], Text: fmt.Sprintf(text, args...), cause: text,
	}
	return r.keepProblem(p, k)
}

// addLog reports something about the whole recording. The problem is returned as by add.
func (r *recording) addLog(kind Kind, sev Severity, k, count int, text string, args ...any) *Problem {
	p := Problem{Kind: kind, Index: -1, Severity: sev, Count: count, Text: fmt.Sprintf(text, args...)}
	for _, s := range r.segs {
		p.To = max(p.To, s.t[s.n()-1])
	}
	if len(r.segs) == 1 {
		p.Segment, p.Index = r.segs[0].name, r.segs[0].index
	}
	return r.keepProblem(p, k)
}

func (r *recording) keepProblem(p Problem, k int) *Problem {
	if k >= 0 {
		p.Channel = r.channels[k].Name
	}
	switch p.Kind {
	case Axes:
		p.Misread = true // the attitude may be what is wrong
	case Unit, Swapped, Clock, Angle:
		p.Misread = k < 0 || r.channels[k].Role != channel.Aux
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

func (f *findings) list() []Problem {
	out := gather(f.problems)
	sortProblems(out)
	out = acrossChannels(out)
	for i := range out {
		p := &out[i]
		p.From, p.To = microseconds(p.From), microseconds(p.To)
		for j := range p.Places {
			p.Places[j].From, p.Places[j].To = microseconds(p.Places[j].From), microseconds(p.Places[j].To)
		}
	}
	return out
}

func microseconds(t float64) float64 { return math.Round(t*1e6) / 1e6 }

// gather makes one problem of those of one cause in one channel: that of the longest place,
// with the list of all.
func gather(all []Problem) []Problem {
	type key struct {
		kind           Kind
		channel, cause string
		sev            Severity
	}
	groups := map[key][]Problem{}
	var order []key
	out := []Problem{}
	for _, p := range all {
		if p.cause == "" { // it is about the whole log
			out = append(out, p)
			continue
		}
		k := key{p.Kind, p.Channel, p.cause, p.Severity}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], p)
	}
	for _, k := range order {
		out = append(out, together(groups[k]))
	}
	return out
}

// acrossChannels makes one problem of those that differ by the channel alone, such as values
// that are missing in the same places.
func acrossChannels(all []Problem) []Problem {
	out := all[:0]
	first := map[string]int{} // by what they have in common
	for _, p := range all {
		text, ok := strings.CutPrefix(p.Text, p.Channel+" is ")
		if ok = ok && p.Kind == NonFinite; ok {
			common := fmt.Sprint(p.Severity, p.Index, p.From, p.To, text)
			if i, seen := first[common]; seen {
				q := &out[i]
				if q.Channels == nil {
					q.Channels = []string{q.Channel}
				}
				q.Channels = append(q.Channels, p.Channel)
				q.Text = strings.Join(q.Channels, ", ") + " are " + text
				continue
			}
			first[common] = len(out)
		}
		out = append(out, p)
	}
	return out
}

// together returns one problem for several of one cause.
func together(g []Problem) Problem {
	if len(g) == 1 {
		return g[0]
	}
	worst := 0
	for i, p := range g {
		if p.To-p.From > g[worst].To-g[worst].From {
			worst = i
		}
	}
	all := g[worst]
	all.Count = 0
	listed, segment := 0, -1
	var others strings.Builder
	for i, p := range g {
		all.Count += p.Count
		all.Places = append(all.Places, Place{Segment: p.Segment, Index: p.Index, From: p.From, To: p.To, Count: p.Count})
		if i == worst || listed == maxListed {
			continue
		}
		listed++
		if p.Index != segment {
			fmt.Fprintf(&others, "; segment %d: ", p.Index+1)
			segment = p.Index
		} else {
			others.WriteString(", ")
		}
		if p.From == p.To {
			others.WriteString(sec(p.From))
		} else {
			others.WriteString(printSpan(p.From, p.To))
		}
	}
	if left := len(g) - 1 - listed; left > 0 {
		fmt.Fprintf(&others, ", and %d more", left)
	}
	all.Text += fmt.Sprintf(" The same in %s: %s.", plural(len(g)-1, "other place"), strings.TrimPrefix(others.String(), "; "))
	return all
}

var severityRank = map[Severity]int{Stop: 0, Exclude: 1, Note: 2}

// sortProblems sorts by severity, then by place in the log.
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
