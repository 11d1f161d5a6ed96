package trainer

import (
	"math"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Adaptation is evaluated on all of a short log, and on the beginnings of the flights of a long one.
func TestBeginnings(t *testing.T) {
	flights := func(n int, seconds float64) (out []window.Flight) {
		for at := range n {
			var s window.Series
			for i := range int(seconds * 20) {
				s.T, s.X = append(s.T, int64(i)*5e7), append(s.X, float64(i))
			}
			out = append(out, window.Prepare(at, s, []channel.Channel{{Name: "x"}}, 0, window.Options{})...)
		}
		return out
	}
	for _, c := range []struct {
		flights, fragments int
		seconds            float64
		number             int
		all                float64 // s
	}{
		{1, 0, 100, 1, 100}, {1, 0, 1000, 1, mostAdapted}, {3, 0, 50, 3, 150}, {3, 0, 1000, 3, mostAdapted}, {100, 0, 100, 6, mostAdapted},
		{1, 300, 1000, 1, leastAdapted}, {100, 0, 10, 21, 210}, {0, 5, 1, 5, 2.5},
	} {
		got := beginnings(append(flights(c.fragments, 0.5), flights(c.flights, c.seconds)...), 1)
		if len(got) != c.number || math.Abs(window.Duration(got)-c.all) > 0.06*float64(len(got)) {
			t.Errorf("%d flights of %v s: %d of %v s in all, expected %v of %v s", c.flights, c.seconds, len(got), window.Duration(got), c.number, c.all)
		}
	}
}
