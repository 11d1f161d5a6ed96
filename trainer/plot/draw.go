package plot

import (
	"fmt"
	"math"
	"strconv"
)

// SVG draws the chart. It fails where a number is not finite, lengths differ, or
// a logarithmic axis gets no positive value.
func (c Chart) SVG() ([]byte, error) {
	w := &writer{}
	if err := c.draw(w); err != nil {
		return nil, err
	}
	return w.finish(chartWidth, c.height(), c.Title, c.Description), nil
}

const gutter = 18.0 // between the charts of a sheet

// Sheet draws charts in rows, each row as high as its highest chart, under a title
// and a second line, as one <svg> element.
func Sheet(title, more string, rows [][]Chart) ([]byte, error) {
	w := &writer{}
	y, width := 0.0, 0.0
	if title != "" {
		y += 8 + titleSize + 4
		w.text(10, y, title, titleSize+1, ink, semibold)
	}
	if more != "" {
		y += labelSize + 7
		w.text(10, y, more, labelSize, Soft, start)
	}
	if y > 0 {
		y += gutter / 2
	}
	for _, row := range rows {
		x, height := 0.0, 0.0
		for _, c := range row {
			w.put(`<g transform="translate(%v %v)">`, x, y)
			if err := c.draw(w); err != nil {
				return nil, err
			}
			w.put("</g>")
			x += chartWidth + gutter
			height = max(height, c.height())
		}
		width = max(width, x-gutter)
		y += height + gutter
	}
	return w.finish(width, y, title, ""), nil
}

// draw lays out title, legend, axes and data.
func (c Chart) draw(w *writer) error {
	if err := c.check(); err != nil {
		return fmt.Errorf("plot %q: %w", c.Title, err)
	}
	top := 8.0
	if c.Title != "" {
		top += titleSize + 2
		w.text(10, top-3, c.Title, titleSize, ink, semibold)
	}
	right := chartWidth - 14
	if rows := c.legend(w, 10, top+4, right); rows > 0 {
		top += float64(rows)*(labelSize+5) + 3
	}
	top += 8
	bottom := c.height() - 38
	_, probe := c.axes(30, right, top, bottom)
	left, yTicks := 26.0, probe.ticks(5)
	for _, t := range yTicks {
		left = math.Max(left, 30+textWidth(c.yLabel(t), tickSize))
	}
	x, y := c.axes(left, right, top, bottom)

	for _, t := range yTicks {
		p := y.at(t.value)
		w.line(left, p, right, p, grid, 1, "")
		w.text(left-6, p+3.6, c.yLabel(t), tickSize, Soft, end)
	}
	c.drawXTicks(w, x, bottom)
	w.line(left, bottom, right, bottom, frame, 1, "")
	w.text((left+right)/2, c.height()-6, c.XLabel, labelSize, Soft, middle)
	center := (top + bottom) / 2
	w.text(11, center, c.YLabel, labelSize, Soft, middle+raw(` transform="rotate(-90 11 `+num(center)+`)"`))

	w.clip(left-3, top-2, right+3, bottom+1) // marks at the ends are whole
	for _, r := range c.Ribbons {
		w.ribbon(r, x, y)
	}
	for _, r := range c.Rules {
		p := y.at(r.Value)
		w.line(left, p, right, p, Soft, 1, "4 3")
	}
	for _, l := range c.Lines {
		w.polyline(l, x, y)
	}
	w.put("</g>")
	return nil
}

// drawXTicks marks the x axis, and labels the marks as far as the labels do not overlap.
func (c Chart) drawXTicks(w *writer, x axis, bottom float64) {
	last := math.Inf(-1)
	for _, t := range x.ticks(6) {
		p, half := x.at(t.value), textWidth(t.label, tickSize)/2
		w.line(p, bottom, p, bottom+4, frame, 1, "")
		if p-half > last+4 {
			w.text(math.Min(p, chartWidth-half-1), bottom+16, t.label, tickSize, Soft, middle)
			last = p + half
		}
	}
}

func (c Chart) yLabel(t tick) string {
	if c.Percent {
		return minus(strconv.FormatFloat(math.Round(1000*t.value)/10, 'g', -1, 64)) + "\u2009%"
	}
	return t.label
}

// legend draws the names of all series in rows, and returns how many rows.
func (c Chart) legend(w *writer, left, top, right float64) int {
	x, y, rows := left, top+labelSize, 0
	entry := func(name string, symbol func()) {
		if name == "" {
			return
		}
		size := 33 + textWidth(name, labelSize)
		switch {
		case rows == 0:
			rows = 1
		case x > left && x+size > right+12:
			x, y, rows = left, y+labelSize+5, rows+1
		}
		symbol()
		w.text(x+21, y+1, name, labelSize, Soft, start)
		x += size
	}
	for _, r := range c.Ribbons {
		entry(r.Name, func() {
			w.put(`<rect x="%v" y="%v" width="16" height="9" fill="%v" fill-opacity="%v"/>`, x, y-7, r.Color, r.Opacity)
		})
	}
	for _, l := range c.Lines {
		entry(l.Name, func() {
			if l.Dots || l.Marks {
				w.circle(x+8, y-2.5, 2.4, l.Color)
			}
			if !l.Dots {
				w.line(x, y-2.5, x+16, y-2.5, l.Color, l.width(), l.Dash)
			}
		})
	}
	return rows
}
