package evaluate

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
)

// WriteText writes the table for people, aligned, one line a horizon and channel.
func (t *Table) WriteText(w io.Writer) error {
	intervals := "of a measurement (obs_std)"
	if t.Truth {
		intervals = "of the state (std)"
	}
	fmt.Fprintf(w, "model     %s (%s, vehicle %s)\n", t.Model, t.ModelID, t.Vehicle)
	if t.Judged != "" {
		fmt.Fprintf(w, "judged    before it had seen these data (%s)\n", t.Judged)
	}
	fmt.Fprintf(w, "log       %s: %d windows, %s s apart or more\n", t.Log, t.Windows, short(t.Stride))
	fmt.Fprintf(w, "inputs    %s\n", t.Inputs)
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
	_, err := fmt.Fprintf(w, "error over that of holding the last value, geometric mean: model %s, velocity %s, linear %s\n%s\n",
		short(t.Geo.Model), short(t.Geo.Velocity), short(t.Geo.Linear), t.Verdict())
	return err
}

// Verdict says in one line whether the model beats the simple predictors.
func (t *Table) Verdict() string {
	best, name := 1.0, "holding the last value"
	if t.Geo.Velocity < best {
		best, name = t.Geo.Velocity, "constant velocity"
	}
	if t.Geo.Linear < best {
		best, name = t.Geo.Linear, "the linear model"
	}
	if t.Geo.Model <= best {
		return fmt.Sprintf("The model beats the best simple predictor, %s: %.3g times its error.", name, t.Geo.Model/best)
	}
	return fmt.Sprintf("A simple predictor beats the model: %s has %.3g times its error.", name, best/t.Geo.Model)
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
