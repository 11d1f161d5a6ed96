package report

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/plot"
)

func (v *view) draw() error {
	var err error // the first one
	add := func(dst *[]svg, c plot.Chart) {
		text, e := c.SVG()
		if err == nil {
			err = e
		}
		*dst = append(*dst, svg(text))
	}
	for _, e := range v.Examples {
		i := slices.IndexFunc(v.Windows, func(w windowView) bool { return w.Title == e.Window })
		if i < 0 {
			i = len(v.Windows)
			v.Windows = append(v.Windows, windowView{Title: e.Window})
		}
		add(&v.Windows[i].Charts, e.Chart())
	}
	if len(v.HeldOut) > 0 && len(v.HeldOut[0].Horizons) > 0 { // the first table is drawn
		t := v.HeldOut[0]
		for k := range t.Horizons[0].Channels {
			add(&v.Errors, t.ErrorChart(k))
		}
		add(&v.Calibration, coverage(t.Horizons))
		if c := calibration(t.Horizons); len(c.Lines) > 1 {
			add(&v.Calibration, c)
		}
	}
	if len(v.Curve) >= 2 {
		add(&v.Training, v.objective())
	}
	return err
}

// coverage draws the share of measurements inside the intervals by horizon, mean over
// channels and of every channel.
func coverage(all []evaluate.Horizon) plot.Chart {
	marks := len(all) <= 25
	c50 := plot.Line{Name: "50 %", Color: plot.Linear, Dash: "7 3 2 3", Marks: marks}
	c90 := plot.Line{Name: "90 %", Color: plot.Velocity, Dash: "7 3", Marks: marks}
	c95 := plot.Line{Name: "95 %", Color: plot.Model, Width: 2.4, Marks: marks}
	band := plot.Ribbon{Color: plot.Model, Opacity: 0.16}
	single := slices.Repeat([]plot.Line{{Color: plot.Hold, Width: 1, Fade: 0.7}}, len(all[0].Channels))
	single[0].Name = "95 % of single channels"
	var times []float64
	least := 1.0
	add := func(l *plot.Line, t, v float64) {
		l.X, l.Y = append(l.X, t), append(l.Y, v)
		least = math.Min(least, v)
	}
	for _, h := range all {
		mean50, mean90 := 0.0, 0.0
		for k, ch := range h.Channels {
			mean50 += ch.Coverage50 / float64(len(h.Channels))
			mean90 += ch.Coverage90 / float64(len(h.Channels))
			add(&single[k], h.T, ch.Coverage95)
		}
		times = append(times, h.T)
		add(&c50, h.T, mean50)
		add(&c90, h.T, mean90)
		add(&c95, h.T, h.Coverage95)
		band.Low, band.High = append(band.Low, h.Coverage95Low), append(band.High, h.Coverage95High)
		least = math.Min(least, h.Coverage95Low)
	}
	band.X = times
	c := plot.Chart{
		Title: "Coverage", XLabel: "horizon, s", YLabel: "measurements inside", Percent: true, Height: 330, XLog: plot.Logarithmic(times),
		YMin: math.Max(0, math.Min(0.4, least-0.03)), YMax: 1.015, // the upper half holds the nominal levels; more only if it is needed
		Ribbons: []plot.Ribbon{band}, Lines: append(single, c50, c90, c95), Rules: []plot.Rule{{Value: 0.5}, {Value: 0.9}, {Value: 0.95}},
		Description: "Share of measurements inside the 50, 90 and 95 % intervals, by horizon.",
	}
	if len(times) == 1 {
		c.XMax = 2 * times[0]
	}
	return c
}

// calibration draws the empirical over the nominal coverage of a few horizons.
func calibration(all []evaluate.Horizon) plot.Chart {
	c := plot.Chart{
		Title: "Calibration", XLabel: "nominal coverage", YLabel: "empirical coverage", XMax: 1, YMax: 1, Height: 330,
		Lines:       []plot.Line{{X: []float64{0, 1}, Y: []float64{0, 1}, Color: plot.Soft, Width: 1.2, Dash: "4 3"}},
		Description: "Empirical against nominal coverage of central intervals; calibrated intervals are on the diagonal.",
	}
	for i, h := range spread(all, len(plot.Sequence)) {
		l := plot.Line{Name: seconds(h.T), Color: plot.Sequence[i]}
		for _, p := range h.Reliability {
			l.X, l.Y = append(l.X, p.Nominal), append(l.Y, p.Observed)
		}
		if len(l.X) > 0 {
			c.Lines = append(c.Lines, l)
		}
	}
	return c
}

// objective draws the training curve and its parts. What is far above the last nine
// tenths of a curve (its beginning) may leave the chart at the top.
func (v *view) objective() plot.Chart {
	lines := []plot.Line{
		{Name: "objective", Color: plot.Model, Width: 2.2},
		{Name: "data", Color: plot.Velocity, Dash: "7 3"},
		{Name: "matching", Color: plot.Linear, Dash: "7 3 2 3"},
	}
	var settled, all []float64
	for i, p := range v.Curve {
		for j, y := range []float64{p.Loss, p.Data, p.Match} {
			lines[j].X, lines[j].Y = append(lines[j].X, float64(p.Step)), append(lines[j].Y, y)
			if all = append(all, y); i >= len(v.Curve)/10 {
				settled = append(settled, y)
			}
		}
	}
	c := plot.Chart{Title: "Objective", XLabel: "step", YLabel: "objective", Lines: lines, Description: "The objective and its parts during training."}
	if lo, hi := plot.Padded(settled, 0.08); slices.Max(all) > hi+2*(hi-lo) || slices.Min(all) < lo-2*(hi-lo) {
		c.YMin, c.YMax = lo, hi
	}
	return c
}
