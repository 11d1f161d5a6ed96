package nets

import (
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/trainer/window"
)

func TestResampledBlocksStayTogether(t *testing.T) {
	var windows []window.Window
	for i := range 100 {
		windows = append(windows, window.Window{Start: i})
	}
	got := resample(windows, 10, rand.New(rand.NewPCG(6, 1)))
	if len(got) != 100 {
		t.Fatalf("%d windows", len(got))
	}
	seen := map[int]bool{}
	for i, w := range got {
		seen[w.Start] = true
		if i%10 > 0 && w.Start != (got[i-1].Start+1)%100 {
			t.Errorf("window %d follows %d", w.Start, got[i-1].Start)
		}
	}
	if len(seen) > 90 || len(seen) < 30 {
		t.Errorf("%d different windows of 100", len(seen))
	}
}
