package evaluate

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
)

// Recovered returns the time since the start of a flight, s, at which the CRPS over that without
// adaptation comes within 20 % of what it is from 10 s on; of a shorter flight, at its end. Where nothing was
// scored it is NaN.
func (a *Adapted) Recovered() float64 {
	from, crps := a.CRPSSince()
	return Recovered(from, crps)
}

// CRPSSince returns when the parts of Since begin, s, and their CRPS over that without adaptation.
func (a *Adapted) CRPSSince() (from, crps []float64) {
	for i := range a.Since {
		from, crps = append(from, a.Since[i].From), append(crps, a.Since[i].CRPS)
	}
	return from, crps
}

// Recovered is Adapted.Recovered of parts that begin at from, s.
func Recovered(from, crps []float64) float64 {
	if len(from) == 0 {
		return math.NaN()
	}
	end, n := 0.0, 0.0
	last := from[len(from)-1]
	for i, t := range from {
		if t >= math.Min(10, last) {
			end, n = end+math.Log(crps[i]), n+1
		}
	}
	for i, t := range from {
		if math.Log(crps[i]) <= end/n+math.Log(1.2) {
			return t
		}
	}
	return last
}

// Brief states in one sentence what adaptation brings.
func (a *Adapted) Brief() string {
	return fmt.Sprintf("Adaptation in flight, with nothing learned at the start: %s, CRPS × %.2f, intervals of %.2f times the width cover %.1f %%.",
		RelativeRMSE(a.RMSE), a.CRPS, a.Width, 100*a.Coverage95)
}

// WriteText writes the ratios by time since the start of a flight, and what was learned.
func (a *Adapted) WriteText(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "adaptation\twindows\trmse ×\tcrps ×\twidth ×\tin 95%\tworst\tfactor alone: crps ×\twidth ×\tin 95%\tworst\t")
	line := func(name string, n int, r, f *Ratios) {
		fmt.Fprintf(w, "%s\t%d\t%.3f\t%.3f\t%.2f\t%.3f\t%.2f\t%.3f\t%.2f\t%.3f\t%.2f\t\n", name, n, r.RMSE, r.CRPS, r.Width, r.Coverage95, r.Worst, f.CRPS, f.Width, f.Coverage95, f.Worst)
	}
	n := 0
	for i := range a.Since {
		s := &a.Since[i]
		name := fmt.Sprintf("%g-%g s", s.From, s.To)
		if s.To == 0 {
			name = fmt.Sprintf("from %g s", s.From)
		}
		line(name, s.N, &s.Ratios, &s.Factor)
		n += s.N
	}
	line("all", n, &a.Ratios, &a.Factor)
	if err := w.Flush(); err != nil {
		return err
	}
	var learned []string
	for _, m := range a.Amounts {
		if math.Abs(m.Value) > 2*m.Std {
			learned = append(learned, fmt.Sprintf("%s %.3g ± %.2g %s", m.Name, m.Value, m.Std, m.Unit))
		}
	}
	if learned == nil {
		learned = []string{"nothing beyond two standard deviations"}
	}
	_, err := fmt.Fprintf(out, "learned at the end: %s\n", strings.Join(learned, ", "))
	return err
}
