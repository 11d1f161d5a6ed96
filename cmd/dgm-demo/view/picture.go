package view

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Smallest picture, and what is around the plot.
const (
	minColumns = 40
	minRows    = 6
	around     = 6 // lines: title, legend, axis, times, coverage, latency
	margin     = 10
)

// What a cell of the plot can show. Later ones cover earlier ones.
const (
	empty = iota
	band
	now
	mean
	measured
	outside // measured, and not in the band
)

var glyphs = [...]string{empty: " ", band: "░", now: "┆", mean: "─", measured: "●", outside: "×"}

// ANSI colours: blue, grey, bright blue, that of text, bright red.
var colors = [...]string{empty: "", band: "34", now: "90", mean: "94", measured: "", outside: "91"}

// Picture draws a frame as text of at most the given size.
func Picture(f *Frame, size Size, color bool) string {
	columns := max(size.Columns, minColumns)
	rows := size.Rows - around
	if f.Note != "" {
		rows--
	}
	rows = max(rows, minRows)
	var b strings.Builder
	title := f.Title + "  " + elapsed(f)
	b.WriteString(clip(title, columns) + "\n")
	b.WriteString(legend(f, columns, color) + "\n")
	drawPlot(&b, f, columns-margin-1, rows, color)
	b.WriteString(clip(coverageLine(f), columns) + "\n")
	b.WriteString(clip(fmt.Sprintf("latency p50/p99 %.2f/%s; %d predictions at %.0f Hz; missing %d, overdue %d",
		1e3*f.P50, millis(f.P99), f.Predicted, f.Rate, f.Missing, f.Overdue), columns) + "\n")
	if f.Note != "" {
		b.WriteString(clip(f.Note, columns) + "\n")
	}
	return b.String()
}

func legend(f *Frame, columns int, color bool) string {
	name := f.Channel
	if f.Unit != "" {
		name += ", " + f.Unit
	}
	name = clip(name, 20)
	if columns < 72 {
		return fmt.Sprintf("%s %s 95 %% %s seen %s out", name, paint(band, color), paint(measured, color), paint(outside, color))
	}
	return fmt.Sprintf("%s   %s 95 %% predicted  %s mean  %s measured  %s outside", name,
		paint(band, color), paint(mean, color), paint(measured, color), paint(outside, color))
}

func paint(kind int, color bool) string {
	if !color || colors[kind] == "" {
		return glyphs[kind]
	}
	return "\x1b[" + colors[kind] + "m" + glyphs[kind] + "\x1b[0m"
}

// grid is the plot in cells, row 0 on top.
type grid struct {
	cell           []int
	columns, rows  int
	t0, t1, y0, y1 float64
}

func (g *grid) column(t float64) int {
	return int(math.Round((t - g.t0) / (g.t1 - g.t0) * float64(g.columns-1)))
}

func (g *grid) row(y float64) int {
	return int(math.Round((g.y1 - y) / (g.y1 - g.y0) * float64(g.rows-1)))
}

func (g *grid) set(column, row, kind int) {
	if column < 0 || column >= g.columns || row < 0 || row >= g.rows {
		return
	}
	if c := &g.cell[row*g.columns+column]; kind > *c {
		*c = kind
	}
}

func drawPlot(b *strings.Builder, f *Frame, columns, rows int, color bool) {
	g := &grid{cell: make([]int, columns*rows), columns: columns, rows: rows}
	if !g.fit(f) {
		for range rows {
			b.WriteString("\n")
		}
		b.WriteString("waiting for the first prediction\n\n")
		return
	}
	for r := range rows {
		g.set(g.column(0), r, now)
	}
	for _, p := range f.Bands {
		g.band(p)
	}
	for _, s := range f.Measured {
		if !finite(s.T) || !finite(s.Value) {
			continue
		}
		kind := measured
		if !inside(f.Bands, s) {
			kind = outside
		}
		g.set(g.column(s.T), g.row(s.Value), kind)
	}
	for r := range rows {
		label := ""
		if r == 0 || r == rows-1 || r == rows/2 {
			label = number(g.y1 - float64(r)/float64(rows-1)*(g.y1-g.y0))
		}
		fmt.Fprintf(b, "%*s ", margin-2, label)
		b.WriteString("│")
		b.WriteString(g.line(r, color) + "\n")
	}
	fmt.Fprintf(b, "%*s└%s\n", margin-1, "", strings.Repeat("─", columns))
	b.WriteString(g.times() + "\n")
}

