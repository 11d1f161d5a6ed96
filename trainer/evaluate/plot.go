package evaluate

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/dgm-robotics/dgm/trainer/plot"
	"github.com/dgm-robotics/dgm/trainer/score"
)

// WriteSVG draws, for every channel, the prediction with its intervals against the
// measurement along a flight, and the error by horizon against the baselines.
func WriteSVG(w io.Writer, t *Table, trace *Trace) error {
	var rows [][]plot.Chart
	for k, c := range t.Horizons[0].Channels {
		rows = append(rows, []plot.Chart{traceChart(t, trace, k, c), errorChart(t, k, c)})
	}
	title := bases(t.Model) + " on " + bases(t.Log)
	more := fmt.Sprintf("Left: segment %q, predicted %s s ahead. Right: error by horizon. Inputs: %s", trace.Segment, short(trace.Ahead), t.Inputs)
	svg, err := plot.Sheet(title, more, rows)
	if err != nil {
		return err
	}
	_, err = w.Write(svg)
	return err
}

// bases returns a text with the names of files without their folders.
func bases(text string) string {
	words := strings.Fields(text)
	for i, w := range words {
		words[i] = filepath.Base(w)
	}
	return strings.Join(words, " ")
}

// normal50 is the 75 % point of a standard normal: half of it lies within.
const normal50 = 0.6744898

// traceChart draws one channel along the flight.
func traceChart(of *Table, t *Trace, k int, ch Channel) plot.Chart {
	happened := "measured"
	if of.Truth {
		happened = "exact"
	}
	c := plot.Chart{
		Title: ch.Name, XLabel: "time in the segment, s", YLabel: plot.WithUnit(ch.Name, ch.Unit),
		Description: fmt.Sprintf("%s predicted %s s ahead along a flight, with intervals of 50 and 95 %%, and what was then %s.", ch.Name, short(t.Ahead), happened),
	}
	for _, half := range []struct {
		name    string
		z       float64
		opacity float64
	}{{"95 %", score.Z95, 0.16}, {"50 %", normal50, 0.28}} {
		for i, run := range runs(t.T) {
			r := plot.Ribbon{Name: half.name, X: t.T[run[0]:run[1]], Color: plot.Model, Opacity: half.opacity}
			if i > 0 {
				r.Name = "" // a part of the one before: the time jumps between them
			}
			for j := run[0]; j < run[1]; j++ {
				m, s := t.Mean[k][j], half.z*t.Std[k][j]
				r.Low, r.High = append(r.Low, m-s), append(r.High, m+s)
			}
			c.Ribbons = append(c.Ribbons, r)
		}
	}
	for i, run := range runs(t.T) {
		l := plot.Line{Name: "mean", X: t.T[run[0]:run[1]], Y: t.Mean[k][run[0]:run[1]], Color: plot.Model, Width: 1.4}
		if i > 0 {
			l.Name = ""
		}
		c.Lines = append(c.Lines, l)
	}
	dots := plot.Line{Name: happened, Color: plot.Measured, Dots: true}
	every := 1 + len(t.T)/mostDots
	for i := 0; i < len(t.T); i += every {
		if y := t.Truth[k][i]; !math.IsNaN(y) && !math.IsInf(y, 0) {
			dots.X, dots.Y = append(dots.X, t.T[i]), append(dots.Y, y)
		}
	}
	c.Lines = append(c.Lines, dots)
	return c
}

// mostDots bounds the measurements in a chart: more would hide the band.
const mostDots = 90

// errorChart draws one channel's errors by horizon.
func errorChart(t *Table, k int, ch Channel) plot.Chart {
	e := plot.Errors{Channel: ch.Name, Unit: ch.Unit}
	for _, h := range t.Horizons {
		c := h.Channels[k]
		e.T, e.Model = append(e.T, h.T), append(e.Model, c.RMSE)
		e.Hold, e.Velocity, e.Linear = append(e.Hold, c.Hold), append(e.Velocity, c.Velocity), append(e.Linear, c.Linear)
	}
	return e.Chart()
}

// runs splits times where the step is much longer than the first one.
func runs(t []float64) [][2]int {
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
