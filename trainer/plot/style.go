package plot

// Color is a CSS colour.
type Color string

// The colours. One meaning each, the same in all charts.
const (
	Model    Color = "#0072B2" // blue: the model
	Measured Color = "#1F2933" // near black: measurements
	Hold     Color = "#8A94A0" // grey: last value held
	Velocity Color = "#E69F00" // orange: constant velocity
	Linear   Color = "#009E73" // green: linear model
	Alert    Color = "#D55E00" // vermilion: faults
	Other    Color = "#CC79A7" // purple: prior dynamics alone
	Light    Color = "#56B4E9" // sky blue

	ink   Color = "#1F2933"
	soft  Color = "#5B6672"
	grid  Color = "#E6E9ED"
	frame Color = "#B8C0C8"
	paper Color = "#FFFFFF"
)

// Sequence returns n colours for lines of an order (horizons), dark to light.
func Sequence(n int) []Color {
	all := []Color{"#08306B", Model, Light, Linear, Velocity, Alert, Other}
	out := make([]Color, n)
	for i := range out {
		out[i] = all[i%len(all)]
	}
	return out
}

const (
	fontFamily = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

	chartWidth  = 420.0
	chartHeight = 250.0

	titleSize = 13.0
	labelSize = 11.0
	tickSize  = 10.5

	// em is the width of an average character over the font size.
	em = 0.54
)
