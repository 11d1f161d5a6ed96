package plot

import (
	"math"
	"slices"
)

// Prediction is one predicted channel beside what was then measured.
type Prediction struct {
	Title        string
	Channel      string
	Unit         string
	XLabel       string    // (optional) defaults to the time after the prediction
	MeasuredName string    // (optional) defaults to "measured"
	Description  string    // (optional)
	T            []float64 // s
	Mean         []float64
	Lo50, Hi50   []float64
	Lo95, Hi95   []float64
	At           []float64 // s, when it was measured
	Measured     []float64
}

// mostDots bounds the measurements in a chart: more would hide the band.
const mostDots = 120

// Chart returns the mean with the 50 and 95 % intervals, and the measurements as dots.
// The bands are interrupted where a step of time is far longer than the first one.
func (p Prediction) Chart() Chart {
	c := Chart{
		Title: p.Title, XLabel: p.XLabel, YLabel: WithUnit(p.Channel, p.Unit), Description: p.Description,
	}
	if c.XLabel == "" {
		c.XLabel = "time after the prediction, s"
		if n := len(p.T); n > 0 {
			c.XMin, c.XMax = math.Min(0, p.T[0]), p.T[n-1]
		}
	}
	if c.Description == "" {
		c.Description = "Predicted mean and intervals of " + p.Channel + " with the values measured afterwards as dots."
	}
	first := func(name string, part int) string { // one entry of the legend for all parts
		if part > 0 {
			return ""
		}
		return name
	}
	for i, r := range gapFree(p.T) {
		a, b := r[0], r[1]
		c.Ribbons = append(c.Ribbons,
			Ribbon{Name: first("95 %", i), X: p.T[a:b], Low: p.Lo95[a:b], High: p.Hi95[a:b], Color: Model, Opacity: 0.16},
			Ribbon{Name: first("50 %", i), X: p.T[a:b], Low: p.Lo50[a:b], High: p.Hi50[a:b], Color: Model, Opacity: 0.28})
		c.Lines = append(c.Lines, Line{Name: first("mean", i), X: p.T[a:b], Y: p.Mean[a:b], Color: Model, Width: 1.6})
	}
	dots := Line{Name: p.MeasuredName, Color: Measured, Dots: true}
	if dots.Name == "" {
		dots.Name = "measured"
	}
	for i := 0; i < len(p.At); i += 1 + len(p.At)/mostDots {
		dots.X, dots.Y = append(dots.X, p.At[i]), append(dots.Y, p.Measured[i])
	}
	c.Lines = append(c.Lines, dots)
	return c
}

// gapFree splits times where the step is far longer than the first one.
func gapFree(t []float64) [][2]int {
	var out [][2]int
	from := 0
	for i := 1; i <= len(t); i++ {
		if i == len(t) || t[i]-t[i-1] > 5*(t[1]-t[0]) {
			out = append(out, [2]int{from, i})
			from = i
		}
	}
	return out
}

// WithUnit is the label of an axis.
func WithUnit(name, unit string) string {
	if unit == "" {
		return name
	}
	return name + ", " + unit
}

// Errors is the error of one channel by horizon, for the model and what it is
// compared with.
type Errors struct {
	Channel, Unit                        string
	T                                    []float64 // s
	Model, Prior, Hold, Velocity, Linear []float64 // RMSE in the channel's unit; empty = not drawn
}

// Chart returns the root mean square error on a logarithmic axis. An error of zero,
// and one above a thousand times that of holding, is not drawn.
func (e Errors) Chart() Chart {
	c := Chart{
		Title: e.Channel, XLabel: "horizon, s", YLabel: WithUnit("RMSE", e.Unit), XLog: logarithmic(e.T),
		Description: "Root mean square error of " + e.Channel + " by horizon, model and baselines.",
	}
	most := math.Inf(1)
	if len(e.Hold) > 0 {
		if h := slices.Max(e.Hold); h > 0 {
			most = 1e3 * h
		}
	}
	for _, l := range []Line{
		{Name: "hold", Y: e.Hold, Color: Hold, Dash: "2 2.5", Width: 2},
		{Name: "velocity", Y: e.Velocity, Color: Velocity, Dash: "7 3"},
		{Name: "linear", Y: e.Linear, Color: Linear, Dash: "7 3 2 3"},
		{Name: "DGM", Y: e.Model, Color: Model, Width: 2.4, Marks: len(e.T) <= 25},
		{Name: "prior dynamics", Y: e.Prior, Color: Other, Dash: "2 4", Width: 1.6}, // over the model, which it may coincide with
	} {
		all := l.Y
		l.Y = nil
		for i, v := range all {
			if v > 0 && v <= most {
				l.X, l.Y = append(l.X, e.T[i]), append(l.Y, v)
			}
		}
		if len(l.Y) > 0 {
			c.Lines = append(c.Lines, l)
		}
	}
	c.YLog = len(c.Lines) > 0
	if len(e.T) == 1 {
		c.XMin, c.XMax = 0, 2*e.T[0]
	}
	return c
}

