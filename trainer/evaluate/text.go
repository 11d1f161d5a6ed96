package evaluate

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// WriteText writes the table for people, aligned, one line a horizon and channel.
func (t *Table) WriteText(w io.Writer) error {
	intervals := "of a measurement (obs_std)"
	if t.Truth {
		intervals = "of the state (std)"
	}
	fmt.Fprintf(w, "model     %s (%s, vehicle %s)\n", t.Model, t.ModelID, t.Vehicle)
	if t.EvaluatedID != "" {
		fmt.Fprintf(w, "judged    before it had seen these data (%s)\n", t.EvaluatedID)
	}
	fmt.Fprintf(w, "log       %s: %d windows, %s s apart or more\n", t.Log, t.Windows, short(t.Stride))
	if t.Excluded > 0 {
		fmt.Fprintf(w, "left out  %.2g %% of its values, which the data check finds wrong\n", 100*t.Excluded)
	}
	fmt.Fprintf(w, "inputs    %s\n", t.Inputs)
	if t.StartNoise > 0 {
		told := "; its covariance came with it"
		if !t.StartCovGiven {
			told = "; nobody told the model"
		}
		fmt.Fprintf(w, "start     %s times the sensors' noise was added to every start state%s\n", short(t.StartNoise), told)
	}
	fmt.Fprintf(w, "intervals %s\n\n", intervals)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "after\tchannel\tunit\trmse\thold\tvelocity\tlinear\tin 50%\tin 90%\tin 95%\t[low, high]\tstd\tcrps\tloglik\tood\t")
	for _, h := range t.Horizons {
		for _, c := range h.Channels {
			fmt.Fprintf(tab, "%s s\t%s\t%s\t%s\t%s\t%s\t%s\t%.3f\t%.3f\t%.3f\t[%.3f, %.3f]\t%s\t%s\t%.2f\t%.2f\t\n",
				short(h.T), c.Name, c.Unit, short(c.RMSE), short(c.Hold), short(c.Velocity), short(c.Linear),
				c.Coverage50, c.Coverage90, c.Coverage95, c.Coverage95Low, c.Coverage95High, short(c.Std), short(c.CRPS), c.LogLik, c.OOD)
		}
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, h := range t.Horizons {
		fmt.Fprintf(w, "after %s s the 95 %% intervals held %.1f %% [%.1f, %.1f], mean over channels\n",
			short(h.T), 100*h.Coverage95, 100*h.Coverage95Low, 100*h.Coverage95High)
	}
	for _, h := range t.Horizons {
		if a := h.Attitude; a != nil {
			fmt.Fprintf(w, "after %s s the attitude (%s) was off by an angle of %s rad, root mean square: hold %s, velocity %s, linear %s\n",
				short(h.T), strings.Join(t.Attitude, ", "), short(a.RMSE), short(a.Hold), short(a.Velocity), short(a.Linear))
		}
	}
	_, err := fmt.Fprintf(w, "error over that of holding the last value, geometric mean: model %s, velocity %s, linear %s\n%s %s\n",
		short(t.Geo.Model), short(t.Geo.Velocity), short(t.Geo.Linear), t.Verdict(), t.coverageText())
	return err
}

// Of two errors the model's counts as better or worse beyond these ratios; between
// them nobody could tell.
const (
	clearly = 0.97
	worse   = 1.03
)

// The 95 % intervals of a horizon count as too narrow or too wide where all of the
// interval of their coverage lies below or above these shares.
const (
	narrow = 0.93
	wide   = 0.98
)

// Verdict says in one line whether the model beats the simple predictors.
func (t *Table) Verdict() string {
	ratio, name := t.bestBaseline()
	line := ""
	switch {
	case ratio <= clearly:
		line = fmt.Sprintf("The model beats the best simple predictor, %s: %.3g times its error.", name, ratio)
	case ratio < worse:
		line = fmt.Sprintf("The model is no better than the best simple predictor, %s: %.3g times its error.", name, ratio)
	default:
		line = fmt.Sprintf("A simple predictor beats the model: %s has %.3g times its error.", name, 1/ratio)
	}
	return line + t.worseChannels()
}

