package evaluate

import (
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Trace is the prediction a fixed time ahead along one flight, beside what was
// measured then. Angles are continuous along the flight.
type Trace struct {
	Ahead            float64     // s
	T                []float64   // n, s since the segment's first sample, of the predicted moment
	Truth, Mean, Std [][]float64 // K × n, in the channels' units
	Hold             [][]float64 // K × n, the value when the prediction was made
	Segment          string
}

// shown is how many horizons long a trace is at most.
const shown = 10

// Follow predicts ahead s along the longest flight, for at most n windows and 10
// horizons of it: more than that no eye can tell apart.
func Follow(m *model.Model, flights []window.Flight, opt Options, ahead float64, n int) (*Trace, error) {
	opt.Horizons = []float64{ahead}
	opt, err := opt.fillIn(m.Horizon)
	if err != nil {
		return nil, err
	}
	r, err := newReplayer(m, opt)
	if err != nil {
		return nil, err
	}
	f, starts := longestRun(flights, ahead, opt.Stride)
	if f == nil {
		return nil, &ShortError{Needed: ahead, Longest: window.Longest(flights)}
	}
	K := m.K
	t := &Trace{Ahead: ahead, Segment: f.Name, Truth: make([][]float64, K), Mean: make([][]float64, K), Std: make([][]float64, K), Hold: make([][]float64, K)}
	o := &r.newOutcomes(1)[0]
	for _, s := range starts[:min(n, len(starts))] {
		if f.T[s]-f.T[starts[0]] > shown*ahead {
			break
		}
		r.window(o, f, s)
		if !o.ok {
			return nil, &DivergedError{Flight: f.Name, T: f.Origin + int64(f.T[s]*1e9)}
		}
		t.T = append(t.T, f.InSegment(s)+ahead)
		for k, x0 := range f.State(s) {
			t.Truth[k] = append(t.Truth[k], x0+o.truth[k])
			t.Mean[k] = append(t.Mean[k], x0+o.mean[k])
			t.Std[k] = append(t.Std[k], o.std[k])
			t.Hold[k] = append(t.Hold[k], x0)
		}
	}
	return t, nil
}

// longestRun returns the flight with the most windows, and their starts.
func longestRun(flights []window.Flight, H, stride float64) (*window.Flight, []int) {
	var best *window.Flight
	var most []int
	for i := range flights {
		if s := flights[i].Starts(nil, H, stride); len(s) > len(most) {
			best, most = &flights[i], s
		}
	}
	return best, most
}

// Forecast is the prediction over the whole horizon from one start, beside what was
// measured after it, NaN where nothing was.
type Forecast struct {
	Start            float64 // s since the segment's first sample
	Segment          string
	T                []float64   // n, s after Start
	Truth, Mean, Std [][]float64 // K × n, in the channels' units
}

// Forecasts predicts from count starts spread over the flights, at points equal steps
// of the model's horizon.
func Forecasts(m *model.Model, flights []window.Flight, opt Options, count, points int) ([]Forecast, error) {
	opt.Horizons = nil
	for i := range points {
		opt.Horizons = append(opt.Horizons, m.Horizon*float64(i+1)/float64(points))
	}
	opt, err := opt.fillIn(m.Horizon)
	if err != nil {
		return nil, err
	}
	r, err := newReplayer(m, opt)
	if err != nil {
		return nil, err
	}
	windows := window.Cut(flights, m.Horizon, opt.Stride)
	if len(windows) == 0 {
		return nil, &ShortError{Needed: m.Horizon, Longest: window.Longest(flights)}
	}
	count = min(count, len(windows))
	o := &r.newOutcomes(1)[0]
	out := make([]Forecast, count)
	for i := range out {
		w := windows[(2*i+1)*len(windows)/(2*count)]
		f := &flights[w.Flight]
		r.window(o, f, w.Start)
		if !o.ok {
			return nil, &DivergedError{Flight: f.Name, T: f.Origin + int64(f.T[w.Start]*1e9)}
		}
		out[i] = Forecast{Start: f.InSegment(w.Start), Segment: f.Name, T: opt.Horizons}
		for k, x0 := range f.State(w.Start) {
			out[i].Truth = append(out[i].Truth, column(o.truth, k, m.K, x0))
			out[i].Mean = append(out[i].Mean, column(o.mean, k, m.K, x0))
			out[i].Std = append(out[i].Std, column(o.std, k, m.K, 0))
		}
	}
	return out, nil
}

// column returns column k of v (·×K) plus offset.
func column(v []float64, k, K int, offset float64) []float64 {
	var out []float64
	for i := k; i < len(v); i += K {
		out = append(out, v[i]+offset)
	}
	return out
}
