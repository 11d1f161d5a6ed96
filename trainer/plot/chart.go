package plot

import (
	"errors"
	"fmt"
	"math"
)

// Line is a polyline, or with Dots a cloud of points.
type Line struct {
	Name  string // in the legend; empty = not there
	X, Y  []float64
	Color Color
	Dash  string  // (optional) SVG dash pattern, e.g. "5 3"
	Width float64 // (optional) defaults to 1.8
	Fade  float64 // (optional) opacity; defaults to 1
	Dots  bool    // points instead of a line
	Marks bool    // points on the line
}

func (l Line) width() float64 {
	if l.Width == 0 {
		return 1.8
	}
	return l.Width
}

// Ribbon is the area between two lines.
type Ribbon struct {
	Name      string
	X         []float64
	Low, High []float64
	Color     Color
	Opacity   float64
}

// Rule is a straight line across the chart.
type Rule struct {
	Value float64
	Up    bool   // upright, at x = Value; else level, at y = Value
	Label string // (optional) at its end
}

// Chart is a chart of lines, points and ribbons. The zero value of a limit pair
// (both 0) lets the data decide.
type Chart struct {
	Title          string
	XLabel, YLabel string
	Ribbons        []Ribbon
	Lines          []Line
	Rules          []Rule
	XMin, XMax     float64
	YMin, YMax     float64
	YLog, XLog     bool
	XNames         []string // (optional) labels at 1, 2, … in place of numbers
	Diagonal       bool     // draw y = x
	Percent        bool     // print y as per cent
	Height         float64  // (optional) defaults to 250
	Description    string   // (optional) for readers who cannot see it
}

func (c Chart) height() float64 {
	if c.Height == 0 {
		return chartHeight
	}
	return c.Height
}

// check returns the first error in lengths and numbers.
func (c Chart) check() error {
	var err error
	series := func(name string, lists ...[]float64) {
		for _, l := range lists {
			if err == nil && len(l) != len(lists[0]) {
				err = fmt.Errorf("%q: lists of %d and %d values", name, len(lists[0]), len(l))
			}
			for i, v := range l {
				if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
					err = fmt.Errorf("%q: value %d is %v; leave out unknown values", name, i, v)
				}
			}
		}
	}
	for _, l := range c.Lines {
		series(l.Name, l.X, l.Y)
	}
	for _, r := range c.Ribbons {
		series(r.Name, r.X, r.Low, r.High)
	}
	for _, r := range c.Rules {
		series(r.Label, []float64{r.Value})
	}
	if x, y := c.span(); err == nil && (c.XLog && !(x.hi > 0) || c.YLog && !(y.hi > 0)) {
		err = errors.New("a logarithmic axis needs a value above zero")
	}
	return err
}

// span returns what the data covers.
func (c Chart) span() (x, y limits) {
	for _, l := range c.Lines {
		x.add(l.X...)
		y.add(l.Y...)
	}
	for _, r := range c.Ribbons {
		x.add(r.X...)
		y.add(r.Low...)
		y.add(r.High...)
	}
	for _, r := range c.Rules {
		if !r.Up {
			y.add(r.Value)
		}
	}
	return x, y
}

// axes lays out both axes in a frame.
func (c Chart) axes(left, right, top, bottom float64) (x, y axis) {
	lx, ly := c.span()
	x = axis{from: left, to: right, log: c.XLog}
	y = axis{from: bottom, to: top, log: c.YLog}
	x.min, x.max = lx.padded(0)
	y.min, y.max = ly.padded(0.05)
	if c.XLog {
		x.min, x.max = lx.positive, lx.hi
	}
	if c.YLog {
		y.min, y.max = ly.positive/1.25, ly.hi*1.25
	}
	if len(c.XNames) > 0 {
		x.min, x.max = 0.5, float64(len(c.XNames))+0.5
	}
	if c.XMin != 0 || c.XMax != 0 {
		x.min, x.max = c.XMin, c.XMax
	}
	if c.YMin != 0 || c.YMax != 0 {
		y.min, y.max = c.YMin, c.YMax
	}
	if x.log && x.max < x.min*1.01 {
		x.min, x.max = x.min/2, x.max*2
	}
	return x, y
}
