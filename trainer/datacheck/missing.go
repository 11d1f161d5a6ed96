package datacheck

import (
	"math"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// missing reports values that are not finite. A channel that is measured less often than
// the log is sampled has a regular pattern of NaN, and is not broken.
func (s series) missing() {
	all, absent := 0, 0
	for _, seg := range s.segs {
		all += seg.n()
		for _, v := range seg.col[s.k] {
			if !finite(v) {
				absent++
			}
		}
	}
	if absent < all || all == 0 {
		for _, seg := range s.segs {
			s.missingIn(seg)
		}
		return
	}
	sev := Stop
	if s.Role == channel.Aux {
		sev = Note
	}
	s.addLog(NonFinite, sev, s.k, all, "%s has no value in the whole log. Map another column, or remove the channel.", s.Name)
}

func (s series) missingIn(seg *segment) {
	x := seg.col[s.k]
	var holes []span
	var lengths []float64
	for i, j := range where(0, seg.n(), func(i int) bool { return !finite(x[i]) }) {
		holes = append(holes, span{seg, i, j})
		lengths = append(lengths, float64(j-i))
	}
	sum := total(holes)
	// Slow by design: holes of about one length all over the segment.
	usual := 0.0
	if sum > 0 && sum < seg.n() && float64(len(holes)) > 0.5*float64(seg.n()-sum)-1 && len(holes) >= 5 {
		usual = median(lengths)
		s.add(Rate, Note, s.k, seg.whole(),
			"%s is measured in about one of %d samples: at %s Hz, in a log at %s Hz. Between them it counts as not measured; windows start only where every state is measured.",
			s.Name, int(usual)+1, num(1/(seg.dt*float64(int(usual)+1))), num(1/seg.dt)).Count = sum
	}
	var short []span
	anyInf := false
	for _, h := range holes {
		inf := slices.ContainsFunc(x[h.first:h.last], func(v float64) bool { return math.IsInf(v, 0) })
		switch {
		case !inf && usual > 0 && float64(h.n()) <= 1.5*usual+1:
		case h.n() <= fewSamples || h.to()-h.from()+seg.dt <= briefShare*s.horizon:
			short = append(short, h)
			anyInf = anyInf || inf
		default:
			what := "NaN"
			if inf {
				what = "Inf"
			}
			s.exclude(NonFinite, s.k, h, BadSpan,
				"%s is %s for %s, %s. These samples are left out; if this is frequent, %s.",
				s.Name, what, plural(h.n(), "sample"), h, s.found.remedy)
		}
	}
	if len(short) > 0 {
		s.shortHoles(short, anyInf)
	}
}

// invalid reports the values that the importer left out because the robot's own estimator
// declared them invalid.
func (r *recording) invalid(notes []flightlog.Note) {
	var texts []string
	for _, n := range notes {
		if text, ok := strings.CutPrefix(n.Text, flightlog.InvalidNote); ok {
			texts = append(texts, text)
		}
	}
	r.found.remedy = "check the driver of the sensor and the import"
	if len(texts) > 0 {
		r.found.remedy = "see what the import left out as invalid, else " + r.found.remedy
		r.addLog(Invalid, Note, -1, 0, "Left out by the import: %s. These samples are not trained on. To lose fewer, record where the robot's estimator has its position sensor (a satellite fix, optical flow or motion capture).", strings.Join(texts, "; "))
	}
}

// shortHoles notes the short runs without a value together.
func (s series) shortHoles(holes []span, inf bool) {
	longest := slices.MaxFunc(holes, func(a, b span) int { return a.n() - b.n() }).n()
	what, instead := "NaN", "count as not measured; windows start only where every state is measured"
	if inf {
		what = "NaN or Inf"
	}
	if s.Role == channel.Input {
		instead = "are replaced by the value before them"
	}
	seg := holes[0].seg
	at := span{seg, holes[0].first, holes[len(holes)-1].last}
	count := total(holes)
	s.add(NonFinite, Note, s.k, at,
		"%s is %s in %d of %d samples, at most %d in a row, %s. These values %s. If there are many, check the driver of the sensor and the import.",
		s.Name, what, count, seg.n(), longest, at, instead).Count = count
}
