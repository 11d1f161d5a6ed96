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
	Truth, Mean, Std [][]float64 // K × n, in the channels' units; Truth is NaN where nothing was measured
	Segment          string
}

// traceHorizons bounds the length of a trace, in horizons.
const traceHorizons = 10

// Follow predicts ahead s along the longest flight, for at most n windows and
// traceHorizons of it.
func Follow(m *model.Model, flights []window.Flight, opt Options, ahead float64, n int) (*Trace, error) {
	opt.Horizons = []float64{ahead}
	opt, err := opt.withDefaults(m.Horizon)
	if err != nil {
		return nil, err
	}
	var f *window.Flight
	var starts []int
	for i := range flights {
		if s := flights[i].Starts(nil, ahead, opt.Stride); len(s) > len(starts) {
			f, starts = &flights[i], s
		}
	}
	if f == nil {
		return nil, &ShortError{Needed: ahead, Longest: window.Longest(flights)}
	}
	c, err := newComparer(m, opt)
	if err != nil {
		return nil, err
	}
	t := &Trace{Ahead: ahead, Segment: f.Name, Truth: make([][]float64, m.K), Mean: make([][]float64, m.K), Std: make([][]float64, m.K)}
	o := &c.newOutcomes(1)[0]
	for _, s := range starts[:min(n, len(starts))] {
		if f.T[s]-f.T[starts[0]] > traceHorizons*ahead {
			break
		}
		if c.compare(o, f, s); !o.ok {
			return nil, diverged(f, s, errNotFinite)
		}
		t.T = append(t.T, f.InSegment(s)+ahead)
		for k, x0 := range f.State(s) {
			t.Truth[k] = append(t.Truth[k], x0+o.measured[k])
			t.Mean[k] = append(t.Mean[k], x0+o.mean[byModel][k])
			t.Std[k] = append(t.Std[k], o.std[k])
		}
	}
	return t, nil
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
	opt, err := opt.withDefaults(m.Horizon)
	if err != nil {
		return nil, err
	}
	windows := window.Cut(flights, m.Horizon, opt.Stride)
	if len(windows) == 0 {
		return nil, &ShortError{Needed: m.Horizon, Longest: window.Longest(flights)}
	}
	c, err := newComparer(m, opt)
	if err != nil {
		return nil, err
	}
	count = min(count, len(windows))
	o := &c.newOutcomes(1)[0]
	out := make([]Forecast, count)
	for i := range out {
		w := windows[(2*i+1)*len(windows)/(2*count)]
		f := &flights[w.Flight]
		if c.compare(o, f, w.Start); !o.ok {
			return nil, diverged(f, w.Start, errNotFinite)
		}
		out[i] = Forecast{Start: f.InSegment(w.Start), Segment: f.Name, T: opt.Horizons}
		for k, x0 := range f.State(w.Start) {
			out[i].Truth = append(out[i].Truth, column(o.measured, k, m.K, x0))
			out[i].Mean = append(out[i].Mean, column(o.mean[byModel], k, m.K, x0))
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
