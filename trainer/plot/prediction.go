package plot

import (
	"cmp"
	"math"
)

// Prediction is one predicted channel beside what was then measured.
type Prediction struct {
	Channel  string    `json:"channel"`
	Unit     string    `json:"unit"`
	T        []float64 `json:"t"` // s, of Mean to Hi95
	Mean     []float64 `json:"mean"`
	Lo50     []float64 `json:"lo50"`
	Hi50     []float64 `json:"hi50"`
	Lo95     []float64 `json:"lo95"`
	Hi95     []float64 `json:"hi95"`
	LoTube   []float64 `json:"lo_tube,omitempty"` // (optional) of all channels at all times together
	HiTube   []float64 `json:"hi_tube,omitempty"`
	At       []float64 `json:"at"` // s, of Measured
	Measured []float64 `json:"measured"`

	XLabel       string `json:"-"` // (optional) defaults to the time after the prediction
	MeasuredName string `json:"-"` // (optional) defaults to "measured"
	Description  string `json:"-"` // (optional)
}

// mostDots bounds the measurements in a chart: more would hide the band.
const mostDots = 120

// Chart returns the mean with the 50 and 95 % intervals, and the measurements as dots.
// The bands are interrupted where a step of time is far longer than the first one.
func (p Prediction) Chart() Chart {
	const after = "time after the prediction, s"
	c := Chart{
		Title: p.Channel, XLabel: cmp.Or(p.XLabel, after), YLabel: WithUnit(p.Channel, p.Unit),
		Description: cmp.Or(p.Description, "Predicted mean and intervals of "+p.Channel+" with the values measured afterwards as dots."),
	}
	if n := len(p.T); n > 0 && c.XLabel == after {
		c.XMin, c.XMax = math.Min(0, p.T[0]), p.T[n-1]
	}
	first := func(name string, part int) string { // one entry of the legend for all parts
		if part > 0 {
			return ""
		}
		return name
	}
	for i, r := range gapFree(p.T) {
		a, b := r[0], r[1]
		if len(p.LoTube) > 0 {
			c.Ribbons = append(c.Ribbons, Ribbon{Name: first("95 % of trajectories", i), X: p.T[a:b], Low: p.LoTube[a:b], High: p.HiTube[a:b], Color: Model, Opacity: 0.07})
		}
		c.Ribbons = append(c.Ribbons,
			Ribbon{Name: first("95 %", i), X: p.T[a:b], Low: p.Lo95[a:b], High: p.Hi95[a:b], Color: Model, Opacity: 0.16},
			Ribbon{Name: first("50 %", i), X: p.T[a:b], Low: p.Lo50[a:b], High: p.Hi50[a:b], Color: Model, Opacity: 0.28})
		c.Lines = append(c.Lines, Line{Name: first("mean", i), X: p.T[a:b], Y: p.Mean[a:b], Color: Model, Width: 1.6})
	}
	dots := Line{Name: cmp.Or(p.MeasuredName, "measured"), Color: Measured, Dots: true}
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
