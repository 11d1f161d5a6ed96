package evaluate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/trainer/window"
)

// TooShort names horizons that were not scored: nothing was measured so soon after a start, and
// what is interpolated there is no measure of a prediction.
type TooShort struct {
	Horizons []float64 `json:"horizons"` // s
	Interval float64   `json:"interval"` // s between samples, the median
}

// shorter reports whether a horizon, s, is shorter than an interval between samples, s.
func shorter(horizon, interval float64) bool { return horizon < (1-window.Jitter)*interval }

// Scorable reports whether predictions of a horizon, s, can be compared with the samples of
// flights.
func Scorable(flights []window.Flight, horizon float64) bool {
	return !shorter(horizon, window.StateInterval(flights))
}

// fewSamples is how many intervals between samples a horizon has at least that keeps its round number though it ends between two samples.
const fewSamples = 10

// GridOf returns Grid for flights: horizons of few samples end at a sample, see window.AtSamples. Those shorter than a sample stay.
func GridOf(H float64, flights []window.Flight) []float64 {
	all, dt := Grid(H), window.StateInterval(flights)
	from, to := 0, len(all)
	for from < to && shorter(all[from], dt) {
		from++
	}
	for to > from && all[to-1] >= fewSamples*dt {
		to--
	}
	return slices.Concat(all[:from], window.AtSamples(all[from:to], H, flights), all[to:])
}

// scoring returns the options with their defaults and without the horizons that are shorter than
// the interval between samples of the flights, which are returned, too; nil if there are none.
// Without a horizon that is left it is an error.
func (o Options) scoring(H float64, flights []window.Flight) (Options, *TooShort, error) {
	if o.Horizons == nil {
		o.Horizons = GridOf(H, flights)
	}
	o, err := o.withDefaults(H)
	if err != nil {
		return o, nil, err
	}
	left := TooShort{Interval: window.StateInterval(flights)}
	n := 0
	for n < len(o.Horizons) && shorter(o.Horizons[n], left.Interval) { // they are ascending
		n++
	}
	if n == 0 {
		return o, nil, nil
	}
	left.Horizons, o.Horizons = slices.Clone(o.Horizons[:n]), o.Horizons[n:]
	if len(o.Horizons) > 0 {
		return o, &left, nil
	}
	remedy := fmt.Sprintf("choose horizons of %s or more (--horizons), or a log that is sampled faster", Seconds(left.Interval))
	if shorter(H, left.Interval) {
		remedy = fmt.Sprintf("the model predicts up to %s, and needs a log that is sampled faster", Seconds(H))
	}
	return o, nil, fmt.Errorf("no horizon can be scored: %s; %s", left.reason(), remedy)
}

// String says in one sentence which horizons were not scored, and why.
func (s *TooShort) String() string { return "Not scored: " + s.reason() + "." }

// reason says what is shorter than what.
func (s *TooShort) reason() string {
	names, verb := make([]string, len(s.Horizons)), "is"
	for i, t := range s.Horizons {
		names[i] = Seconds(t)
	}
	text := names[0]
	if last := len(names) - 1; last > 0 {
		text, verb = strings.Join(names[:last], ", ")+" and "+names[last], "are"
	}
	return fmt.Sprintf("%s %s shorter than the %s between samples", text, verb, Seconds(s.Interval))
}
