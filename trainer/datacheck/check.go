package datacheck

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Options says what the check needs to know about what follows. The zero value
// is good.
type Options struct {
	Horizon float64 // (optional) s, the horizon to be trained; 0 = unknown, and nothing is called too short for it
}

// maxListed bounds how many problems of one kind are listed for one channel of
// one segment. The rest is gathered into one.
const maxListed = 12

// checker gathers what is found.
type checker struct {
	record
	opt      Options
	problems []Problem
	slow     map[int]bool // channels that often stand still
	far      float64      // how far the channel that is looked at moves in half a second, in the middle lot
}

// check runs all checks in the order in which they need each other: what is
// found by one is set aside for those after it.
func (c *checker) check() Result {
	for _, s := range c.segs {
		s.dt = s.interval()
	}
	usual := c.interval()
	c.slow = map[int]bool{}
	for _, s := range c.segs {
		c.stamps(s, usual)
	}
	c.rates(usual)
	lots := c.lots()
	for k := range c.channels {
		c.missing(k)
		if c.constant(k) {
			continue
		}
		c.far = c.reaches(k)
		for _, lot := range lots {
			c.within(lot, func() {
				c.updates(k)
				c.frozen(k)
				c.smooth(k)
				c.outliers(k)
				c.runaways(k)
			})
		}
		c.clipped(k)
	}
	c.fillings()
	c.gimbal()
	c.swapped()
	c.pairs(lots)
	c.scales()
	c.rest()
	for _, lot := range lots {
		c.within(lot, c.dynamics)
	}
	c.short(usual)
	return c.result()
}

// states returns the places of the state channels in the header.
func (c *checker) states() []int { return places(c.channels, channel.State) }

func places(all []channel.Channel, role channel.Role) []int {
	var out []int
	for i, ch := range all {
		if ch.Role == role {
			out = append(out, i)
		}
	}
	return out
}

// garbage is the severity of values that are wrong: what is only carried along
// need not be left out.
func (c *checker) garbage(k int) Severity {
	if c.channels[k].Role == channel.Aux {
		return Note
	}
	return Exclude
}

// add reports samples [first, last) of a segment. k < 0: no channel.
func (c *checker) add(kind Kind, sev Severity, k int, s *segment, first, last int, text string, args ...any) {
	p := Problem{
		Kind: kind, Segment: s.name, Index: s.index, Severity: sev, Count: last - first,
		From: s.t[first], To: s.t[last-1], Text: fmt.Sprintf(text, args...),
	}
	if k >= 0 {
		p.Channel = c.channels[k].Name
	}
	c.problems = append(c.problems, p)
}

// addLog reports something about the whole log, or the lot that is looked at.
func (c *checker) addLog(kind Kind, sev Severity, k, count int, text string, args ...any) {
	p := Problem{Kind: kind, Index: -1, Severity: sev, Count: count, Text: fmt.Sprintf(text, args...)}
	if k >= 0 {
		p.Channel = c.channels[k].Name
	}
	for _, s := range c.segs {
		p.To = max(p.To, s.t[s.n()-1])
	}
	if len(c.segs) == 1 {
		p.Segment, p.Index = c.segs[0].name, c.segs[0].index
	}
	c.problems = append(c.problems, p)
}

// result sorts and bounds the list. The masks are complete even where the list is not.
func (c *checker) result() Result {
	r := Result{Problems: gather(c.problems)}
	order := slices.Concat(c.states(), places(c.channels, channel.Input), places(c.channels, channel.Aux))
	for _, s := range c.segs {
		mask := make(Mask, len(order))
		for i, k := range order {
			mask[i] = s.mask[k]
		}
		r.Masks = append(r.Masks, mask)
	}
	sortProblems(r.Problems)
	for i := range r.Problems {
		p := &r.Problems[i]
		p.From, p.To = tidy(p.From), tidy(p.To)
	}
	return r
}

// gather replaces more than maxListed problems of one kind, channel and segment
// by one that stands for them all and the largest ones; stamps that are out of
// order or occur again, one like the other, by one alone.
func gather(all []Problem) []Problem {
	type key struct {
		kind    Kind
		channel string
		index   int
		sev     Severity
	}
	groups := map[key][]int{}
	for i, p := range all {
		k := key{p.Kind, p.Channel, p.Index, p.Severity}
		groups[k] = append(groups[k], i)
	}
	var out []Problem
	for i, p := range all {
		g := groups[key{p.Kind, p.Channel, p.Index, p.Severity}]
		alike := p.Severity == Exclude && (p.Kind == Backwards || p.Kind == Duplicate)
		if len(g) == 1 || !alike && len(g) <= maxListed {
			out = append(out, p)
			continue
		}
		if i != g[0] {
			continue
		}
		out = append(out, together(all, g))
		if alike {
			continue
		}
		g = slices.Clone(g)
		slices.SortStableFunc(g, func(a, b int) int { return cmp.Compare(all[b].To-all[b].From, all[a].To-all[a].From) })
		for _, j := range g[:maxListed-1] {
			out = append(out, all[j])
		}
	}
	return out
}

// together returns one problem for those numbered g.
func together(all []Problem, g []int) Problem {
	p := all[g[0]]
	p.Count = 0
	for _, j := range g {
		p.Count += all[j].Count
		p.From, p.To = min(p.From, all[j].From), max(p.To, all[j].To)
	}
	switch p.Kind {
	case Backwards:
		p.Text = fmt.Sprintf("%s stamped before the one ahead of them, in %s, %s. Records were stored out of order: sort the log by time, or leave them out.",
			were(p.Count), plural(len(g), "place"), span(p.From, p.To))
	case Duplicate:
		p.Text = fmt.Sprintf("%s stamped like the one ahead of them, in %s, %s. The first sample of each stamp is used; check that stamps are fine enough for the rate, and that no record is stored twice.",
			were(p.Count), plural(len(g), "place"), span(p.From, p.To))
	default:
		p.Text = fmt.Sprintf("%d places of kind %s, %s, %s in all; the longest are listed one by one.",
			len(g), p.Kind, span(p.From, p.To), plural(p.Count, "sample"))
	}
	return p
}

// tidy rounds a time to a microsecond.
func tidy(t float64) float64 { return math.Round(t*1e6) / 1e6 }
