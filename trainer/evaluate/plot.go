package evaluate

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/dgm-robotics/dgm/trainer/score"
)

// Colours that stay apart in print and for colour-blind readers (Okabe & Ito).
var (
	black  = color.RGBA{A: 255}
	blue   = color.RGBA{R: 0, G: 114, B: 178, A: 255}
	band   = color.NRGBA{R: 86, G: 180, B: 233, A: 110}
	grey   = color.RGBA{R: 140, G: 140, B: 140, A: 255}
	orange = color.RGBA{R: 230, G: 159, B: 0, A: 255}
	red    = color.RGBA{R: 213, G: 94, B: 0, A: 255}
)

// WriteSVG draws, for every channel, the prediction with its 95 % band against
// the measurement along a flight, and the error by horizon against the baselines.
func WriteSVG(w io.Writer, t *Table, trace *Trace) error {
	K := len(t.Horizons[0].Channels)
	rows := make([][]*plot.Plot, K)
	for k := range K {
		c := t.Horizons[0].Channels[k]
		left, err := tracePlot(trace, k, c)
		if err != nil {
			return err
		}
		right, err := errorPlot(t, k, c)
		if err != nil {
			return err
		}
		if k == 0 {
			// One legend a column, in room of its own above the curves.
			left.Y.Max += 0.5 * (left.Y.Max - left.Y.Min)
			right.Y.Max *= math.Pow(right.Y.Max/right.Y.Min, 0.6)
		} else {
			left.Legend, right.Legend = plot.NewLegend(), plot.NewLegend()
		}
		rows[k] = []*plot.Plot{left, right}
	}
	canvas := vgsvg.New(28*vg.Centimeter, vg.Length(K)*6*vg.Centimeter)
	dc := draw.New(canvas)
	tiles := draw.Tiles{Rows: K, Cols: 2, PadX: 5 * vg.Millimeter, PadY: 4 * vg.Millimeter,
		PadTop: 2 * vg.Millimeter, PadBottom: 2 * vg.Millimeter, PadLeft: 2 * vg.Millimeter, PadRight: 4 * vg.Millimeter}
	for i, row := range plot.Align(rows, tiles, dc) {
		for j, c := range row {
			rows[i][j].Draw(c)
		}
	}
	_, err := canvas.WriteTo(w)
	return err
}

// tracePlot draws one channel along the flight.
func tracePlot(t *Trace, k int, c Channel) (*plot.Plot, error) {
	p := newPlot(fmt.Sprintf("%s, predicted %s s ahead", c.Name, short(t.Ahead)), "time in the flight [s]", label(c))
	low, high := make([]float64, len(t.T)), make([]float64, len(t.T))
	for i, m := range t.Mean[k] {
		low[i], high[i] = m-score.Z95*t.Std[k][i], m+score.Z95*t.Std[k][i]
	}
	dots := draw.GlyphStyle{Color: black, Radius: 0.8, Shape: draw.CircleGlyph{}}
	measured := points(t.T, t.Truth[k], 0, len(t.T))
	if len(measured) > 0 {
		truth, err := plotter.NewScatter(measured)
		if err != nil {
			return nil, err
		}
		truth.GlyphStyle = dots
		p.Add(truth)
		p.Legend.Add("measured", truth)
	}
	// Truth is NaN where nothing was measured; a band is broken at jumps of time.
	for _, run := range runs(t.T) {
		outline := append(points(t.T, high, run[0], run[1]), reversed(points(t.T, low, run[0], run[1]))...)
		area, err := plotter.NewPolygon(outline)
		if err != nil {
			return nil, err
		}
		area.Color, area.LineStyle.Width = band, 0
		mean, err := line(points(t.T, t.Mean[k], run[0], run[1]), blue, false)
		if err != nil {
			return nil, err
		}
		p.Add(area, mean)
		if run[0] == 0 {
			p.Legend.Add("95 % band", area)
			p.Legend.Add("model", mean)
		}
	}
	return p, nil
}

// errorPlot draws one channel's errors by horizon, both axes logarithmic.
func errorPlot(t *Table, k int, c Channel) (*plot.Plot, error) {
	p := newPlot(c.Name+", error by horizon", "time ahead [s]", "RMSE"+unit(c))
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogTicks{Prec: 2}, plot.LogTicks{Prec: 2}
	for _, of := range []struct {
		name   string
		colour color.Color
		dashed bool
		rmse   func(c *Channel) float64
	}{
		{"hold", grey, true, func(c *Channel) float64 { return c.Hold }},
		{"velocity", orange, true, func(c *Channel) float64 { return c.Velocity }},
		{"linear", red, true, func(c *Channel) float64 { return c.Linear }},
		{"model", blue, false, func(c *Channel) float64 { return c.RMSE }},
	} {
		var xy plotter.XYs
		for i := range t.Horizons {
			if y := of.rmse(&t.Horizons[i].Channels[k]); y > 0 && y < overflow/10 {
				xy = append(xy, plotter.XY{X: t.Horizons[i].T, Y: y})
			}
		}
		if len(xy) == 0 {
			continue // nothing to draw on a logarithmic axis: exact, or overflowed
		}
		l, err := line(xy, of.colour, of.dashed)
		if err != nil {
			return nil, err
		}
		dots, err := plotter.NewScatter(xy)
		if err != nil {
			return nil, err
		}
		dots.GlyphStyle = draw.GlyphStyle{Color: of.colour, Radius: 0.7 * vg.Millimeter, Shape: draw.CircleGlyph{}}
		p.Add(l, dots)
		p.Legend.Add(of.name, l, dots)
	}
	// One horizon, or errors all alike, have no extent; an axis needs one.
	widen(&p.X)
	widen(&p.Y)
	return p, nil
}

func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.TextStyle.Font.Size, p.Title.Padding = 11, 2*vg.Millimeter
	p.X.Label.TextStyle.Font.Size, p.Y.Label.TextStyle.Font.Size = 9, 9
	p.Legend.Top, p.Legend.Left, p.Legend.TextStyle.Font.Size, p.Legend.ThumbnailWidth = true, true, 8, 6*vg.Millimeter
	p.Add(plotter.NewGrid())
	return p
}

func line(xy plotter.XYs, c color.Color, dashed bool) (*plotter.Line, error) {
	l, err := plotter.NewLine(xy)
	if err != nil {
		return nil, err
	}
	l.Color, l.Width = c, 1.2
	if dashed {
		l.Dashes = []vg.Length{4, 2}
	}
	return l, nil
}

// points returns the finite points from i to j−1.
func points(x, y []float64, i, j int) plotter.XYs {
	var out plotter.XYs
	for ; i < j; i++ {
		if !math.IsNaN(y[i]) && !math.IsInf(y[i], 0) {
			out = append(out, plotter.XY{X: x[i], Y: y[i]})
		}
	}
	return out
}

func reversed(p plotter.XYs) plotter.XYs {
	for i, j := 0, len(p)-1; i < j; i, j = i+1, j-1 {
		p[i], p[j] = p[j], p[i]
	}
	return p
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

// widen gives a logarithmic axis without extent one.
func widen(a *plot.Axis) {
	if !(a.Min > 0) || math.IsInf(a.Min, 0) || math.IsInf(a.Max, 0) {
		a.Min, a.Max = 0.1, 1
	}
	if a.Max < a.Min*1.2 {
		a.Min, a.Max = a.Min/1.5, a.Max*1.5
	}
}

func label(c Channel) string { return c.Name + unit(c) }

func unit(c Channel) string {
	if c.Unit == "" {
		return ""
	}
	return " [" + c.Unit + "]"
}
