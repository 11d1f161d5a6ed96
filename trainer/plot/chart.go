package plot

import (
	"cmp"
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

func (l Line) width() float64 { return cmp.Or(l.Width, 1.8) }

// Ribbon is the area between two lines.
type Ribbon struct {
	Name      string
	X         []float64
	Low, High []float64
	Color     Color
	Opacity   float64
}

// Rule is a horizontal line across the chart.
type Rule struct{ Value float64 }

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
	Percent        bool    // print y as per cent
	Height         float64 // (optional) defaults to 250
	Description    string  // (optional) for readers who cannot see it
}

func (c Chart) height() float64 { return cmp.Or(c.Height, chartHeight) }

// check returns the first error in lengths and numbers.
func (c Chart) check() error {
	for _, l := range c.Lines {
		if err := check(l.Name, l.X, l.Y); err != nil {
			return err
		}
	}
	for _, r := range c.Ribbons {
		if err := check(r.Name, r.X, r.Low, r.High); err != nil {
			return err
		}
	}
	for _, r := range c.Rules {
		if err := check("rule", []float64{r.Value}); err != nil {
			return err
		}
	}
	x, y := c.span()
	_, _, xOK := positive(x)
	_, _, yOK := positive(y)
	if c.XLog && !xOK || c.YLog && !yOK {
		return errors.New("a logarithmic axis needs a value above zero")
	}
	return nil
}

func check(name string, lists ...[]float64) error {
	for _, l := range lists {
		if len(l) != len(lists[0]) {
			return fmt.Errorf("%q: lists of %d and %d values", name, len(lists[0]), len(l))
		}
		for i, v := range l {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%q: value %d is %v; leave out unknown values", name, i, v)
			}
		}
	}
	return nil
}

func (c Chart) span() (x, y []float64) {
	for _, l := range c.Lines {
		x, y = append(x, l.X...), append(y, l.Y...)
	}
	for _, r := range c.Ribbons {
		x, y = append(x, r.X...), append(append(y, r.Low...), r.High...)
	}
	for _, r := range c.Rules {
		y = append(y, r.Value)
	}
	return x, y
}

// axes lays out both axes in a frame.
func (c Chart) axes(left, right, top, bottom float64) (x, y axis) {
	xs, ys := c.span()
	x = axis{from: left, to: right, log: c.XLog}
	y = axis{from: bottom, to: top, log: c.YLog}
	x.min, x.max = Padded(xs, 0)
	y.min, y.max = Padded(ys, 0.05)
	if c.XLog {
		x.min, x.max, _ = positive(xs)
	}
	if c.YLog {
		lo, hi, _ := positive(ys)
		y.min, y.max = lo/1.25, hi*1.25
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