// fit sets the limits to what is shown. It returns false where nothing is.
func (g *grid) fit(f *Frame) bool {
	g.t0, g.t1, g.y0, g.y1 = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	add := func(t float64, y ...float64) {
		for _, v := range y {
			if finite(t) && finite(v) {
				g.t0, g.t1 = math.Min(g.t0, t), math.Max(g.t1, t)
				g.y0, g.y1 = math.Min(g.y0, v), math.Max(g.y1, v)
			}
		}
	}
	for _, p := range f.Bands {
		for i, t := range p.T {
			add(t, p.Mean[i], p.Lo[i], p.Hi[i])
		}
	}
	for _, s := range f.Measured {
		add(s.T, s.Value)
	}
	if math.IsInf(g.t0, 0) {
		return false
	}
	if g.t1 <= g.t0 {
		g.t1 = g.t0 + 1
	}
	if pad := 0.05 * (g.y1 - g.y0); pad > 0 {
		g.y0, g.y1 = g.y0-pad, g.y1+pad
	} else {
		g.y0, g.y1 = g.y0-1, g.y1+1
	}
	return true
}

// band fills the columns that a prediction spans.
func (g *grid) band(p Band) {
	if len(p.T) == 0 {
		return
	}
	for c := max(0, g.column(p.T[0])); c <= min(g.columns-1, g.column(p.T[len(p.T)-1])); c++ {
		t := g.t0 + float64(c)/float64(g.columns-1)*(g.t1-g.t0)
		m, lo, hi := p.at(t)
		if !finite(m) || !finite(lo) || !finite(hi) {
			continue
		}
		for r := g.row(hi); r <= g.row(lo); r++ {
			g.set(c, r, band)
		}
		g.set(c, g.row(m), mean)
	}
}

// at interpolates a prediction; at its ends it is held.
func (p Band) at(t float64) (m, lo, hi float64) {
	n := len(p.T)
	if t <= p.T[0] {
		return p.Mean[0], p.Lo[0], p.Hi[0]
	}
	for i := 1; i < n; i++ {
		if t <= p.T[i] {
			w := (t - p.T[i-1]) / (p.T[i] - p.T[i-1])
			mix := func(v []float64) float64 { return v[i-1] + w*(v[i]-v[i-1]) }
			return mix(p.Mean), mix(p.Lo), mix(p.Hi)
		}
	}
	return p.Mean[n-1], p.Lo[n-1], p.Hi[n-1]
}

// inside reports whether a sample is in every band that spans its time.
func inside(bands []Band, s Sample) bool {
	for _, p := range bands {
		if n := len(p.T); n == 0 || s.T < p.T[0] || s.T > p.T[n-1] {
			continue
		}
		if _, lo, hi := p.at(s.T); s.Value < lo || s.Value > hi {
			return false
		}
	}
	return true
}

// line writes one row, a colour only where it changes.
func (g *grid) line(r int, color bool) string {
	row := g.cell[r*g.columns : (r+1)*g.columns]
	end := len(row)
	for end > 0 && row[end-1] == empty {
		end--
	}
	var b strings.Builder
	last := empty
	for _, c := range row[:end] {
		if color && colors[c] != colors[last] {
			b.WriteString("\x1b[0m")
			if colors[c] != "" {
				b.WriteString("\x1b[" + colors[c] + "m")
			}
		}
		b.WriteString(glyphs[c])
		last = c
	}
	if color && colors[last] != "" {
		b.WriteString("\x1b[0m")
	}
	return b.String()
}

