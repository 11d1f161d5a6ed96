package plot

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
)

// mostPoints bounds the points of one line: more than this cannot be seen.
const mostPoints = 900

// writer collects SVG elements. Clip paths get their name at the end, from the
// content, so that charts on one page do not share names and the same chart is
// the same bytes.
type writer struct {
	body  bytes.Buffer
	clips [][4]float64
}

const clipMark = "\x00clip"

func (w *writer) finish(width, height float64, title, description string) []byte {
	h := fnv.New64a()
	h.Write(w.body.Bytes())
	id := "c" + strconv.FormatUint(h.Sum64(), 36)
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%s" height="%s" role="img" font-family="%s" style="max-width:100%%;height:auto">`,
		num(width), num(height), num(width), num(height), fontFamily)
	if title != "" {
		out.WriteString("<title>" + escape(title) + "</title>")
	}
	if description != "" {
		out.WriteString("<desc>" + escape(description) + "</desc>")
	}
	fmt.Fprintf(&out, `<rect width="%s" height="%s" fill="%s"/>`, num(width), num(height), paper)
	if len(w.clips) > 0 {
		out.WriteString("<defs>")
		for i, c := range w.clips {
			fmt.Fprintf(&out, `<clipPath id="%s%d"><rect x="%s" y="%s" width="%s" height="%s"/></clipPath>`,
				id, i, num(c[0]), num(c[1]), num(c[2]-c[0]), num(c[3]-c[1]))
		}
		out.WriteString("</defs>")
	}
	out.Write(bytes.ReplaceAll(w.body.Bytes(), []byte(clipMark), []byte(id)))
	out.WriteString("</svg>\n")
	return out.Bytes()
}

func (w *writer) clip(x0, y0, x1, y1 float64) {
	fmt.Fprintf(&w.body, `<g clip-path="url(#%s%d)">`, clipMark, len(w.clips))
	w.clips = append(w.clips, [4]float64{x0, y0, x1, y1})
}

// shift moves the elements until end by x and y.
func (w *writer) shift(x, y float64) {
	fmt.Fprintf(&w.body, `<g transform="translate(%s %s)">`, num(x), num(y))
}

// end closes a shift or a clip.
func (w *writer) end() { w.body.WriteString("</g>") }

func (w *writer) line(x0, y0, x1, y1 float64, c Color, width float64, dash string) {
	fmt.Fprintf(&w.body, `<path d="M%s %sL%s %s" stroke="%s" stroke-width="%s" fill="none"%s/>`,
		num(x0), num(y0), num(x1), num(y1), c, num(width), dashed(dash))
}

func dashed(dash string) string {
	if dash == "" {
		return ""
	}
	return ` stroke-dasharray="` + escape(dash) + `"`
}

func (w *writer) rect(x, y, width, height float64, c Color, opacity float64) {
	fmt.Fprintf(&w.body, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s" fill-opacity="%s"/>`,
		num(x), num(y), num(width), num(height), c, num(opacity))
}

func (w *writer) circle(x, y, r float64, c Color) {
	fmt.Fprintf(&w.body, `<circle cx="%s" cy="%s" r="%s" fill="%s"/>`, num(x), num(y), num(r), c)
}

func (w *writer) text(x, y float64, s string, size float64, c Color, anchor, weight string) {
	if s == "" {
		return
	}
	extra := ""
	if anchor != "start" {
		extra += ` text-anchor="` + anchor + `"`
	}
	if weight != "" {
		extra += ` font-weight="` + weight + `"`
	}
	fmt.Fprintf(&w.body, `<text x="%s" y="%s" font-size="%s" fill="%s"%s>%s</text>`, num(x), num(y), num(size), c, extra, escape(s))
}

// upright writes text from bottom to top, centred at y.
func (w *writer) upright(x, y float64, s string, size float64, c Color) {
	if s == "" {
		return
	}
	fmt.Fprintf(&w.body, `<text transform="translate(%s %s) rotate(-90)" font-size="%s" fill="%s" text-anchor="middle">%s</text>`,
		num(x), num(y), num(size), c, escape(s))
}

func (w *writer) polyline(l Line, x, y axis) {
	if !l.Dots {
		fade := l.Fade
		if fade == 0 {
			fade = 1
		}
		fmt.Fprintf(&w.body, `<path fill="none" stroke="%s" stroke-width="%s" stroke-opacity="%s" stroke-linejoin="round"%s d="`,
			l.Color, num(l.width()), num(fade), dashed(l.Dash))
		w.path(l.X, l.Y, x, y, false)
		w.body.WriteString(`"/>`)
	}
	radius := 1.7
	if l.Marks {
		radius = 2.4
	}
	for i := range l.X {
		if (l.Dots || l.Marks) && place(x, l.X[i]) && place(y, l.Y[i]) {
			w.circle(x.at(l.X[i]), y.at(l.Y[i]), radius, l.Color)
		}
	}
}

func (w *writer) ribbon(r Ribbon, x, y axis) {
	fmt.Fprintf(&w.body, `<path fill="%s" fill-opacity="%s" d="`, r.Color, num(r.Opacity))
	w.path(r.X, r.High, x, y, false)
	backX, backY := slices.Clone(r.X), slices.Clone(r.Low)
	slices.Reverse(backX)
	slices.Reverse(backY)
	w.path(backX, backY, x, y, true)
	w.body.WriteString(`Z"/>`)
}

// path writes the points of a line; on = it continues from the point before. A
// value that a logarithmic axis cannot show breaks the line.
func (w *writer) path(xs, ys []float64, x, y axis, on bool) {
	every := max(1, len(xs)/mostPoints)
	for i := range xs {
		if i%every != 0 && i != len(xs)-1 {
			continue
		}
		if !place(x, xs[i]) || !place(y, ys[i]) {
			on = false
			continue
		}
		letter := "M"
		if on {
			letter = "L"
		}
		w.body.WriteString(letter + num(x.at(xs[i])) + " " + num(bound(y.at(ys[i]))))
		on = true
	}
}

// place reports whether an axis can show a value.
func place(a axis, v float64) bool { return !a.log || v > 0 }

// bound limits places far outside of the chart to values that renderers support.
func bound(p float64) float64 { return math.Max(-1e4, math.Min(1e4, p)) }

// num prints a place with two decimals at most.
func num(v float64) string {
	s := strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64)
	if s == "-0" {
		return "0"
	}
	return s
}

// escape escapes text for XML; characters that XML cannot hold are replaced.
func escape(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a buffer returns no error
	return b.String()
}
