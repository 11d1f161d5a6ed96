package timebase_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/timebase"
)

// Sorting in little memory gives what sorting in much does.
func TestSorter(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var want []timebase.Sample
	small, large := timebase.NewSorter([]int{1, 3}), timebase.NewSorter([]int{1, 3})
	small.Limit = 1000
	for i := range 5000 {
		x := timebase.Sample{Epoch: rng.IntN(3), Time: int64(rng.IntN(2000) - 1000), Track: rng.IntN(2)}
		x.Values = []float64{float64(i), math.NaN(), math.Inf(1)}[:1+2*x.Track]
		for _, s := range []*timebase.Sorter{small, large} {
			if err := s.Add(x); err != nil {
				t.Fatal(err)
			}
		}
	}
	copied := func(out *[]timebase.Sample) func(*timebase.Sample) error {
		return func(x *timebase.Sample) error {
			c := *x
			c.Values = slices.Clone(x.Values)
			*out = append(*out, c)
			return nil
		}
	}
	var got []timebase.Sample
	if err := large.Each(copied(&want)); err != nil {
		t.Fatal(err)
	}
	if err := small.Each(copied(&got)); err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if got[i].Values[0] != want[i].Values[0] || i > 0 && (got[i-1].Epoch > got[i].Epoch || got[i-1].Epoch == got[i].Epoch && got[i-1].Time > got[i].Time) {
			t.Fatalf("sample %d: %+v after %+v, want %+v", i, got[i], got[i-1], want[i])
		}
	}
	if len(got) != 5000 || len(want) != 5000 {
		t.Error(len(got), len(want))
	}
}
