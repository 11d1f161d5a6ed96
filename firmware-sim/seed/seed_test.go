package seed

import "testing"

func TestStreamsDifferAndRepeat(t *testing.T) {
	first := func(s *Source) float64 { return s.Uniform(0, 1) }
	seen := map[float64]bool{}
	for _, p := range []Purpose{Noise, Spike} {
		for segment := range 3 {
			for n := range 3 {
				v := first(New(1, p, segment, n))
				if seen[v] {
					t.Errorf("purpose %d, segment %d, stream %d repeats another", p, segment, n)
				}
				seen[v] = true
				if first(New(1, p, segment, n)) != v {
					t.Error("the same stream differs")
				}
			}
		}
	}
}

func TestACopyHasTheSameFuture(t *testing.T) {
	a, b := New(1, Noise, 0, 0), New(2, Wind, 1, 1)
	a.Normal()
	*b = *a
	for range 5 {
		if a.Normal() != b.Normal() {
			t.Fatal("futures differ")
		}
	}
	a.Normal()
	if a.Normal() == b.Normal() {
		t.Error("copies share their state")
	}
}
