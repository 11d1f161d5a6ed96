package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/score"
)

// cell is the coverage of one channel at one horizon.
type cell struct {
	channel       string
	t, coverage   float64
	narrow, wide  bool // outside of meanNarrow … meanWide, and not by chance
	unlikelyAlone bool // off among all cells
}

// coverageAspect judges the coverage of 95 % intervals by horizon, and by channel and horizon.
func coverageAspect(t *evaluate.Table, partial string) aspect {
	low, high := t.CoverageRange()
	a := aspect{level: Use, data: partial == "", sentence: fmt.Sprintf("95 %% intervals covered %s of the %s, by horizon.", evaluate.Percent(low, high), measured(t))}
	care := func(level Level, format string, args ...any) {
		if severity[level] <= severity[a.level] {
			return
		}
		a.level = level
		a.sentence = strings.TrimSuffix(a.sentence, ".") + fmt.Sprintf(format, args...)
		switch n := t.CalibrationFlights; {
		case partial != "":
			a.next = "Train again with a larger budget."
		case t.WholeFlights != nil && *t.WholeFlights:
			a.next = "Record more flights like those to come: the differences between flights determine the width of the intervals."
		case t.WholeFlights == nil && n != nil && *n >= fewFlights:
			a.next = unlike
		default:
			a.next = "Record five flights or more like those to come: the intervals are then calibrated on whole flights."
		}
	}
	tests := float64(len(t.Horizons))
	for _, h := range t.Horizons {
		if off(h.Coverage95, nominal, h.Independent, tests) && h.Coverage95 < meanFails {
			care(No, ": far too narrow after %s.", evaluate.Seconds(h.T))
		}
	}
	cells := cellsOf(t)
	if level, text := narrowestCell(cells); level != Use {
		care(level, "%s", text)
	}
	for _, h := range t.Horizons {
		switch {
		case !off(h.Coverage95, nominal, h.Independent, tests):
		case h.Coverage95 < meanNarrow:
			care(Care, ": too narrow after %s.", evaluate.Seconds(h.T))
		case h.Coverage95 > meanWide:
			care(Care, ": wider than necessary after %s.", evaluate.Seconds(h.T))
		}
	}
	narrow, wide := countOff(cells)
	if n := narrow + wide; float64(n) > mostCells*float64(len(cells)) {
		care(Care, ", but are too narrow at %d and too wide at %d of %d channels and horizons.", narrow, wide, len(cells))
	}
	return a
}

// centreAspect judges the coverage of 50 % intervals by horizon, mean over channels: where the
// 95 % intervals cover what they should and these do not, errors have another shape.
func centreAspect(t *evaluate.Table) aspect {
	for _, h := range t.Horizons {
		mean := 0.0
		for _, c := range h.Channels {
			mean += c.Coverage50 / float64(len(h.Channels))
		}
		if (mean < centreNarrow || mean > centreWide) && off(mean, 0.5, h.Independent, float64(len(t.Horizons))) {
			return aspect{
				Care, fmt.Sprintf("50 %% intervals covered %s of the %s after %s, as a mean over channels.", evaluate.Percent(mean, mean), measured(t), evaluate.Seconds(h.T)),
				"Rely on 95 % intervals only; record four flights or more like those to come.", true,
			}
		}
	}
	return aspect{level: Use}
}

// narrowestCell judges the channel and horizon with the least coverage.
func narrowestCell(cells []cell) (Level, string) {
	c := slices.MinFunc(cells, func(a, b cell) int { return cmp.Compare(a.coverage, b.coverage) })
	if !c.unlikelyAlone || c.coverage >= cellNarrow {
		return Use, ""
	}
	level, others, also := Care, 0, ""
	if c.coverage < cellFails {
		level = No
	}
	for _, o := range cells {
		if o.unlikelyAlone && o.coverage < cellNarrow && o != c {
			others++
		}
	}
	if others > 0 {
		also = fmt.Sprintf(" (and too few at %d more channels and horizons)", others)
	}
	return level, fmt.Sprintf(" as a mean over channels, but only %s of %s after %s%s.", evaluate.Percent(c.coverage, c.coverage), c.channel, evaluate.Seconds(c.t), also)
}

// countOff returns at how many channels and horizons intervals are too narrow, and too wide.
func countOff(cells []cell) (narrow, wide int) {
	for _, c := range cells {
		if c.narrow {
			narrow++
		}
		if c.wide {
			wide++
		}
	}
	return narrow, wide
}

// off reports whether a coverage that so many independent windows have is not that of
// calibrated intervals of the nominal one: whether their coverage would be as far off with less
// than the probability chance, in any of so many tests.
func off(coverage, nominal, independent, tests float64) bool {
	fewer, more := score.Chance((1-coverage)*independent, independent, 1-nominal)
	return math.Min(fewer, more) < chance/2/tests
}

// cellsOf rates the coverage of all channels and horizons.
func cellsOf(t *evaluate.Table) []cell {
	var out []cell
	tests := float64(len(t.Horizons) * len(t.Horizons[0].Channels))
	for _, h := range t.Horizons {
		for _, c := range h.Channels {
			o := cell{channel: c.Name, t: h.T, coverage: c.Coverage95, unlikelyAlone: off(c.Coverage95, nominal, h.Independent, tests)}
			if off(c.Coverage95, nominal, h.Independent, 1) {
				o.narrow, o.wide = c.Coverage95 < meanNarrow, c.Coverage95 > meanWide
			}
			out = append(out, o)
		}
	}
	return out
}

// measured says what the intervals are compared with.
func measured(t *evaluate.Table) string {
	if t.Truth {
		return "true states"
	}
	return map[evaluate.Origin]string{
		evaluate.HeldOut: "held-out measurements", evaluate.TrainedOn: "measurements, which it was trained on",
		evaluate.PartlyTrainedOn: "measurements, a part of which it was trained on", evaluate.Evaluated: "evaluated measurements",
	}[t.Origin()]
}
