package evaluate

import (
	"math"
	"sort"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/plot"
	"github.com/dgm-robotics/dgm/trainer/score"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Forecast is a series of predictions beside what was measured. Angles are continuous
// along the flight.
type Forecast struct {
	Segment          string
	Flight           *window.Flight // (optional) that is followed
	Start            float64        // s since the segment's first sample; T counts from there
	T                []float64      // n, s, of the predicted moments
	Truth, Mean, Std [][]float64    // K × n, in the channels' units; Truth is NaN where nothing was measured

	// (optional) the samples after Start that are drawn, in place of Truth, which has values
	// between samples, too: times since Start, and K × as many values.
	At      []float64
	Samples [][]float64

	half50 [][]float64 // K × n, half widths of the 50 % interval over Std
	tube   float64     // that of the tube of 95 %; 0 = it is no trajectory, or not known
}

// add appends horizon i of a window's outcome.
func (f *Forecast) add(o *outcome, i int, t float64, x0 []float64) {
	f.T = append(f.T, t)
	if K := len(x0); f.Truth == nil {
		f.Truth, f.Mean, f.Std, f.half50 = make([][]float64, K), make([][]float64, K), make([][]float64, K), make([][]float64, K)
	}
	for k, x := range x0 {
		j := i*len(x0) + k
		f.Truth[k] = append(f.Truth[k], x+o.measured[j])
		f.Mean[k] = append(f.Mean[k], x+o.mean[byModel][j])
		f.Std[k], f.half50[k] = append(f.Std[k], o.std[j]), append(f.half50[k], o.half50[j])
	}
}

// Bands returns the mean, the intervals of 50 and 95 %, of a trajectory the tube, and the measurements of channel k.
func (f *Forecast) Bands(k int) plot.Prediction {
	p := plot.Prediction{T: f.T, Mean: f.Mean[k]}
	for i, m := range f.Mean[k] {
		s, half := f.Std[k][i], f.half50[k][i]*f.Std[k][i]
		p.Lo50, p.Hi50 = append(p.Lo50, m-half), append(p.Hi50, m+half)
		p.Lo95, p.Hi95 = append(p.Lo95, m-score.Z95*s), append(p.Hi95, m+score.Z95*s)
		if f.tube > 0 {
			p.LoTube, p.HiTube = append(p.LoTube, m-f.tube*s), append(p.HiTube, m+f.tube*s)
		}
	}
	at, measured := f.T, f.Truth[k]
	if f.At != nil {
		at, measured = f.At, f.Samples[k]
	}
	for i, y := range measured {
		if !math.IsNaN(y) && !math.IsInf(y, 0) {
			p.At, p.Measured = append(p.At, at[i]), append(p.Measured, y)
		}
	}
	return p
}

// addSamples keeps the samples of a flight up to the end of the horizon after a start, of many
// each so-manyth.
func (f *Forecast) addSamples(flight *window.Flight, start int, horizon float64, most int) {
	after := flight.T[start+1:]
	n := sort.SearchFloat64s(after, flight.T[start]+horizon*(1+1e-9))
	every := max(1, (n+most-1)/most)
	f.At, f.Samples = []float64{}, make([][]float64, flight.K)
	for i := every - 1; i < n; i += every {
		f.At = append(f.At, after[i]-flight.T[start])
		for k, x := range flight.State(start + 1 + i) {
			f.Samples[k] = append(f.Samples[k], x)
		}
	}
}

// prepare checks the options and returns them with their defaults, and a comparer.
func prepare(m *model.Model, flights []window.Flight, opt Options) (Options, *comparer, error) {
	opt, err := opt.withDefaults(m.Horizon)
	if err != nil {
		return opt, nil, err
	}
	c, err := newComparer(m, flights, opt)
	return opt, c, err
}

// followHorizons bounds the part of a flight that is followed, in horizons.
const followHorizons = 10

// Follow predicts ahead s along the longest flight, for at most n windows and 10 horizons
// of it. The forecast's Start is 0.
func Follow(m *model.Model, flights []window.Flight, opt Options, ahead float64, n int) (*Forecast, error) {
	opt.Horizons = []float64{ahead}
	opt, c, err := prepare(m, flights, opt)
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
		return nil, tooShort(ahead, flights)
	}
	out := &Forecast{Segment: f.Name, Flight: f}
	o := &c.newOutcomes(1)[0]
	for _, s := range starts[:min(n, len(starts))] {
		if f.T[s]-f.T[starts[0]] > followHorizons*ahead {
			break
		}
		if c.compare(o, f, s); !o.ok {
			return nil, at(f, s, errNotFinite)
		}
		out.add(o, 0, f.InSegment(s)+ahead, f.State(s))
	}
	return out, nil
}

// Forecasts predicts from count starts spread over the flights, at points equal steps
// of the model's horizon, and the samples over it.
func Forecasts(m *model.Model, flights []window.Flight, opt Options, count, points int) ([]Forecast, error) {
	opt.Horizons = m.EqualTimes(points)
	opt, c, err := prepare(m, flights, opt)
	if err != nil {
		return nil, err
	}
	windows, err := cut(flights, m.Horizon, opt.Stride)
	if err != nil {
		return nil, err
	}
	out := make([]Forecast, min(count, len(windows)))
	o := &c.newOutcomes(1)[0]
	for i := range out {
		w := windows[(2*i+1)*len(windows)/(2*len(out))]
		f := &flights[w.Flight]
		if c.compare(o, f, w.Start); !o.ok {
			return nil, at(f, w.Start, errNotFinite)
		}
		out[i] = Forecast{Segment: f.Name, Start: f.InSegment(w.Start), tube: o.tube[len(o.tube)-1]}
		for j, t := range opt.Horizons {
			out[i].add(o, j, t, f.State(w.Start))
		}
		out[i].addSamples(f, w.Start, m.Horizon, points)
	}
	return out, nil
}