// worseChannels tells of the channels of which a simple predictor is better at some horizon;
// empty if there is none.
func (t *Table) worseChannels() string {
	const most = 4
	var all []ChannelRatio
	for _, l := range t.WorstRatios() {
		if l.Ratio > telling {
			all = append(all, l)
		}
	}
	if len(all) == 0 {
		return ""
	}
	var names []string
	for _, l := range all[:min(len(all), most)] {
		names = append(names, fmt.Sprintf("%s (after %s s %.2g times the error of %s)", l.Channel, short(l.T), l.Ratio, l.Predictor))
	}
	if more := len(all) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return " It loses on " + strings.Join(names, ", ") + "."
}

// telling is from what ratio on a channel on which the model loses is spoken of.
const telling = 1.05

// ChannelRatio is how far the model is behind the best simple predictor of a channel.
type ChannelRatio struct {
	Channel   string
	T         float64 // s, the horizon at which it is farthest
	Ratio     float64 // of the errors
	Predictor string
}

// WorstRatios returns for every channel the horizon at which the model's error is largest over
// that of the best simple predictor, the largest first.
func (t *Table) WorstRatios() (all []ChannelRatio) {
	at := map[string]int{}
	for _, h := range t.Horizons {
		for _, c := range h.Channels {
			l := ChannelRatio{c.Name, h.T, c.RMSE / c.Hold, "holding the last value"}
			if r := c.RMSE / c.Velocity; r > l.Ratio {
				l.Ratio, l.Predictor = r, "constant velocity"
			}
			if r := c.RMSE / c.Linear; r > l.Ratio {
				l.Ratio, l.Predictor = r, "the linear model"
			}
			i, known := at[c.Name]
			switch {
			case math.IsNaN(l.Ratio) || math.IsInf(l.Ratio, 0): // nothing moved
			case !known:
				at[c.Name] = len(all)
				all = append(all, l)
			case l.Ratio > all[i].Ratio:
				all[i] = l
			}
		}
	}
	slices.SortStableFunc(all, func(a, b ChannelRatio) int { return cmp.Compare(b.Ratio, a.Ratio) })
	return all
}

// Beats reports whether the model's error is clearly less than that of the best
// simple predictor.
func (t *Table) Beats() bool {
	ratio, _ := t.bestBaseline()
	return ratio <= clearly
}

// bestBaseline returns the model's error over that of the best simple predictor, and its name.
func (t *Table) bestBaseline() (ratio float64, name string) {
	best, name := 1.0, "holding the last value"
	if t.Geo.Velocity < best {
		best, name = t.Geo.Velocity, "constant velocity"
	}
	if t.Geo.Linear < best {
		best, name = t.Geo.Linear, "the linear model"
	}
	return t.Geo.Model / best, name
}

// coverageText says in one line whether the intervals hold what they say, and where the
// predictions said themselves that they know little.
func (t *Table) coverageText() string {
	low, high := t.CoverageRange()
	of := "the measurements"
	if t.Truth { // std was judged, against exact states
		of = "the true states"
	}
	line := "Its 95 % intervals held " + Percent(low, high) + " of " + of + ", by horizon"
	// The coverage's own interval decides: a few windows tell little.
	isNarrow, isWide := false, false
	flagged, n := 0.0, 0.0
	for _, h := range t.Horizons {
		isNarrow = isNarrow || h.Coverage95High < narrow
		isWide = isWide || h.Coverage95Low > wide
		for _, c := range h.Channels {
			flagged, n = flagged+c.OOD, n+1
		}
	}
	switch {
	case isNarrow: // at some horizon; that others are wide does not make up for it
		line += ": they are too narrow here"
	case isWide:
		line += ": they are wider than they need to be here"
	}
	return line + fmt.Sprintf("; %s of the predictions called themselves out of distribution.", Percent(flagged/n, flagged/n))
}

// CoverageRange returns the least and the largest share of measurements that the 95 %
// intervals held, by horizon, mean over channels.
func (t *Table) CoverageRange() (low, high float64) {
	low = 1
	for _, h := range t.Horizons {
		low, high = math.Min(low, h.Coverage95), math.Max(high, h.Coverage95)
	}
	return low, high
}

// Percent formats two shares, "93 to 96 %", as one where they round to the same.
func Percent(low, high float64) string {
	a, b := fmt.Sprintf("%.0f", 100*low), fmt.Sprintf("%.0f", 100*high)
	if a == b {
		return a + " %"
	}
	return a + " to " + b + " %"
}

// short formats a number with three digits that count, without an exponent
// where people would not write one.
func short(v float64) string {
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e6) {
		return strconv.FormatFloat(v, 'e', 2, 64)
	}
	if math.Abs(v) >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
