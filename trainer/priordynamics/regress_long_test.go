package priordynamics

import (
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Of a long log some of the steps are regressed and some of the windows compared, evenly spread.
func TestLongLogsAreThinned(t *testing.T) {
	var s window.Series
	const samples = 3 * mostSteps
	for i := range samples {
		s.T, s.X = append(s.T, int64(i)*1e7), append(s.X, float64(i))
	}
	flights := window.Prepare(0, s, []channel.Channel{{Name: "x"}}, 0, window.Options{})
	n, last := 0, -1.0
	for s := range steps(flights, 1, 0, 0.05) {
		if last >= 0 && s.x[0] != last+3 {
			t.Fatalf("after %v comes %v", last, s.x[0])
		}
		n, last = n+1, s.x[0]
	}
	if n > mostSteps || n < mostSteps-10 || last < samples-10 {
		t.Errorf("%d steps, the last from sample %v", n, last)
	}
	w := compared(flights, 1, 10)
	if len(w) != mostCompared || w[len(w)-1].Start < samples*99/100 {
		t.Errorf("%d windows, the last from sample %d", len(w), w[len(w)-1].Start)
	}
}
