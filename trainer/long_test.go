package trainer

import (
	"math"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/trainer/datacheck"
)

// Of logs with more numbers than are trained on, parts are kept that are spread evenly, of long and of short segments.
func TestLongLogsAreTrainedOnInParts(t *testing.T) {
	log := &flightlog.Log{Path: "long.msgpack"}
	for _, seconds := range []int{20_000, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 20_000, 40} {
		seg := flightlog.Segment{}
		for i := range 50 * seconds {
			seg.T = append(seg.T, int64(i)*2e7)
		}
		log.Segments = append(log.Segments, seg)
	}
	thin := newThinning([]*flightlog.Log{log}, 12, 0.5)
	if thin == nil {
		t.Fatal("nothing is left out")
	}
	kept, all, gap, longest := 0, 0, 0, 0
	for s := range log.Segments {
		seg := &log.Segments[s]
		mask := datacheck.Mask{make([]datacheck.Reason, len(seg.T)), make([]datacheck.Reason, len(seg.T))}
		thin.leaveOut(seg, mask)
		for _, r := range mask.Samples(2) {
			if all++; r&datacheck.BadSpan == 0 {
				kept, gap = kept+1, 0
			} else {
				gap++
			}
			longest = max(longest, gap)
		}
	}
	if share := float64(kept) * 12 / mostValues; math.Abs(share-1) > 0.01 {
		t.Errorf("%d of %d samples are kept, %.3f of the most", kept, all, share)
	}
	if longest > 4*50*50 {
		t.Errorf("%d samples in a row are left out", longest)
	}
	notes := thin.problems([]*flightlog.Log{log})
	if len(notes) != 1 || !strings.Contains(notes[0].Text, "2003500 samples") || thin.parts < 150 {
		t.Errorf("%v, %d parts", notes, thin.parts)
	}
	log.Segments = log.Segments[1:10]
	if newThinning([]*flightlog.Log{log}, 12, 0.5) != nil {
		t.Error("parts of a short log are left out")
	}
}