// times labels the ends of the time axis and now.
func (g *grid) times() string {
	line := []rune(strings.Repeat(" ", margin+g.columns))
	put := func(center int, s string) {
		n := utf8.RuneCountInString(s)
		at := min(max(margin, margin+center-n/2), len(line)-n)
		for i, r := range []rune(s) {
			if line[at+i] != ' ' || (at+i > 0 && line[at+i-1] != ' ' && i == 0) {
				return
			}
			line[at+i] = r
		}
	}
	if c := g.column(0); c >= 0 && c < g.columns {
		put(c, "now")
	}
	if g.t0 < 0 {
		put(0, number(g.t0)+" s")
	}
	if g.t1 > 0 {
		put(g.columns-1, "+"+number(g.t1)+" s")
	}
	return strings.TrimRight(string(line), " ")
}

func coverageLine(f *Frame) string {
	var b strings.Builder
	fmt.Fprintf(&b, "coverage of 95 %%: %s", percent(f.Pooled))
	for _, c := range f.Coverage {
		fmt.Fprintf(&b, "   %s s %s", number(c.Horizon), percent(c))
	}
	return b.String()
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// number prints a value with three figures.
func number(v float64) string {
	a := math.Abs(v)
	switch {
	case a < 5e-7:
		return "0"
	case a >= 1e5 || a < 1e-3:
		return strconv.FormatFloat(v, 'e', 1, 64)
	}
	d := min(max(2-int(math.Floor(math.Log10(a))), 0), 4)
	s := strconv.FormatFloat(v, 'f', d, 64)
	for d > 0 && s[len(s)-1] == '0' {
		s, d = s[:len(s)-1], d-1
	}
	if s[len(s)-1] == '.' {
		s = s[:len(s)-1]
	}
	return s
}

// percent prints a share, or a dash while there is none.
func percent(c Coverage) string {
	if c.Total == 0 {
		return "-"
	}
	return strconv.FormatFloat(100*c.Share(), 'f', 1, 64) + " %"
}

func millis(s float64) string { return strconv.FormatFloat(1e3*s, 'f', 2, 64) + " ms" }

func elapsed(f *Frame) string {
	if f.Total > 0 {
		return fmt.Sprintf("%.0f of %.0f s", f.Elapsed, f.Total)
	}
	return fmt.Sprintf("%.0f s", f.Elapsed)
}

// clip cuts plain text to a width.
func clip(s string, columns int) string {
	if utf8.RuneCountInString(s) <= columns {
		return s
	}
	return string([]rune(s)[:columns-1]) + "…"
}

// Frame is the content of the picture at one time.
type Frame struct {
	Title   string  // the robot and what it does
	Elapsed float64 // s since the start
	Total   float64 // s it will run; 0 = until stopped

	Note string // (optional) a line below

	Channel, Unit string
	Bands         []Band   // drawn one over the other, on one time axis
	Measured      []Sample // the measurements, on the same axis

	Coverage  []Coverage // of the 95 % interval, by horizon
	Pooled    Coverage   // over all horizons and channels
	P50, P99  float64    // s, state out to prediction in
	Rate      float64    // predictions per second
	Predicted int        // predictions so far
	Missing   int        // states without one
	Overdue   int        // that arrived after the next state
}

// Band is a prediction of the channel.
type Band struct {
	T            []float64 // s from now; before now is negative
	Mean, Lo, Hi []float64
}

// Sample is a measured value.
type Sample struct{ T, Value float64 }

// Coverage counts how many measurements fell into the interval.
type Coverage struct {
	Horizon       float64 // s
	Inside, Total int
}

// Share returns the share inside, 0 to 1.
func (c Coverage) Share() float64 {
	if c.Total == 0 {
		return 0
	}
	return float64(c.Inside) / float64(c.Total)
}