// Coverage is the share of measurements inside the intervals, by horizon.
type Coverage struct {
	T             []float64 // s
	C50, C90, C95 []float64 // mean over channels, 0 to 1
	Low95, High95 []float64 // (optional) interval of C95
	Channels      []Line    // (optional) C95 of single channels, drawn faint; X, Y
}

// Chart returns the coverage with the nominal levels as dashed lines.
func (v Coverage) Chart() Chart {
	c := Chart{
		Title: "Coverage", XLabel: "horizon, s", YLabel: "measurements inside", Percent: true, YMax: 1.015, Height: 330, XLog: logarithmic(v.T),
		Rules:       []Rule{{Value: 0.5}, {Value: 0.9}, {Value: 0.95}},
		Description: "Share of measurements inside the 50, 90 and 95 % intervals, by horizon.",
	}
	if len(v.Low95) > 0 {
		c.Ribbons = []Ribbon{{X: v.T, Low: v.Low95, High: v.High95, Color: Model, Opacity: 0.16}}
	}
	for i, l := range v.Channels {
		l.Color, l.Width, l.Fade, l.Name = Hold, 1, 0.7, ""
		if i == 0 {
			l.Name = "95 % of single channels"
		}
		c.Lines = append(c.Lines, l)
	}
	marks := len(v.T) <= 25
	c.Lines = append(c.Lines,
		Line{Name: "50 %", X: v.T, Y: v.C50, Color: Linear, Dash: "7 3 2 3", Marks: marks},
		Line{Name: "90 %", X: v.T, Y: v.C90, Color: Velocity, Dash: "7 3", Marks: marks},
		Line{Name: "95 %", X: v.T, Y: v.C95, Color: Model, Width: 2.4, Marks: marks})
	// The upper half holds the nominal levels; more only if it is needed.
	_, y := c.span()
	c.YMin = math.Max(0, math.Min(0.4, y.lo-0.03))
	if len(v.T) == 1 {
		c.XMin, c.XMax = 0, 2*v.T[0]
	}
	return c
}

// Calibration returns empirical against nominal coverage, a line per horizon: X is the
// nominal coverage, Y the empirical one, both 0 to 1.
func Calibration(lines []Line) Chart {
	c := Chart{
		Title: "Calibration", XLabel: "nominal coverage", YLabel: "empirical coverage", Diagonal: true,
		XMin: 0, XMax: 1, YMin: 0, YMax: 1, Height: 330,
		Description: "Empirical against nominal coverage of central intervals; calibrated intervals are on the diagonal.",
	}
	colors := Sequence(len(lines))
	for i, l := range lines {
		l.Color = colors[i]
		c.Lines = append(c.Lines, l)
	}
	return c
}

// TrainingCurve returns objective values against steps. What is far above the last
// nine tenths of a curve (its beginning) may leave the chart at the top.
func TrainingCurve(lines []Line) Chart {
	c := Chart{
		Title: "Objective", XLabel: "step", YLabel: "objective", Lines: lines,
		Description: "The objective and its parts during training.",
	}
	var settled, all limits
	for _, l := range lines {
		settled.add(l.Y[len(l.Y)/10:]...)
		all.add(l.Y...)
	}
	if settled.any {
		lo, hi := settled.padded(0.08)
		if all.hi > hi+2*(hi-lo) || all.lo < lo-2*(hi-lo) {
			c.YMin, c.YMax = lo, hi
		}
	}
	return c
}
