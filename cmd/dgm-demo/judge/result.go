package judge

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Result counts what became of states and predictions.
type Result struct {
	Flight     time.Duration // from the first state to the last
	States     int
	Answered   int
	Missing    int // states that were not answered
	Late       int // predictions that came after the next state, and those that never came for an overdue one
	Overdue    int // states that came after their successor was due
	NotFinite  int // predictions with a number that is not finite, or a negative deviation
	Unreadable int // predictions that are not what the protocol says, or for other channels or times
	Unasked    int // predictions of no known state, or a second one
	Shortened  int // predictions of the beginning of the horizon, for states that a newer one had overtaken
	Outside    int // predictions with the flag out of distribution

	// From the time in a state, when it was measured, to its prediction in the
	// listener's hands.
	P50, P99, Max time.Duration

	Horizon []float64 // T, s
	K       int
	Scored  []int // T×K, intervals that were held against a measurement
	Covered []int // T×K, of those, intervals that held it
}

// Limits are what a flight must keep.
type Limits struct {
	Flight    time.Duration // it must last at least so long
	Late      float64       // largest share of late predictions
	Low, High float64       // coverage of the intervals of 95 %, pooled over channels and times
}

// Coverage returns the share of intervals that held their measurement, over all
// channels and times, or 0 where none was scored.
func (r *Result) Coverage() float64 { return share(r.Covered, r.Scored) }

// CoverageAt is Coverage at time i of the horizon.
func (r *Result) CoverageAt(i int) float64 {
	return share(r.Covered[i*r.K:(i+1)*r.K], r.Scored[i*r.K:(i+1)*r.K])
}

// CoverageOf is Coverage of channel k.
func (r *Result) CoverageOf(k int) float64 {
	in, of := 0, 0
	for i := k; i < len(r.Scored); i += r.K {
		in, of = in+r.Covered[i], of+r.Scored[i]
	}
	return share([]int{in}, []int{of})
}

// LateShare returns the share of states whose predictions were late.
func (r *Result) LateShare() float64 { return share([]int{r.Late}, []int{r.States}) }

// Check returns nil if the flight kept the limits, else an error that says in one
// line all that it did not keep.
func (r *Result) Check(l Limits) error {
	var broken []string
	say := func(bad bool, format string, args ...any) {
		if bad {
			broken = append(broken, fmt.Sprintf(format, args...))
		}
	}
	say(r.Missing > 0, "%d of %d predictions missing", r.Missing, r.States)
	say(r.NotFinite > 0, "%d of %d predictions not finite", r.NotFinite, r.States)
	say(r.Unreadable > 0, "predictions that cannot be read: %d", r.Unreadable)
	say(r.Unasked > 0, "predictions that answer no state, or one a second time: %d", r.Unasked)
	say(r.LateShare() > l.Late, "%.1f %% of the predictions came after the next state, at most %.0f %% may", 100*r.LateShare(), 100*l.Late)
	say(r.Flight < l.Flight, "the flight lasted %.1f s, at least %.0f s are needed", r.Flight.Seconds(), l.Flight.Seconds())
	c := r.Coverage()
	say(c < l.Low || c > l.High, "intervals of 95 %% held %.1f %% of the measurements, within %.1f to %.1f %% is expected", 100*c, 100*l.Low, 100*l.High)
	if broken == nil {
		return nil
	}
	return errors.New(strings.Join(broken, "; "))
}

func share(part, whole []int) float64 {
	in, of := 0, 0
	for i := range whole {
		in, of = in+part[i], of+whole[i]
	}
	if of == 0 {
		return 0
	}
	return float64(in) / float64(of)
}
