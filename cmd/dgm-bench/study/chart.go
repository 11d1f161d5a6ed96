package study

import (
	"math"

	"github.com/dgm-robotics/dgm/trainer/plot"
)

// Points returns a line through what y returns of each group: at x, or where x is nil at
// the group's place, 1, 2, ….
func Points(l plot.Line, groups []Group, x func(g Group) float64, y func(g Group) []float64) plot.Line {
	for i, g := range groups {
		at := float64(i + 1)
		if x != nil {
			at = x(g)
		}
		for _, v := range y(g) {
			if !math.IsNaN(v) {
				l.X, l.Y = append(l.X, at), append(l.Y, v)
			}
		}
	}
	return l
}

// Levels returns a short horizontal line at the value of each group's place, the first of
// which carries the name of l.
func Levels(l plot.Line, groups []Group, y func(g Group) float64) []plot.Line {
	var out []plot.Line
	for i, g := range groups {
		v := y(g)
		if math.IsNaN(v) {
			continue
		}
		one := l
		if len(out) > 0 {
			one.Name = ""
		}
		x := float64(i + 1)
		one.X, one.Y = []float64{x - 0.3, x + 0.3}, []float64{v, v}
		out = append(out, one)
	}
	return out
}

// Draw gives the table the chart of the lines that have points as its picture, of a name;
// none where there are none.
func (t *Table) Draw(name string, c plot.Chart, lines ...plot.Line) error {
	for _, l := range lines {
		if len(l.X) > 0 {
			c.Lines = append(c.Lines, l)
		}
	}
	if len(c.Lines) == 0 {
		return nil
	}
	svg, err := c.SVG()
	t.Pictures = []Picture{{name, svg}}
	return err
}
