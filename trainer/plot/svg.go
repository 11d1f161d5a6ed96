package plot

import (
	"bytes"
	"cmp"
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

// raw is text that needs no escape.
type raw string

// put writes elements: numbers with two decimals, texts escaped, all by %v.
func (w *writer) put(format string, args ...any) {
	for i, a := range args {
		switch v := a.(type) {
		case float64:
			args[i] = num(v)
		case string:
			args[i] = escape(v)
		}
	}
	fmt.Fprintf(&w.body, format, args...)
}

// finish returns the <svg> element.
func (w *writer) finish(width, height float64, title, description string) []byte {
	h := fnv.New64a()
	h.Write(w.body.Bytes())
	id := "c" + strconv.FormatUint(h.Sum64(), 36)
	out := &writer{}
	out.put(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %v %v" width="%v" height="%v"`, width, height, width, height)
	out.put(` role="img" font-family="%v" style="max-width:100%%;height:auto">`, raw(fontFamily))
	if title != "" {
		out.put("<title>%v</title>", title)
	}
	if description != "" {
		out.put("<desc>%v</desc>", description)
	}
	out.put(`<rect width="%v" height="%v" fill="%v"/><defs>`, width, height, paper)
	for i, c := range w.clips {
		out.put(`<clipPath id="%v%d"><rect x="%v" y="%v" width="%v" height="%v"/></clipPath>`, id, i, c[0], c[1], c[2]-c[0], c[3]-c[1])
	}
	out.body.WriteString("</defs>")
	out.body.Write(bytes.ReplaceAll(w.body.Bytes(), []byte(clipMark), []byte(id)))
	out.body.WriteString("</svg>\n")
	return out.body.Bytes()
}

// clip begins a group that shows only what lies in a rectangle.
func (w *writer) clip(x0, y0, x1, y1 float64) {
	w.put(`<g clip-path="url(#%v%d)">`, raw(clipMark), len(w.clips))
	w.clips = append(w.clips, [4]float64{x0, y0, x1, y1})
}

func (w *writer) line(x0, y0, x1, y1 float64, c Color, width float64, dash string) {
	w.put(`<path d="M%v %vL%v %v" stroke="%v" stroke-width="%v" fill="none"%v/>`, x0, y0, x1, y1, c, width, dashed(dash))
}

func dashed(dash string) raw {
	if dash == "" {
		return ""
	}
	return raw(` stroke-dasharray="` + escape(dash) + `"`)
}

func (w *writer) circle(x, y, r float64, c Color) {
	w.put(`<circle cx="%v" cy="%v" r="%v" fill="%v"/>`, x, y, r, c)
}

// Attributes of texts.
const (
	start    raw = ""
	middle   raw = ` text-anchor="middle"`
	end      raw = ` text-anchor="end"`
	semibold raw = ` font-weight="600"`
)

func (w *writer) text(x, y float64, s string, size float64, c Color, attributes raw) {
	if s != "" {
		w.put(`<text x="%v" y="%v" font-size="%v" fill="%v"%v>%v</text>`, x, y, size, c, attributes, s)
	}
}

func (w *writer) polyline(l Line, x, y axis) {
	if !l.Dots {
		w.put(`<path fill="none" stroke="%v" stroke-width="%v" stroke-opacity="%v" stroke-linejoin="round"%v d="`,
			l.Color, l.width(), cmp.Or(l.Fade, 1), dashed(l.Dash))
		w.path(l.X, l.Y, x, y, false)
		w.put(`"/>`)
	}
	if !l.Dots && !l.Marks {
		return
	}
	radius := 1.7
	if l.Marks {
		radius = 2.4
	}
	for i := range l.X {
		if x.shows(l.X[i]) && y.shows(l.Y[i]) {
			w.circle(x.at(l.X[i]), y.at(l.Y[i]), radius, l.Color)
		}
	}
}

func (w *writer) ribbon(r Ribbon, x, y axis) {
	w.put(`<path fill="%v" fill-opacity="%v" d="`, r.Color, r.Opacity)
	w.path(r.X, r.High, x, y, false)
	backX, backY := slices.Clone(r.X), slices.Clone(r.Low)
	slices.Reverse(backX)
	slices.Reverse(backY)
	w.path(backX, backY, x, y, true)
	w.put(`Z"/>`)
}

// path writes the points of a line; on = it continues from the point before. A
// value that a logarithmic axis cannot show breaks the line.
func (w *writer) path(xs, ys []float64, x, y axis, on bool) {
	every := max(1, len(xs)/mostPoints)
	for i := range xs {
		if i%every != 0 && i != len(xs)-1 {
			continue
		}
		if !x.shows(xs[i]) || !y.shows(ys[i]) {
			on = false
			continue
		}
		letter := raw("M")
		if on {
			letter = "L"
		}
		// Renderers support places up to 1e4.
		w.put("%v%v %v", letter, x.at(xs[i]), math.Max(-1e4, math.Min(1e4, y.at(ys[i]))))
		on = true
	}
}

// num prints a place with two decimals at most.
func num(v float64) raw {
	return raw(strconv.FormatFloat(math.Round(v*100)/100+0, 'f', -1, 64)) // −0 + 0 = 0
}

// escape escapes text for XML; characters that XML cannot hold are replaced.
func escape(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a buffer returns no error
	return b.String()
}
