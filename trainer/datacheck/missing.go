package datacheck

import "math"

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
		c.add(NonFinite, c.garbage(k), k, s, r[0], r[1],
			"%s is %s for %s, %s. These samples are left out; if it happens often, look at the sensor's driver or the import.",
			c.channels[k].Name, what, plural(r[1]-r[0], "sample"), span(s.t[r[0]], s.t[r[1]-1]))
	}
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
