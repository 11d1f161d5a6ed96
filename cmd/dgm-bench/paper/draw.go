package paper

import "github.com/dgm-robotics/dgm/trainer/plot"

// chart draws the log likelihood of every seed beside the paper's mean and
// standard deviation, set by set.
func chart(title string, rows []row, seeds [][]*result) ([]byte, error) {
	c := plot.Chart{
		Title: title, XLabel: "", YLabel: "log likelihood of the truth",
		XMin: 0.5, XMax: float64(len(rows)) + 0.5,
		Description: "Log likelihood of the true states for every seed, the paper's mean and standard deviation beside it.",
	}
	ours := plot.Line{Name: "each seed", Color: plot.Model, Dots: true}
	for i, r := range rows {
		x := float64(i + 1)
		for _, s := range seeds[i] {
			ours.X, ours.Y = append(ours.X, x), append(ours.Y, s.LogLik)
		}
		name := ""
		if i == 0 {
			name = "the paper, ± its standard deviation"
		}
		c.Ribbons = append(c.Ribbons, plot.Ribbon{
			Name: name, X: []float64{x - 0.3, x + 0.3}, Color: plot.Velocity, Opacity: 0.4,
			Low:  []float64{r.set.paper[0] - r.set.paper[1], r.set.paper[0] - r.set.paper[1]},
			High: []float64{r.set.paper[0] + r.set.paper[1], r.set.paper[0] + r.set.paper[1]},
		})
		c.Lines = append(c.Lines, plot.Line{X: []float64{x - 0.3, x + 0.3}, Y: []float64{r.mean, r.mean}, Color: plot.Model})
		c.XLabel += r.set.label + "     "
	}
	c.Lines = append(c.Lines, ours)
	return c.SVG()
}
