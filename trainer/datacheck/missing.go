package datacheck

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

const (
	// few values of a channel that are missing or wrong are as if they had not been
	// measured: the windows around bridge them.
	few = 5
	// briefly: so are those of this share of the horizon.
	briefly = 0.1
)

// missing reports values that are no numbers. A channel that is measured less
// often than the log is sampled has a regular pattern of NaN, and is not broken.
func (c *checker) missing(k int) {
	total, absent := 0, 0
	for _, s := range c.segs {
		for _, v := range s.col[k] {
			total++
			if !finite(v) {
				absent++
			}
		}
	}
	if absent == 0 {
		return
	}
	if absent == total {
		sev := Stop
		if c.garbage(k) == Note {
			sev = Note
		}
		c.addLog(NonFinite, sev, k, total, "%s has no value in the whole log. Map another column, or drop the channel.", c.channels[k].Name)
		return
	}
	for _, s := range c.segs {
		c.missingIn(s, k)
	}
}

func (c *checker) missingIn(s *segment, k int) {
	runs := absences(s.col[k])
	holes := make([]float64, 0, len(runs))
	sum := 0
	for _, r := range runs {
		holes = append(holes, float64(r[1]-r[0]))
		sum += r[1] - r[0]
	}
	if sum == 0 {
		return
	}
	// Slow by design: holes of about one length all over the segment.
	usual := 0.0
	if n := s.n(); sum < n && float64(len(runs)) > 0.5*float64(n-sum)-1 && len(runs) >= 5 {
		usual = median(holes)
		c.add(Rate, Note, k, s, 0, s.n(),
			"%s is measured in about one sample out of %d. Between them it counts as not measured; windows start only where every state is.",
			c.channels[k].Name, int(usual)+1)
		p := &c.problems[len(c.problems)-1]
		p.Count = sum
	}
	var short [][2]int
	inf := "NaN"
	for _, r := range runs {
		what := "NaN"
		for i := r[0]; i < r[1]; i++ {
			if math.IsInf(s.col[k][i], 0) {
				what = "Inf"
			}
		}
		if what == "NaN" && float64(r[1]-r[0]) <= 1.5*usual+1 && usual > 0 {
			continue
		}
		if r[1]-r[0] <= few || s.t[r[1]-1]-s.t[r[0]]+s.dt <= briefly*c.opt.Horizon {
			short = append(short, r)
			if what == "Inf" {
				inf = "NaN or Inf"
			}
			continue
		}
		c.add(NonFinite, c.garbage(k), k, s, r[0], r[1],
			"%s is %s for %s, %s. These samples are left out; if it happens often, look at the sensor's driver or the import.",
			c.channels[k].Name, what, plural(r[1]-r[0], "sample"), span(s.t[r[0]], s.t[r[1]-1]))
		s.mark(k, r[0], r[1], BadSpan)
	}
	if len(short) > 0 {
		c.holes(s, k, short, inf)
	}
}

// holes notes the short runs without a value together.
func (c *checker) holes(s *segment, k int, runs [][2]int, what string) {
	count, longest := 0, 0
	for _, r := range runs {
		count += r[1] - r[0]
		longest = max(longest, r[1]-r[0])
	}
	first, last := runs[0][0], runs[len(runs)-1][1]
	instead := "count as not measured; windows start only where every state is"
	if c.channels[k].Role == channel.Input {
		instead = "are taken to be the value before them"
	}
	c.add(NonFinite, Note, k, s, first, last,
		"%s is %s in %d of %d samples, at most %d in a row, %s. These values %s. If there are many, look at the sensor's driver or the import.",
		c.channels[k].Name, what, count, s.n(), longest, span(s.t[first], s.t[last-1]), instead)
	c.problems[len(c.problems)-1].Count = count
}

// absences returns the runs of values that are not finite.
func absences(x []float64) [][2]int {
	var out [][2]int
	for i := 0; i < len(x); i++ {
		if finite(x[i]) {
			continue
		}
		j := i + 1
		for j < len(x) && !finite(x[j]) {
			j++
		}
		out = append(out, [2]int{i, j})
		i = j
	}
	return out
}
