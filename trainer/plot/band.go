package plot

import "math"

// Prediction is one predicted channel beside what then happened.
type Prediction struct {
	Title    string
	Channel  string
	Unit     string
	T        []float64 // s after the start
	Mean     []float64
	Lo50     []float64
	Hi50     []float64
	Lo95     []float64
	Hi95     []float64
	At       []float64 // s, when it was measured
	Measured []float64
}

// Band draws a prediction as mean with the 50 and 95 % intervals, and the
// measurements as dots.
func Band(p Prediction) ([]byte, error) {
	measured := Line{Name: "measured", X: p.At, Y: p.Measured, Color: Measured, Dots: true}
	if every := 1 + len(p.At)/120; every > 1 {
		measured.X, measured.Y = nil, nil
		for i := 0; i < len(p.At); i += every {
			measured.X, measured.Y = append(measured.X, p.At[i]), append(measured.Y, p.Measured[i])
		}
	}
	return Chart{
		Title: p.Title, XLabel: "time after the prediction, s", YLabel: WithUnit(p.Channel, p.Unit),
		Ribbons: []Ribbon{
			{Name: "95 %", X: p.T, Low: p.Lo95, High: p.Hi95, Color: Model, Opacity: 0.16},
			{Name: "50 %", X: p.T, Low: p.Lo50, High: p.Hi50, Color: Model, Opacity: 0.28},
		},
		Lines: []Line{{Name: "mean", X: p.T, Y: p.Mean, Color: Model}, measured},
		XMin:  math.Min(0, first(p.T)), XMax: last(p.T),
		Description: "Predicted mean and intervals of " + p.Channel + " with the values measured afterwards as dots.",
	}.SVG()
}

// WithUnit is the label of an axis.
func WithUnit(name, unit string) string {
	if unit == "" {
		return name
	}
	return name + ", " + unit
}

func first(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	return v[0]
}

func last(v []float64) float64 {
	if len(v) == 0 {
		return 1
	}
	return v[len(v)-1]
}
