package plot

import "math"

// Coverage is the share of measurements inside the intervals, by horizon.
type Coverage struct {
	T             []float64 // s
	C50, C90, C95 []float64 // mean over channels, 0 to 1
	Low95, High95 []float64 // (optional) interval of C95
	Channels      []Line    // (optional) C95 of single channels, drawn faint; X, Y, Name
}

// CoverageByHorizon draws coverage with the nominal levels as dashed lines.
func CoverageByHorizon(v Coverage) ([]byte, error) {
	c := Chart{
		Title: "Coverage", XLabel: "horizon, s", YLabel: "measurements inside", Percent: true, YMax: 1.015, Height: 330, XLog: wide(v.T),
		Rules:       []Rule{{Value: 0.5}, {Value: 0.9}, {Value: 0.95}},
		Description: "Share of measurements inside the 50, 90 and 95 % intervals, by horizon.",
	}
	if len(v.Low95) > 0 {
		c.Ribbons = []Ribbon{{X: v.T, Low: v.Low95, High: v.High95, Color: Model, Opacity: 0.16}}
	}
	for i, l := range v.Channels {
		l.Color, l.Width, l.Fade = Hold, 1, 0.7
		l.Name = ""
		if i == 0 {
			l.Name = "95 % of single channels"
		}
		c.Lines = append(c.Lines, l)
	}
	c.Lines = append(c.Lines,
		Line{Name: "50 %", X: v.T, Y: v.C50, Color: Linear, Dash: "7 3 2 3", Marks: len(v.T) <= 25},
		Line{Name: "90 %", X: v.T, Y: v.C90, Color: Velocity, Dash: "7 3", Marks: len(v.T) <= 25},
		Line{Name: "95 %", X: v.T, Y: v.C95, Color: Model, Width: 2.4, Marks: len(v.T) <= 25})
	// The upper half is where the nominal levels are; more only if it is needed.
	_, y := c.span()
	c.YMin = math.Max(0, math.Min(0.4, y.lo-0.03))
	if len(v.T) == 1 {
		c.XMin, c.XMax = 0, 2*v.T[0]
	}
	return c.SVG()
}
