package report

import (
	"slices"

	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/plot"
)

// draw draws all charts.
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
		add(&v.Windows[i].Charts, plot.Prediction{
			Title: e.Channel, Channel: e.Channel, Unit: e.Unit,
			T: e.T, Mean: e.Mean, Lo50: e.Lo50, Hi50: e.Hi50, Lo95: e.Lo95, Hi95: e.Hi95, At: e.At, Measured: e.Measured,
		}.Chart())
	}
	if len(v.HeldOut) > 0 && len(v.HeldOut[0].Horizons) > 0 { // the first table is drawn
		t := v.HeldOut[0]
		for k := range t.Horizons[0].Channels {
			add(&v.Errors, t.ErrorChart(k))
		}
		add(&v.Calibration, coverage(t.Horizons).Chart())
		if lines := calibration(t.Horizons); len(lines) > 0 {
			add(&v.Calibration, plot.Calibration(lines))
		}
	}
	if len(v.Curve) >= 2 {
		add(&v.Training, plot.TrainingCurve(v.objective()))
	}
	return err
}

// coverage returns the coverage by horizon, mean over channels and of every channel.
func coverage(all []evaluate.Horizon) plot.Coverage {
	var c plot.Coverage
	for _, ch := range all[0].Channels {
		c.Channels = append(c.Channels, plot.Line{Name: ch.Name})
	}
	for _, h := range all {
		c50, c90 := 0.0, 0.0
		for k, ch := range h.Channels {
			c50 += ch.Coverage50 / float64(len(h.Channels))
			c90 += ch.Coverage90 / float64(len(h.Channels))
			l := &c.Channels[k]
			l.X, l.Y = append(l.X, h.T), append(l.Y, ch.Coverage95)
		}
		c.T = append(c.T, h.T)
		c.C50, c.C90, c.C95 = append(c.C50, c50), append(c.C90, c90), append(c.C95, h.Coverage95)
		c.Low95, c.High95 = append(c.Low95, h.Coverage95Low), append(c.High95, h.Coverage95High)
	}
	return c
}

// calibration returns the empirical over the nominal coverage of a few horizons.
func calibration(all []evaluate.Horizon) (lines []plot.Line) {
	for _, h := range spread(all, 5) {
		l := plot.Line{Name: seconds(h.T)}
		for _, p := range h.Reliability {
			l.X, l.Y = append(l.X, p.Nominal), append(l.Y, p.Observed)
		}
		if len(l.X) > 0 {
			lines = append(lines, l)
		}
	}
	return lines
}

// objective returns the training curve and its parts.
func (v *view) objective() []plot.Line {
	loss := plot.Line{Name: "objective", Color: plot.Model, Width: 2.2}
	data := plot.Line{Name: "data", Color: plot.Velocity, Dash: "7 3"}
	match := plot.Line{Name: "matching", Color: plot.Linear, Dash: "7 3 2 3"}
	held := plot.Line{Name: "held out", Color: plot.Alert, Marks: true}
	for _, p := range v.Curve {
		x := float64(p.Step)
		loss.X, loss.Y = append(loss.X, x), append(loss.Y, p.Loss)
		data.X, data.Y = append(data.X, x), append(data.Y, p.Data)
		match.X, match.Y = append(match.X, x), append(match.Y, p.Match)
		if p.HeldOut != nil {
			held.X, held.Y = append(held.X, x), append(held.Y, *p.HeldOut)
		}
	}
	lines := []plot.Line{loss, data, match}
	if v.Watched = len(held.X) > 0; v.Watched {
		lines = append(lines, held)
	}
	return lines
}
