package evaluate

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/trainer/plot"
)

// WriteSVG draws, for every channel, the prediction of the longest horizon with its
// intervals beside the measurement along a flight (see Follow), and the error by horizon
// beside the baselines. Charts of the same flight may follow.
func WriteSVG(w io.Writer, t *Table, along *Forecast, more ...[]plot.Chart) error {
	var rows [][]plot.Chart
	for k := range t.Horizons[0].Channels {
		rows = append(rows, []plot.Chart{t.forecastChart(along, k), t.ErrorChart(k)})
	}
	title := baseNames(t.Model) + " on " + baseNames(t.Log)
	about := fmt.Sprintf("Left: segment %q, predicted %s s ahead. Right: error by horizon. Inputs: %s", along.Segment, short(t.longest()), t.Inputs)
	svg, err := plot.Sheet(title, about, append(rows, more...))
	if err != nil {
		return err
	}
	_, err = w.Write(svg)
	return err
}

// baseNames returns a text with the names of files without their folders.
func baseNames(text string) string {
	words := strings.Fields(text)
	for i, w := range words {
		words[i] = filepath.Base(w)
	}
	return strings.Join(words, " ")
}

func (t *Table) longest() float64 { return t.Horizons[len(t.Horizons)-1].T }

// forecastChart draws one channel along the flight.
func (t *Table) forecastChart(along *Forecast, k int) plot.Chart {
	ch := t.Horizons[0].Channels[k]
	p := along.Bands(k)
	p.Channel, p.Unit = ch.Name, ch.Unit
	p.XLabel = "time in the segment, s"
	if t.Truth {
		p.MeasuredName = "exact"
	}
	p.Description = fmt.Sprintf("%s predicted %s s ahead along a flight, with intervals of 50 and 95 %%, and the measured values.", ch.Name, short(t.longest()))
	return p.Chart()
}

// ErrorChart draws the RMSE of channel k by horizon on a logarithmic axis, beside the
// baselines and the prior dynamics alone. An error of zero, and one above a thousand times
// that of holding, is not drawn.
func (t *Table) ErrorChart(k int) plot.Chart {
	lines := []plot.Line{
		{Name: "hold", Color: plot.Hold, Dash: "2 2.5", Width: 2},
		{Name: "velocity", Color: plot.Velocity, Dash: "7 3"},
		{Name: "linear", Color: plot.Linear, Dash: "7 3 2 3"},
		{Name: "ridge", Color: plot.Ridge, Dash: "4 2.5"},
		{Name: "DGM", Color: plot.Model, Width: 2.4, Marks: len(t.Horizons) <= 25},
		{Name: "prior dynamics", Color: plot.Other, Dash: "2 4", Width: 1.6}, // over the model, which it may coincide with
	}
	worst := 0.0
	for _, h := range t.Horizons {
		worst = math.Max(worst, h.Channels[k].Hold)
	}
	var times []float64
	for i, h := range t.Horizons {
		times = append(times, h.T)
		c := h.Channels[k]
		errors := []float64{c.Hold, c.Velocity, c.Linear, c.Ridge, c.RMSE}
		if t.Networks != nil {
			errors = append(errors, t.Networks.PriorRMSE[i][k])
		}
		for j, e := range errors {
			if e > 0 && (e <= 1e3*worst || worst == 0) {
				lines[j].X, lines[j].Y = append(lines[j].X, h.T), append(lines[j].Y, e)
			}
		}
	}
	lines = slices.DeleteFunc(lines, func(l plot.Line) bool { return len(l.X) == 0 })
	ch := t.Horizons[0].Channels[k]
	c := plot.Chart{
		Title: ch.Name, XLabel: "horizon, s", YLabel: plot.WithUnit("RMSE", ch.Unit), Lines: lines, XLog: plot.Logarithmic(times), YLog: len(lines) > 0,
		Description: "Root mean square error of " + ch.Name + " by horizon, model and baselines.",
	}
	if len(times) == 1 {
		c.XMax = 2 * times[0]
	}
	return c
}
