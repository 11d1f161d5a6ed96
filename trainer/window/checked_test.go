package window

import (
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/trainer/datacheck"
)

func TestPiecesOfASegment(t *testing.T) {
	for _, c := range []struct {
		excluded [][2]int
		cuts     []int
		want     [][2]int
	}{
		{nil, nil, [][2]int{{0, 100}}},
		{[][2]int{{0, 5}, {20, 30}, {95, 100}}, nil, [][2]int{{5, 20}, {30, 95}}},
		{[][2]int{{20, 30}}, []int{10, 20, 25, 30, 40}, [][2]int{{0, 10}, {10, 20}, {30, 40}, {40, 100}}},
		{[][2]int{{0, 100}}, []int{50}, nil},
	} {
		reasons := make([]datacheck.Reason, 100)
		for _, r := range c.excluded {
			for i := r[0]; i < r[1]; i++ {
				reasons[i] |= datacheck.BadSpan
			}
		}
		for _, i := range c.cuts {
			reasons[i] |= datacheck.TimeBreak
		}
		if got := pieces(reasons); !slices.Equal(got, c.want) {
			t.Errorf("without %v, cut at %v: %v, want %v", c.excluded, c.cuts, got, c.want)
		}
	}
}
