package window

import (
	"slices"
	"testing"
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
		if got := pieces(100, c.excluded, c.cuts); !slices.Equal(got, c.want) {
			t.Errorf("without %v, cut at %v: %v, want %v", c.excluded, c.cuts, got, c.want)
		}
	}
}
