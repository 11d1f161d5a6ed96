// Package plot draws the project's charts as SVG: bands of predictions, errors
// and coverage by horizon, reliability diagrams, training curves.
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
