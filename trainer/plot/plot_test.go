package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
)

func ramp(n int, f func(t float64) float64) (t, y []float64) {
	for i := range n {
		t = append(t, float64(i+1)/float64(n))
		y = append(y, f(t[i]))
	}
	return t, y
}

func prediction() Prediction {
	p := Prediction{Channel: "theta", Unit: "rad"}
	p.T, p.Mean = ramp(100, math.Sin)
	at := func(k float64) []float64 {
		_, y := ramp(100, func(t float64) float64 { return math.Sin(t) + k*t })
		return y
	}
	p.Lo50, p.Hi50, p.Lo95, p.Hi95 = at(-0.1), at(0.1), at(-0.3), at(0.3)
	p.At, p.Measured = ramp(50, math.Sin)
	return p
}

// all draws one of every chart.
func all(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	add := func(name string, c Chart) {
		svg, err := c.SVG()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = svg
	}
	add("band", prediction().Chart())
	T := []float64{0.01, 0.1, 0.5, 1}
	add("errors", Chart{
		Title: "theta", XLabel: "horizon, s", YLabel: WithUnit("RMSE", "rad"), XLog: Logarithmic(T), YLog: true,
		Lines: []Line{
			{Name: "DGM", X: T, Y: []float64{0.001, 0.01, 0.02, 0.03}, Color: Model, Marks: true},
			{Name: "hold", X: T, Y: []float64{0.01, 0.1, 0.5, 1}, Color: Hold, Dash: "2 2.5"},
		},
	})
	add("shares", Chart{
		Title: "Coverage", XLabel: "horizon, s", YLabel: "share", Percent: true, YMax: 1.015, Height: 330,
		Ribbons: []Ribbon{{Name: "interval", X: T, Low: []float64{0.9, 0.9, 0.8, 0.7}, High: []float64{1, 1, 0.9, 0.8}, Color: Model, Opacity: 0.2}},
		Lines:   []Line{{Name: "95 %", X: T, Y: []float64{0.95, 0.95, 0.85, 0.75}, Color: Model, Fade: 0.5}},
		Rules:   []Rule{{Value: 0.95}},
	})
	return out
}

var number = regexp.MustCompile(`-?\d+(\.\d+)?`)

func TestChartsAreWellFormed(t *testing.T) {
	for name, svg := range all(t) {
		d := xml.NewDecoder(bytes.NewReader(svg))
		d.Strict = true
		depth, elements := 0, 0
		for {
			tok, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			switch e := tok.(type) {
			case xml.StartElement:
				if elements == 0 && e.Name.Local != "svg" {
					t.Errorf("%s begins with <%s>", name, e.Name.Local)
				}
				depth++
				elements++
			case xml.EndElement:
				depth--
			}
		}
		if depth != 0 || elements < 20 {
			t.Errorf("%s: %d elements, depth %d at the end", name, elements, depth)
		}
		if strings.Contains(string(svg), "NaN") || strings.Contains(string(svg), "Inf") || strings.Contains(string(svg), clipMark) {
			t.Errorf("%s holds NaN or Inf", name)
		}
		if len(svg) > 60_000 {
			t.Errorf("%s has %d bytes", name, len(svg))
		}
	}
}

func TestAxesHaveUnitsAndLegends(t *testing.T) {
	want := map[string][]string{
		"band":   {"theta, rad", "time after the prediction, s", "95 %", "50 %", "mean", "measured"},
		"errors": {"RMSE, rad", "horizon, s", "hold", "DGM", "0.01"},
		"shares": {"share", "95 %", "interval", "100\u2009%"},
	}
	for name, svg := range all(t) {
		for _, text := range want[name] {
			if !strings.Contains(string(svg), ">"+text+"<") {
				t.Errorf("%s lacks the text %q", name, text)
			}
		}
	}
}

func TestSameChartSameBytes(t *testing.T) {
	a, b := all(t), all(t)
	for name := range a {
		if !bytes.Equal(a[name], b[name]) {
			t.Errorf("%s differs from run to run", name)
		}
	}
}

func TestNotFiniteIsAnError(t *testing.T) {
	p := prediction()
	p.Hi95[3] = math.NaN()
	if _, err := p.Chart().SVG(); err == nil || !strings.Contains(err.Error(), "95 %") {
		t.Errorf("NaN in a band: %v", err)
	}
	if _, err := (Chart{Lines: []Line{{Name: "l", X: []float64{1, 2}, Y: []float64{1}}}}).SVG(); err == nil {
		t.Error("lengths that differ are no error")
	}
	if _, err := (Chart{YLog: true, Lines: []Line{{X: []float64{1}, Y: []float64{-1}}}}).SVG(); err == nil {
		t.Error("a logarithmic axis without positive values is no error")
	}
}

// A point at the end of both axes has to land on the corner of the frame.
func TestPlaces(t *testing.T) {
	c := Chart{XMin: 0, XMax: 10, YMin: -1, YMax: 1, Lines: []Line{{X: []float64{0, 10}, Y: []float64{-1, 1}, Color: Model}}}
	svg, err := c.SVG()
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`stroke-linejoin="round" d="M([0-9.]+) ([0-9.]+)L([0-9.]+) ([0-9.]+)"`).FindStringSubmatch(string(svg))
	axis := regexp.MustCompile(`d="M([0-9.]+) 212L406 212" stroke="#B8C0C8"`).FindStringSubmatch(string(svg))
	if m == nil || axis == nil {
		t.Fatalf("no line or no axis in %s", svg)
	}
	if m[1] != axis[1] {
		t.Errorf("the line begins at x = %s, the axis at %s", m[1], axis[1])
	}
	if m[3] != "406" || m[2] != "212" {
		t.Errorf("the line goes from %s,%s to %s,%s", m[1], m[2], m[3], m[4])
	}
}

