package plot

import (
	"fmt"
	"math"
	"strconv"
)

// SVG draws the chart. It fails where a number is not finite, lengths differ, or
// a logarithmic axis gets no positive value.
func (c Chart) SVG() ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("plot %q: %w", c.Title, err)
	}
	w := &writer{}
	c.draw(w, chartWidth, c.height())
	return w.finish(chartWidth, c.height(), c.Title, c.Description), nil
}

const gutter = 18.0 // between the charts of a sheet

// Sheet draws charts in rows, each row as high as its highest chart, under a title
// and a second line, as one <svg> element.
func Sheet(title, more string, rows [][]Chart) ([]byte, error) {
	w := &writer{}
	y, width := 8.0, chartWidth
	if title != "" {
		y += titleSize + 4
		w.text(10, y, title, titleSize+1, ink, "start", "600")
	}
	if more != "" {
		y += labelSize + 7
		w.text(10, y, more, labelSize, soft, "start", "")
	}
	y += gutter / 2
	for _, row := range rows {
		x, height := 0.0, 0.0
		for _, c := range row {
			if err := c.check(); err != nil {
				return nil, fmt.Errorf("plot %q: %w", c.Title, err)
			}
			w.shift(x, y)
			c.draw(w, chartWidth, c.height())
			w.end()
			x += chartWidth + gutter
			height = max(height, c.height())
		}
		width = max(width, x-gutter)
		y += height + gutter
	}
	return w.finish(width, y, title, ""), nil
}

// draw lays out title, legend, axes and data.
func (c Chart) draw(w *writer, width, height float64) {
	top := 8.0
	if c.Title != "" {
		top += titleSize + 2
		w.text(10, top-3, c.Title, titleSize, ink, "start", "600")
	}
	if rows := c.legend(w, 10, top+4, width-14); rows > 0 {
		top += float64(rows)*(labelSize+5) + 3
	}
	top += 8
	bottom := height - 38
	_, probe := c.axes(0, 1, top, bottom)
	left := 26.0
	yt := probe.ticks(5)
	for _, t := range yt {
		left = math.Max(left, 30+float64(len([]rune(c.yLabel(t))))*tickSize*em)
	}
	right := width - 14
	x, y := c.axes(left, right, top, bottom)

	for _, t := range yt {
		py := y.at(t.value)
		w.line(left, py, right, py, grid, 1, "")
		w.text(left-6, py+3.6, c.yLabel(t), tickSize, soft, "end", "")
	}
	last := math.Inf(-1)
	xt := x.ticks(6)
	if len(c.XNames) > 0 {
		xt = nil
		for i, name := range c.XNames {
			xt = append(xt, tick{float64(i + 1), name})
		}
	}
	for _, t := range xt {
		px := x.at(t.value)
		half := float64(len([]rune(t.label))) * tickSize * em / 2
		w.line(px, bottom, px, bottom+4, frame, 1, "")
		if px-half > last+4 {
			w.text(math.Min(px, width-half-1), bottom+16, t.label, tickSize, soft, "middle", "")
			last = px + half
		}
	}
	w.line(left, bottom, right, bottom, frame, 1, "")
	w.text((left+right)/2, height-6, c.XLabel, labelSize, soft, "middle", "")
	w.upright(11, (top+bottom)/2, c.YLabel, labelSize, soft)

	w.clip(left-3, top-2, right+3, bottom+1) // marks at the ends are whole
	if c.Diagonal {
		lo, hi := math.Max(x.min, y.min), math.Min(x.max, y.max)
		w.line(x.at(lo), y.at(lo), x.at(hi), y.at(hi), soft, 1.2, "4 3")
	}
	for _, r := range c.Ribbons {
		w.ribbon(r, x, y)
	}
	for _, r := range c.Rules {
		c.rule(w, r, x, y)
	}
	for _, l := range c.Lines {
		w.polyline(l, x, y)
	}
	w.end()
}

func (c Chart) yLabel(t tick) string {
	if c.Percent {
		return minus(strconv.FormatFloat(math.Round(1000*t.value)/10, 'g', -1, 64)) + "\u2009%"
	}
	return t.label
}

func (c Chart) rule(w *writer, r Rule, x, y axis) {
	if r.Up {
		p := x.at(r.Value)
		w.line(p, y.from, p, y.to, soft, 1, "2 3")
		w.text(p+4, y.to+10, r.Label, tickSize, soft, "start", "")
		return
	}
	p := y.at(r.Value)
	w.line(x.from, p, x.to, p, soft, 1, "4 3")
	w.text(x.to-2, p-4, r.Label, tickSize, soft, "end", "")
}

// legend draws the names of all series in rows, and returns how many rows.
func (c Chart) legend(w *writer, left, top, right float64) int {
	x, y, rows := left, top+labelSize, 0
	entry := func(name string, symbol func()) {
		if name == "" {
			return
		}
		size := 21 + float64(len([]rune(name)))*labelSize*em + 12
		switch {
		case rows == 0:
			rows = 1
		case x > left && x+size > right+12:
			x, y, rows = left, y+labelSize+5, rows+1
		}
		symbol()
		w.text(x+21, y+1, name, labelSize, soft, "start", "")
		x += size
	}
	for _, r := range c.Ribbons {
		entry(r.Name, func() { w.rect(x, y-7, 16, 9, r.Color, r.Opacity) })
	}
	for _, l := range c.Lines {
		entry(l.Name, func() {
			switch {
			case l.Dots:
				w.circle(x+8, y-2.5, 2.4, l.Color)
				return
			case l.Marks:
				w.circle(x+8, y-2.5, 2.2, l.Color)
			}
			w.line(x, y-2.5, x+16, y-2.5, l.Color, l.width(), l.Dash)
		})
	}
	return rows
}
