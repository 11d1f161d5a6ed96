package paper

import (
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
)

// row is a line of the tables: a set over its seeds.
type row struct {
	set                *set
	seeds              int
	mean, std, median  float64 // log likelihood
	worst              float64
	c50, c90, c95      float64 // means over seeds
	rmse               float64 // of the noise, geometric mean over channels, then mean over seeds
	seconds, collapsed float64 // means over seeds
}

// summarise returns the line of one set.
func summarise(s *set, all []*result) row {
	r := row{set: s, seeds: len(all)}
	n := float64(len(all))
	var lls []float64
	for _, a := range all {
		lls = append(lls, a.LogLik)
		r.mean += a.LogLik / n
		r.c50 += a.Coverage50 / n
		r.c90 += a.Coverage90 / n
		r.c95 += a.Coverage95 / n
		r.seconds += a.Seconds / n
		r.collapsed += float64(a.Rerun) / n
		g := 0.0
		for k, e := range a.RMSE {
			g += math.Log(e/s.plant.Noise[k]) / float64(len(a.RMSE))
		}
		r.rmse += math.Exp(g) / n
	}
	for _, l := range lls {
		r.std += (l - r.mean) * (l - r.mean)
	}
	if n > 1 {
		r.std = math.Sqrt(r.std / (n - 1))
	}
	slices.Sort(lls)
	r.worst = lls[0]
	r.median = (lls[(len(lls)-1)/2] + lls[len(lls)/2]) / 2
	return r
}

// print writes the table of rows beside the paper's figures.
func print(w io.Writer, rows []row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "set\tseeds\tlog likelihood\tmedian\tworst\tpaper\treach\tcover 50\t90\t95\trmse/noise\tseconds\t")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%d\t%.2f ± %.2f\t%.2f\t%.2f\t%.2f ± %.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.0f\t\n",
			r.set.label, r.seeds, r.mean, r.std, r.median, r.worst, r.set.paper[0], r.set.paper[1], r.set.reach,
			r.c50, r.c90, r.c95, r.rmse, r.seconds)
	}
	return t.Flush()
}