func TestTicks(t *testing.T) {
	for _, tc := range []struct {
		a    axis
		n    int
		want string
	}{
		{axis{min: 0, max: 1}, 5, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{axis{min: -3.2, max: 4.9}, 5, "\u22122 0 2 4"},
		{axis{min: 0, max: 30}, 6, "0 5 10 15 20 25 30"},
		{axis{min: 1000, max: 1004}, 5, "1000 1001 1002 1003 1004"},
		{axis{min: 0.008, max: 1.2, log: true}, 5, "0.01 0.02 0.05 0.1 0.2 0.5 1"},
		{axis{min: 0.011, max: 2, log: true}, 5, "0.02 0.05 0.1 0.2 0.5 1 2"},
		{axis{min: 0.0011, max: 0.9, log: true}, 5, "0.002 0.005 0.01 0.02 0.05 0.1 0.2 0.5"},
		{axis{min: 0.00002, max: 3, log: true}, 5, "0.0001 0.001 0.01 0.1 1"},
		{axis{min: 2, max: 4, log: true}, 5, "2.0 2.5 3.0 3.5 4.0"},
	} {
		var got []string
		for _, k := range tc.a.ticks(tc.n) {
			got = append(got, k.label)
		}
		if s := strings.Join(got, " "); s != tc.want {
			t.Errorf("ticks of %+v: %s, want %s", tc.a, s, tc.want)
		}
	}
}

func TestChartsOfOneValueAndOfNone(t *testing.T) {
	for name, c := range map[string]Chart{
		"nothing":   {Title: "empty"},
		"one point": {Lines: []Line{{X: []float64{1}, Y: []float64{5}, Marks: true}}},
		"all alike": {Lines: []Line{{X: []float64{1, 2, 3}, Y: []float64{7, 7, 7}}}},
		"one, log":  {YLog: true, XLog: true, Lines: []Line{{X: []float64{1}, Y: []float64{5}}}},
	} {
		svg, err := c.SVG()
		if err != nil || strings.Contains(string(svg), "NaN") || strings.Contains(string(svg), "Inf") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A band is interrupted where measurements are missing, and has one entry in the legend.
func TestBandsAreInterruptedAtGaps(t *testing.T) {
	p := prediction()
	for i := 40; i < len(p.T); i++ {
		p.T[i] += 2
	}
	c := p.Chart()
	if len(c.Ribbons) != 4 || len(c.Lines) != 3 || len(c.Lines[0].X) != 40 || c.Ribbons[2].Name != "" || c.Lines[1].Name != "" {
		t.Errorf("%d ribbons, %d lines, the first of %d points", len(c.Ribbons), len(c.Lines), len(c.Lines[0].X))
	}
}

func TestLongLinesAreThinned(t *testing.T) {
	x, y := ramp(200_000, math.Sin)
	svg, err := Chart{Lines: []Line{{X: x, Y: y, Color: Model}}}.SVG()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(number.FindAll(svg, -1)); n > 4*mostPoints {
		t.Errorf("%d numbers for one line", n)
	}
}

func TestTextIsEscaped(t *testing.T) {
	svg, err := Chart{Title: `<a & "b">`}.SVG()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(svg), "<a ") {
		t.Error("a title reaches the chart as markup")
	}
}

// Charts on a sheet do not overlap, and the sheet contains them.
func TestSheet(t *testing.T) {
	line := func(title string) Chart {
		return Chart{Title: title, XLabel: "t, s", Lines: []Line{{X: []float64{0, 1}, Y: []float64{0, 2}, Color: Model}}}
	}
	tall := line("tall")
	tall.Height = 400
	svg, err := Sheet("all & more", "of it", [][]Chart{{line("a"), line("b")}, {tall}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">all &amp; more<", ">of it<", ">a<", ">b<", ">tall<", `viewBox="0 0 858 `, `translate(438 `} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("the sheet lacks %q", want)
		}
	}
	var height, top float64
	if _, err := fmt.Sscanf(regexp.MustCompile(`viewBox="0 0 858 [0-9.]+`).FindString(string(svg)), `viewBox="0 0 858 %g`, &height); err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile(`translate\(0 ([0-9.]+)\)`).FindAllStringSubmatch(string(svg), -1)
	if _, err := fmt.Sscan(all[1][1], &top); err != nil || top < 250 || height < top+400 {
		t.Errorf("the second row begins at %v of %v: %v", top, height, err)
	}
	if strings.Count(string(svg), "<g") != strings.Count(string(svg), "</g>") || strings.Count(string(svg), "<clipPath") != 3 {
		t.Error("groups or clips are not closed")
	}
	if _, err := Sheet("", "", [][]Chart{{{Title: "bad", Lines: []Line{{X: []float64{1}}}}}}); err == nil || !strings.Contains(err.Error(), `"bad"`) {
		t.Errorf("a chart that cannot be drawn: %v", err)
	}
}

// Texts are as wide as Helvetica's metrics say, or wider by what other fonts add.
func TestTextWidths(t *testing.T) {
	for text, want := range map[string]float64{"no-intervals": 5.168, "margin-7cm": 5.278, "intervals-adapting": 7.798, "mean": 2.501, "0.05": 1.946} {
		if got := textWidth(text, 1); got < want || got > 1.2*want {
			t.Errorf("%s: %.2f, is %.2f", text, got, want)
		}
	}
}
