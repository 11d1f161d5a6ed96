package window

import (
	"math"
	"slices"
)

// Interval returns the median time from one sample to the next, s; 0 without any.
func Interval(flights []Flight) float64 {
	var dt []float64
	for i := range flights {
		t := flights[i].T
		for j := 1; j < len(t); j++ {
			dt = append(dt, t[j]-t[j-1])
		}
	}
	return median(dt)
}

// ShortestInterval returns the shortest mean interval between samples of the flights, s; +∞ without any. One sample, which a gap may leave, has none.
func ShortestInterval(flights []Flight) float64 {
	dt := math.Inf(1)
	for i := range flights {
		if n := flights[i].N(); n > 1 {
			dt = math.Min(dt, flights[i].Duration()/float64(n-1))
		}
	}
	return dt
}

// Jitter is the share of the interval between samples by which a time may differ from that of a sample.
const Jitter = 0.04

// AtSamples returns ascending times ahead up to a horizon, s, each moved to that of the nearest sample, from the first one to the last
// within the horizon: nothing was measured between, and what is interpolated there is off by what an input changed at a sample.
func AtSamples(times []float64, horizon float64, flights []Flight) []float64 {
	out, dt := slices.Clone(times), StateInterval(flights)
	last := math.Max(1, math.Floor(horizon/dt+Jitter))
	for i, t := range out {
		n := t / dt
		if whole := math.Min(math.Max(1, math.Round(n+1e-6)), last); math.Abs(n-whole) > Jitter {
			out[i] = math.Round(whole*dt*1e9) / 1e9
		}
	}
	slices.Sort(out)
	return slices.CompactFunc(out, func(a, b float64) bool { return math.Abs(a-b) < Jitter*dt }) // those of one sample
}

// Rows of a plan that inputs are averaged into over the horizon, at least, where its samples divide it; where they do not, or are many times as many.
const (
	leastPlanRows = 50
	mostPlanRows  = 200
	evenPlanRows  = 100
)

// PlanRows returns into how many equal rows a plan over a horizon, s, averages the inputs of the flights. Where the flights are sampled evenly, a row
// ends where a sample does, as the rows of a planner that commands at this rate do: rows that hold the end of one command and the beginning of
// the next make the plan up to a time ahead another one than it was.
func PlanRows(flights []Flight, horizon float64) int {
	samples := horizon / Duration(flights) * float64(Samples(flights)-len(flights))
	for parts := 1.0; parts <= 4; parts++ { // of the interval between two samples
		rows := math.Round(samples * parts)
		if rows >= 1 && rows <= mostPlanRows && math.Abs(samples*parts-rows) < Jitter {
			return int(rows * math.Ceil(leastPlanRows/rows))
		}
	}
	return evenPlanRows
}

// StateInterval returns the median time from one measurement to the next, s, of the state that
// is measured most often; 0 where none is measured twice.
func StateInterval(flights []Flight) float64 {
	if len(flights) == 0 {
		return 0
	}
	often, most := 0, 0
	for k := range flights[0].K {
		n := 0
		for i := range flights {
			n += flights[i].measurements(k)
		}
		if n > most {
			often, most = k, n
		}
	}
	var dt []float64
	for i := range flights {
		f, last := &flights[i], -1
		for j, t := range f.T {
			if math.IsNaN(f.State(j)[often]) {
				continue
			}
			if last >= 0 {
				dt = append(dt, t-f.T[last])
			}
			last = j
		}
	}
	return median(dt)
}

// measurements returns how often state k was measured.
func (f *Flight) measurements(k int) (n int) {
	for j := range f.N() {
		if !math.IsNaN(f.State(j)[k]) {
			n++
		}
	}
	return n
}

// median returns that of intervals, which it sorts; 0 without any.
func median(dt []float64) float64 {
	if len(dt) == 0 {
		return 0
	}
	slices.Sort(dt)
	return dt[len(dt)/2]
}

// Samples returns the number of samples of the flights.
func Samples(flights []Flight) int {
	n := 0
	for i := range flights {
		n += flights[i].N()
	}
	return n
}

// Duration returns how long the flights last in all, s.
func Duration(flights []Flight) float64 {
	sum := 0.0
	for i := range flights {
		sum += flights[i].Duration()
	}
	return sum
}

// Rate returns how often state k was measured, Hz.
func Rate(flights []Flight, k int) float64 {
	n := -len(flights) // as many steps as samples but one of each
	for i := range flights {
		n += flights[i].measurements(k)
	}
	return float64(n) / Duration(flights)
}

// Longest returns the duration of the longest flight, s; 0 if there is none.
func Longest(flights []Flight) float64 {
	d := 0.0
	for i := range flights {
		d = max(d, flights[i].Duration())
	}
	return d
}

// segmentsOf returns the numbers of the segments, in their order.
func segmentsOf(flights []Flight) (out []int) {
	for i := range flights {
		if s := flights[i].Segment; !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// partsOf returns the parts of a segment.
func partsOf(flights []Flight, segment int) (out []Flight) {
	for i := range flights {
		if flights[i].Segment == segment {
			out = append(out, flights[i])
		}
	}
	return out
}
