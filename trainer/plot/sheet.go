package plot

import "fmt"

const gutter = 18.0 // between the charts of a sheet

// Sheet draws charts in rows, each row as high as its highest chart, under a title
// and a line that says more, as one <svg> element.
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
			w.unshift()
			x += chartWidth + gutter
			height = max(height, c.height())
		}
		width = max(width, x-gutter)
		y += height + gutter
	}
	return w.finish(width, y, title, ""), nil
}
