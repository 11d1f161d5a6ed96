package evaluate

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// WriteText writes the table for people: a header, one aligned line a horizon and
// channel, and the coverage of every horizon.
func (t *Table) WriteText(out io.Writer) error {
	w := bufio.NewWriter(out) // keeps the first error
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-9s "+format+"\n", append([]any{name}, args...)...)
	}
	line("model", "%s (%s, vehicle %s)", t.Model, t.ModelID, t.Vehicle)
	if t.EvaluatedID != "" {
		line("evaluated", "the same networks, conditioned without these data (%s)", t.EvaluatedID)
	}
	line("log", "%s: %d windows, at least %s s apart", t.Log, t.Windows, short(t.Stride))
	line("data", "%s", t.Origin())
	if t.NoHistory > 0 {
		line("history", "%d of the windows have less history than the model reads", t.NoHistory)
	}
	for _, row := range t.Horizons {
		if len(row.Interpolated) > 0 {
			line("interpolated", "%s after %g s: their sensors have no sample there", strings.Join(row.Interpolated, ", "), row.T)
		}
	}
	if t.Excluded > 0 {
		line("excluded", "%.2g %% of its values, by the data check", 100*t.Excluded)
	}
	line("inputs", "%s", t.Inputs)
	if t.StartNoise > 0 {
		cov := "given"
		if !t.StartCovGiven {
			cov = "hidden"
		}
		line("start", "noise of %s times the sensors' added to every start state; its covariance is %s", short(t.StartNoise), cov)
	}
	intervals := "of a measurement (obs_std)"
	if t.Truth {
		intervals = "of the state (std)"
	}
	line("intervals", "%s\n", intervals)
	t.writeRows(w)
	for _, h := range t.Horizons {
		fmt.Fprintf(w, "after %s s: 95 %% intervals covered %.1f %% [%.1f, %.1f], mean over channels\n",
			short(h.T), 100*h.Coverage95, 100*h.Coverage95Low, 100*h.Coverage95High)
	}
	if text := t.Tubes(); text != "" {
		fmt.Fprintln(w, text)
	}
	if d := t.Derivatives; d != nil {
		fmt.Fprintf(w, "Median change from sample to sample: Jacobian by the state %s %%, finite differences %s %%; Jacobian by the input %s %%, finite differences %s %%\n",
			short(100*d.State), short(100*d.StateDifferences), short(100*d.Input), short(100*d.InputDifferences))
	}
	for _, h := range t.Horizons {
		if a := h.Attitude; a != nil {
			fmt.Fprintf(w, "after %s s: attitude error (rotation angle of %s) %s rad RMS; hold %s, velocity %s, linear %s, ridge %s\n",
				short(h.T), strings.Join(t.Attitude, ", "), short(a.RMSE), short(a.Hold), short(a.Velocity), short(a.Linear), short(a.Ridge))
		}
	}
	fmt.Fprintf(w, "RMSE over that of holding the last value, geometric mean: model %s, velocity %s, linear %s, ridge %s\n",
		short(t.Geo.Model), short(t.Geo.Velocity), short(t.Geo.Linear), short(t.Geo.Ridge))
	return w.Flush()
}

func (t *Table) writeRows(w io.Writer) {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "after\tchannel\tunit\trmse\thold\tvelocity\tlinear\tridge\tin 50%\tin 90%\tin 95%\t[low, high]\tstd\tcrps\tloglik\tood\t")
	for _, h := range t.Horizons {
		for _, c := range h.Channels {
			fmt.Fprintf(tab, "%s s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.3f\t%.3f\t%.3f\t[%.3f, %.3f]\t%s\t%s\t%.2f\t%.2f\t\n",
				short(h.T), c.Name, c.Unit, short(c.RMSE), short(c.Hold), short(c.Velocity), short(c.Linear), short(c.Ridge),
				c.Coverage50, c.Coverage90, c.Coverage95, c.Coverage95Low, c.Coverage95High, short(c.Std), short(c.CRPS), c.LogLik, c.OOD)
		}
	}
	_ = tab.Flush() // to a writer that keeps its error
	fmt.Fprintln(w)
}

// Tubes states in one sentence how many whole trajectories were inside their tubes; empty
// where that was not scored.
func (t *Table) Tubes() string {
	var parts []string
	for _, level := range model.TubeLevels {
		if of, ok := t.Joint[fmt.Sprint(level)]; ok {
			parts = append(parts, fmt.Sprintf("%g %% tubes (%s standard deviations) covered %s", 100*level, short(of.Factor), Percent(of.Low, of.High)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "Whole trajectories, all states at all times: " + strings.Join(parts, ", ") + "."
}

// RelativeRMSE phrases a ratio of two RMSEs: "66 % lower RMSE".
func RelativeRMSE(ratio float64) string {
	switch percent := math.Round(100 * (ratio - 1)); {
	case percent == 0:
		return "same RMSE"
	case percent < 0:
		return fmt.Sprintf("%.0f %% lower RMSE", -percent)
	default:
		return fmt.Sprintf("%.0f %% higher RMSE", percent)
	}
}

// Brief states in one sentence what the networks add to the prior dynamics.
func (n *Networks) Brief() string {
	if n.BelowNoise() || n.negligible() {
		return n.rank() + "."
	}
	return n.rank() + ": " + RelativeRMSE(n.RMSERatio) + "."
}

// String is Brief with all figures.
func (n *Networks) String() string {
	text := fmt.Sprintf("%s: %s, log likelihood per scalar measurement %.2f instead of %.2f (95 %% interval of the difference %.3f to %.3f).",
		n.rank(), RelativeRMSE(n.RMSERatio), n.LogLik, n.PriorLogLik, n.GainLow, n.GainHigh)
	return strings.ReplaceAll(text, " -", " \u2212")
}

func (n *Networks) rank() string {
	switch {
	case n.BelowNoise():
		return "The networks change the prior dynamics by less than the noise of this evaluation"
	case n.negligible():
		return "The networks change the prior dynamics by a negligible amount"
	case n.GainHigh < 0:
		return "The networks are worse than the prior dynamics alone"
	}
	return "The networks improve on the prior dynamics alone"
}

// negligible reports whether the change is too small to matter, measurable or not.
func (n *Networks) negligible() bool {
	return math.Abs(n.RMSERatio-1) < 0.005 && math.Abs(n.LogLik-n.PriorLogLik) < 0.01
}

// Percent formats two shares, "93 to 96 %", as one where they round to the same.
func Percent(low, high float64) string {
	a, b := fmt.Sprintf("%.0f", 100*low), fmt.Sprintf("%.0f", 100*high)
	if a == b {
		return a + " %"
	}
	return a + " to " + b + " %"
}

// Seconds formats a horizon: "0.5 s".
func Seconds(t float64) string { return short(t) + " s" }

// short formats a number with three significant digits, with an exponent only for very
// small and very large numbers.
func short(v float64) string {
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e6) {
		return strconv.FormatFloat(v, 'e', 2, 64)
	}
	if math.Abs(v) >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
