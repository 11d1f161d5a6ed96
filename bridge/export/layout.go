package export

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// plot is one picture: a channel as it was measured, and its band.
type plot struct {
	title  string
	curves []curve
}

// curve is one line of a plot.
type curve struct {
	topic string
	path  []string // field and part
	color string
}

// The colours: measurements dark, the mean red, the band light.
const (
	measured = "#1f3b5c"
	mean     = "#d62728"
	edge     = "#f2a0a0"
	command  = "#2ca02c"
)

// plots are one for each state, with the band at the longest horizon, and one for
// all inputs.
func plots(h *flightlog.Header, as Schema, horizon string) (out []plot) {
	root := "/dgm/" + h.Vehicle + "/"
	named := func(all []channel.Channel) []string {
		if as == JSON {
			return channel.Names(all)
		}
		return rosNames(channel.Names(all))
	}
	states := channel.Select(h.Channels, channel.State)
	for i, f := range named(states) {
		p := plot{title: title(states[i]), curves: []curve{{root + "state", []string{f}, measured}}}
		if horizon != "" {
			for k, part := range bands {
				color := edge
				if k == 0 {
					color = mean
				}
				p.curves = append(p.curves, curve{root + "predict/" + horizon, []string{f, part}, color})
			}
		}
		out = append(out, p)
	}
	if inputs := channel.Select(h.Channels, channel.Input); len(inputs) > 0 {
		p := plot{title: "inputs"}
		for _, f := range named(inputs) {
			p.curves = append(p.curves, curve{root + "input", []string{f}, command})
		}
		out = append(out, p)
	}
	return out
}

func title(c channel.Channel) string {
	if c.Unit == "" {
		return c.Name
	}
	return c.Name + " [" + c.Unit + "]"
}

// FoxgloveLayout returns a layout for Foxglove, to be imported there: a plot for
// each state with its band at a horizon, as "500ms", or without where that is "".
func FoxgloveLayout(h *flightlog.Header, as Schema, horizon string) []byte {
	type path struct {
		Value           string  `json:"value"`
		Enabled         bool    `json:"enabled"`
		TimestampMethod string  `json:"timestampMethod"`
		Color           string  `json:"color"`
		LineSize        float64 `json:"lineSize"`
		ShowLine        bool    `json:"showLine"`
	}
	configs := map[string]any{}
	var ids []string
	for i, p := range plots(h, as, horizon) {
		var paths []path
		for _, c := range p.curves {
			paths = append(paths, path{Value: c.topic + "." + strings.Join(c.path, "."), Enabled: true, TimestampMethod: "receiveTime", Color: c.color, LineSize: 1.5, ShowLine: true})
		}
		id := fmt.Sprintf("Plot!dgm%d", i)
		ids = append(ids, id)
		configs[id] = map[string]any{"title": p.title, "foxglovePanelTitle": p.title, "paths": paths, "isSynced": true, "showLegend": false,
			"showXAxisLabels": true, "showYAxisLabels": true, "legendDisplay": "floating", "xAxisVal": "timestamp"}
	}
	text, err := json.MarshalIndent(map[string]any{
		"configById": configs, "globalVariables": map[string]any{}, "userNodes": map[string]any{},
		"playbackConfig": map[string]any{"speed": 1}, "layout": mosaic(ids, 0),
	}, "", "  ")
	if err != nil {
		panic("export: a layout that is no JSON")
	}
	return append(text, '\n')
}

// mosaic divides the window among panels, alternately below and beside each other.
func mosaic(ids []string, depth int) any {
	if len(ids) == 1 {
		return ids[0]
	}
	direction := []string{"column", "row"}[depth%2]
	half := (len(ids) + 1) / 2
	return map[string]any{"direction": direction, "first": mosaic(ids[:half], depth+1), "second": mosaic(ids[half:], depth+1), "splitPercentage": 100 * float64(half) / float64(len(ids))}
}

// element is one of XML.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Elements []element  `xml:",any"`
}

// newElement returns an element with attributes, each a name and a value.
func newElement(name string, elements []element, attrs ...string) element {
	e := element{XMLName: xml.Name{Local: name}, Elements: elements}
	for i := 0; i < len(attrs); i += 2 {
		e.Attrs = append(e.Attrs, xml.Attr{Name: xml.Name{Local: attrs[i]}, Value: attrs[i+1]})
	}
	return e
}

// PlotJugglerLayout returns a layout for PlotJuggler.
func PlotJugglerLayout(h *flightlog.Header, as Schema, horizon string) []byte {
	var tabs []element
	const perTab = 4
	for part := range slices.Chunk(plots(h, as, horizon), perTab) {
		var areas []element
		for _, p := range part {
			var curves []element
			for _, c := range p.curves {
				curves = append(curves, newElement("curve", nil, "name", c.topic+"/"+strings.Join(c.path, "/"), "color", c.color))
			}
			plot := newElement("plot", curves, "mode", "TimeSeries", "style", "Lines")
			areas = append(areas, newElement("DockArea", []element{plot}, "name", p.title))
		}
		n := len(part)
		sizes := strings.TrimSuffix(strings.Repeat(fmt.Sprintf("%.6f;", 1/float64(n)), n), ";")
		splitter := newElement("DockSplitter", areas, "orientation", "-", "sizes", sizes, "count", strconv.Itoa(n))
		container := newElement("Container", []element{splitter})
		tabs = append(tabs, newElement("Tab", []element{container}, "tab_name", part[0].title, "containers", "1"))
	}
	widget := newElement("tabbed_widget", tabs, "name", "Main Window", "parent", "main_window")
	root := newElement("root", []element{widget})
	text, err := xml.MarshalIndent(&root, "", "  ")
	if err != nil {
		panic("export: a layout that is no XML")
	}
	return append([]byte(xml.Header), append(text, '\n')...)
}
