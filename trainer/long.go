package trainer

import (
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/trainer/datacheck"
)

// Long is the kind of the note on logs of which parts are trained on.
const Long datacheck.Kind = "long"

const (
	mostValues = 6_000_000 // numbers of states and inputs that are trained on, about
	stretch    = 100       // horizons of a part
)

// thinning leaves out parts of long logs, so that time and memory of a training have a bound.
type thinning struct {
	share      float64 // of the samples that is kept
	length     float64 // s, of a part
	seen, kept int     // samples
	parts      int     // that are kept
}

// newThinning returns what to leave out of logs of so many channels that are trained on; nil = nothing.
func newThinning(logs []*flightlog.Log, channels int, horizon float64) *thinning {
	values := 0
	for _, log := range logs {
		for s := range log.Segments {
			values += len(log.Segments[s].T) * channels
		}
	}
	if values <= mostValues {
		return nil
	}
	return &thinning{share: float64(mostValues) / float64(values), length: stretch * horizon}
}

// leaveOut marks the parts of a segment that are not trained on: the others are spread evenly over all segments.
func (t *thinning) leaveOut(seg *flightlog.Segment, mask datacheck.Mask) {
	if t == nil {
		return
	}
	n := len(seg.T)
	parts := 1
	if n > 1 {
		parts = max(1, min(n, int(math.Round(float64(seg.T[n-1]-seg.T[0])/1e9/t.length))))
	}
	before := false
	for p := range parts {
		from, to := p*n/parts, (p+1)*n/parts
		t.seen += to - from
		keep := float64(t.kept)+float64(to-from)/2 <= t.share*float64(t.seen)
		switch {
		case !keep:
			for i := from; i < to; i++ {
				mask[0][i] |= datacheck.BadSpan
			}
		case !before:
			t.parts++
		}
		if before = keep; keep {
			t.kept += to - from
		}
	}
}

// problems returns the note that says what is left out, if any.
func (t *thinning) problems(logs []*flightlog.Log) []Problem {
	if t == nil {
		return nil
	}
	return []Problem{{logs[0].Path, datacheck.Problem{Kind: Long, Index: -1, Severity: datacheck.Note, Text: fmt.Sprintf(
		"The logs have %d samples. %d of them are trained on and tested, in %d parts spread evenly over the logs: more would take time and memory, and change the model little. The data check has read all.",
		t.seen, t.kept, t.parts)}}}
}
