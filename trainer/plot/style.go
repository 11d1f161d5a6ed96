// Package plot draws charts as SVG: lines, points and ribbons, and bands of predictions.
//
// A chart is one self-contained <svg> element: no script, no style sheet, no
// font of its own, nothing to fetch. It is used as a file or inline in a
// page, scales with the width that it is given, and its text uses the reader's
// own sans-serif font. It is drawn small (420 units wide) so that a phone shows
// it legibly at full width and a desktop shows two side by side.
//
// Colours are those of Okabe and Ito (2008), which people with any colour vision
// can distinguish; where lines may be confused they differ in dash as well.
//
// Numbers must be finite: a chart of NaN is an error, never an empty frame.
package plot

import (
	"strings"
	"unicode"
)

// Color is a CSS colour.
type Color string

// The colours. One meaning each, the same in all charts.
const (
	Model    Color = "#0072B2" // blue: the model
	Measured Color = "#1F2933" // near black: measurements
	Hold     Color = "#8A94A0" // grey: last value held
	Velocity Color = "#E69F00" // orange: constant velocity
	Linear   Color = "#009E73" // green: linear model
	Ridge    Color = "#56B4E9" // light blue: direct ridge regression
	Alert    Color = "#D55E00" // vermilion: faults
	Other    Color = "#CC79A7" // purple: prior dynamics alone
	Soft     Color = "#5B6672" // of texts and references

	ink   Color = "#1F2933"
	grid  Color = "#E6E9ED"
	frame Color = "#B8C0C8"
	paper Color = "#FFFFFF"
)

// Sequence holds the colours of lines of an order (horizons), dark to light.
var Sequence = []Color{"#08306B", Model, "#56B4E9", Linear, Velocity}

const (
	fontFamily = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

	chartWidth  = 420.0
	chartHeight = 250.0

	titleSize = 13.0
	labelSize = 11.0
	tickSize  = 10.5
)

// textWidth returns the width of a text, about: sans-serif fonts differ by a tenth.
func textWidth(s string, size float64) float64 {
	em := 0.0 // widths over the font size
	for _, r := range s {
		switch {
		case strings.ContainsRune("ijl.,:;'|! ", r):
			em += 0.3
		case strings.ContainsRune("frt()[]/-\u2009", r):
			em += 0.38
		case strings.ContainsRune("mwMW%", r):
			em += 0.9
		case unicode.IsUpper(r), strings.ContainsRune("±−×+=", r):
			em += 0.7
		default:
			em += 0.59
		}
	}
	return em * size
}
