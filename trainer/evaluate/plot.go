package evaluate

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/dgm-robotics/dgm/trainer/plot"
)

// WriteSVG draws, for every channel, the prediction of the longest horizon with its
// intervals beside the measurement along a flight (see Follow), and the error by horizon
// beside the baselines.
func WriteSVG(w io.Writer, t *Table, along *Forecast) error {
	var rows [][]plot.Chart
	for k := range t.Horizons[0].Channels {
		rows = append(rows, []plot.Chart{t.forecastChart(along, k), t.ErrorChart(k)})
	}
	title := baseNames(t.Model) + " on " + baseNames(t.Log)
	more := fmt.Sprintf("Left: segment %q, predicted %s s ahead. Right: error by horizon. Inputs: %s", along.Segment, short(t.longest()), t.Inputs)
	svg, err := plot.Sheet(title, more, rows)
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

// longest returns the longest horizon.
func (t *Table) longest() float64 { return t.Horizons[len(t.Horizons)-1].T }

// forecastChart draws one channel along the flight.
func (t *Table) forecastChart(along *Forecast, k int) plot.Chart {
	ch := t.Horizons[0].Channels[k]
	p := along.Bands(k)
	p.Title, p.Channel, p.Unit = ch.Name, ch.Name, ch.Unit
	p.XLabel, p.MeasuredName = "time in the segment, s", "measured"
	if t.Truth {
		p.MeasuredName = "exact"
	}
	p.Description = fmt.Sprintf("%s predicted %s s ahead along a flight, with intervals of 50 and 95 %%, and the measured values.", ch.Name, short(t.longest()))
	return p.Chart()
}

// ErrorChart draws the RMSE of channel k by horizon, beside the baselines and the
// prior dynamics alone.
func (t *Table) ErrorChart(k int) plot.Chart {
	e := plot.Errors{Channel: t.Horizons[0].Channels[k].Name, Unit: t.Horizons[0].Channels[k].Unit}
	for i, h := range t.Horizons {
		c := h.Channels[k]
		e.T, e.Model = append(e.T, h.T), append(e.Model, c.RMSE)
		e.Hold, e.Velocity, e.Linear = append(e.Hold, c.Hold), append(e.Velocity, c.Velocity), append(e.Linear, c.Linear)
		if t.Networks != nil {
			e.Prior = append(e.Prior, t.Networks.PriorRMSE[i][k])
		}
	}
	return e.Chart()
}
