package report

import (
	"slices"

	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/plot"
)

func (v *view) drawExamples() error {
	for _, e := range v.Examples {
		chart, err := plot.Band(plot.Prediction{
			Title: e.Channel, Channel: e.Channel, Unit: e.Unit,
			T: e.T, Mean: e.Mean, Lo50: e.Lo50, Hi50: e.Hi50, Lo95: e.Lo95, Hi95: e.Hi95, At: e.At, Measured: e.Measured,
		})
		if err != nil {
			return err
		}
		i := slices.IndexFunc(v.Windows, func(w windowView) bool { return w.Title == e.Window })
		if i < 0 {
			v.Windows = append(v.Windows, windowView{Title: e.Window})
			i = len(v.Windows) - 1
		}
		v.Windows[i].Charts = append(v.Windows[i].Charts, svg(chart))
	}
	return nil
}

// drawn returns the horizons that are drawn: those of the first table.
func (v *view) drawn() []evaluate.Horizon {
	if len(v.HeldOut) == 0 {
		return nil
	}
	return v.HeldOut[0].Horizons
}

// byChannel returns, for every channel, its scores at all horizons.
func (v *view) byChannel() (names []string, times [][]float64, scores [][]evaluate.Channel) {
	for _, h := range v.drawn() {
		for _, c := range h.Channels {
			i := slices.Index(names, c.Name)
			if i < 0 {
				i = len(names)
				names, times, scores = append(names, c.Name), append(times, nil), append(scores, nil)
			}
			times[i], scores[i] = append(times[i], h.T), append(scores[i], c)
		}
	}
	return names, times, scores
}

func (v *view) drawErrors() error {
	names, times, scores := v.byChannel()
	for i, name := range names {
		e := plot.Errors{Channel: name, Unit: scores[i][0].Unit, T: times[i]}
		for _, c := range scores[i] {
			e.Model = append(e.Model, c.RMSE)
			e.Hold = append(e.Hold, c.Hold)
			e.Velocity = append(e.Velocity, c.Velocity)
			e.Linear = append(e.Linear, c.Linear)
		}
		chart, err := plot.ErrorByHorizon(e)
		if err != nil {
			return err
		}
		v.Errors = append(v.Errors, svg(chart))
	}
	return nil
}

func (v *view) drawCoverage() error {
	all := v.drawn()
	if len(all) == 0 {
		return nil
	}
	var c plot.Coverage
	for _, h := range all {
		c50, c90 := 0.0, 0.0
		for _, ch := range h.Channels {
			c50 += ch.Coverage50 / float64(len(h.Channels))
			c90 += ch.Coverage90 / float64(len(h.Channels))
		}
		c.T = append(c.T, h.T)
		c.C50, c.C90, c.C95 = append(c.C50, c50), append(c.C90, c90), append(c.C95, h.Coverage95)
		c.Low95, c.High95 = append(c.Low95, h.Coverage95Low), append(c.High95, h.Coverage95High)
	}
	names, times, scores := v.byChannel()
	for i, name := range names {
		l := plot.Line{Name: name, X: times[i]}
		for _, ch := range scores[i] {
			l.Y = append(l.Y, ch.Coverage95)
		}
		c.Channels = append(c.Channels, l)
	}
	chart, err := plot.CoverageByHorizon(c)
	v.Coverage = svg(chart)
	return err
}

func (v *view) drawReliability() error {
	var lines []plot.Reliability
	for _, h := range spread(v.drawn(), 5) {
		if len(h.Reliability) == 0 {
			continue
		}
		r := plot.Reliability{Label: seconds(h.T)}
		for _, p := range h.Reliability {
			r.Nominal, r.Observed = append(r.Nominal, p.Nominal), append(r.Observed, p.Observed)
		}
		lines = append(lines, r)
	}
	if len(lines) == 0 {
		return nil
	}
	chart, err := plot.ReliabilityDiagram(lines)
	v.Reliability = svg(chart)
	return err
}

func (v *view) drawTraining() error {
	if len(v.Curve) < 2 {
		return nil
	}
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
	chart, err := plot.TrainingCurve(lines, "objective")
	v.Training = svg(chart)
	return err
}
