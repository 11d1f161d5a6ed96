package plot

import "math"

// Errors is the error of one channel by horizon, for the model and what it is
// compared with.
type Errors struct {
	Channel, Unit                 string
	T                             []float64 // s
	Model, Hold, Velocity, Linear []float64 // RMSE in the channel's unit; empty = not drawn
}

// ErrorByHorizon draws the chart of the errors.
func ErrorByHorizon(e Errors) ([]byte, error) { return e.Chart().SVG() }

// Chart returns the root mean square error on a logarithmic axis. An error of zero,
// and one a thousand times that of holding, is not drawn.
func (e Errors) Chart() Chart {
	c := Chart{
		Title: e.Channel, XLabel: "horizon, s", YLabel: WithUnit("RMSE", e.Unit),
		Description: "Root mean square error of " + e.Channel + " by horizon, model and baselines.",
	}
	for _, l := range []Line{
		{Name: "hold", Y: e.Hold, Color: Hold, Dash: "2 2.5", Width: 2},
		{Name: "velocity", Y: e.Velocity, Color: Velocity, Dash: "7 3"},
		{Name: "linear", Y: e.Linear, Color: Linear, Dash: "7 3 2 3"},
		{Name: "DGM", Y: e.Model, Color: Model, Width: 2.4, Marks: len(e.T) <= 25},
	} {
		l.X, l.Y = visible(e.T, l.Y, e.Hold)
		if len(l.Y) > 0 {
			c.Lines = append(c.Lines, l)
		}
	}
	c.YLog = len(c.Lines) > 0
	c.XLog = wide(e.T)
	if len(e.T) == 1 {
		c.XMin, c.XMax = 0, 2*e.T[0]
	}
	return c
}

// visible returns the points that a logarithmic axis can show beside the errors
// of holding.
func visible(t, y, hold []float64) (vt, vy []float64) {
	most := math.Inf(1)
	for _, h := range hold {
		if h > 0 && (math.IsInf(most, 1) || 1e3*h > most) {
			most = 1e3 * h
		}
	}
	for i, v := range y {
		if v > 0 && v <= most {
			vt, vy = append(vt, t[i]), append(vy, v)
		}
	}
	return vt, vy
}
