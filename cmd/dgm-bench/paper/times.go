package paper

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/trainer/paper"
	"github.com/dgm-robotics/dgm/trainer/plot"
)

// timed is how long one fit of one set took.
type timed struct {
	key
	Rows    int     `json:"rows"`
	Steps   int     `json:"steps"`
	Cores   int     `json:"cores"`
	Free    float64 `json:"seconds_before_matching"` // the steps before derivatives are matched
	Rise    float64 `json:"seconds_rising"`          // while the matching rises
	Whole   float64 `json:"seconds_matching"`        // the rest
	Seconds float64 `json:"seconds"`
}

// timeStudy is the appendix' table of times.
func timeStudy() *study[timed] {
	usual := paper.DefaultSettings().Steps
	steps := usual
	s := &study[timed]{
		name: "time", files: "time", seeds: 1,
		short: "Appendix: seconds of training, by phases and in all",
		long: `time trains one model, as members are but for longer, on each set and tells the seconds of its phases: before derivatives are
matched, while the matching rises, and after. Where results of single and multi are there, the seconds of the
whole recipe stand beside, part by part.`,
	}
	s.flags = func(cmd *cobra.Command) { cmd.Flags().IntVar(&steps, "steps", usual, "steps of the training") }
	s.check = func() error {
		if steps < 1 {
			return cli.Usage("--steps must be at least 1")
		}
		return nil
	}
	s.settings = func() string { return changed("steps", steps, usual) }
	for _, set := range sets() {
		s.sets = append(s.sets, set.name)
	}
	s.run = func(ctx context.Context, _ string, k key) (*timed, error) {
		set := named(k.Set)
		d, err := set.draw(uint64(k.Seed))
		if err != nil {
			return nil, err
		}
		settings := paper.DefaultSettings()
		settings.Steps, settings.Support = steps, paper.DefaultRecipe(d).Support
		began := time.Now()
		fit, err := paper.Train(ctx, d, settings, uint64(k.Seed))
		if err != nil {
			return nil, err
		}
		return &timed{
			key: k, Rows: d.Rows(), Steps: steps, Cores: runtime.GOMAXPROCS(0),
			Free: fit.Seconds[0], Rise: fit.Seconds[1], Whole: fit.Seconds[2], Seconds: time.Since(began).Seconds(),
		}, nil
	}
	s.tell = func(r *timed) string { return fmt.Sprintf("%d steps in %.1f s", r.Steps, r.Seconds) }
	s.sections = timeSections
	return s
}

func timeSections(dir string, all []*timed) ([]section, error) {
	out := section{
		Title: "Time of training",
		Text: "Seconds. One fit: before derivatives are matched, while the matching rises, after, and in all. The recipe: gradient matching of all members, refinement of their dynamics, the smoother that predicts, and in all, mean over the seeds that are there. " +
			"The paper's are of one fit on a GPU.",
		Head: []string{"set", "steps", "cores", "before", "rising", "after", "one fit", "members", "refinement", "smoother", "recipe", "paper"},
	}
	c := plot.Chart{Title: "Seconds of training", YLabel: "s", YLog: true, Description: "Seconds of one fit, of the whole recipe, and the paper's, set by set."}
	ours := plot.Line{Name: "one fit", Color: plot.Model, Dots: true}
	recipes := plot.Line{Name: "the whole recipe", Color: plot.Linear, Dots: true}
	theirs := plot.Line{Name: "the paper, one fit on a GPU", Color: plot.Velocity, Dots: true}
	var tabled []*result
	for _, single := range []bool{true, false} {
		more, err := tables(single).gather(dir)
		if err != nil {
			return nil, err
		}
		tabled = append(tabled, more...)
	}
	by := bySet(tabled)
	for _, set := range sets() {
		row, there := []string{set.label, "", "", "", "", "", ""}, false
		x := float64(len(c.XNames) + 1)
		var own []*timed
		for _, r := range all {
			if r.Set == set.name {
				own = append(own, r)
			}
		}
		if len(own) > 0 {
			there = true
			of := func(f func(*timed) float64) float64 { return mean(values(own, f)) }
			s := of(func(r *timed) float64 { return r.Seconds })
			row = []string{
				set.label, strconv.Itoa(own[0].Steps), strconv.Itoa(own[0].Cores), tenth(of(func(r *timed) float64 { return r.Free })),
				tenth(of(func(r *timed) float64 { return r.Rise })), tenth(of(func(r *timed) float64 { return r.Whole })), tenth(s),
			}
			ours.X, ours.Y = append(ours.X, x), append(ours.Y, s)
		}
		recipe := []string{"", "", "", ""}
		for _, o := range by {
			if o.set.name != set.name {
				continue
			}
			there = true
			s := o.mean(func(r *result) float64 { return r.Seconds })
			recipe = []string{
				whole(o.mean(func(r *result) float64 { return r.Phases.Members })), whole(o.mean(func(r *result) float64 { return r.Phases.Flows })),
				whole(o.mean(func(r *result) float64 { return r.Phases.Smoother })), whole(s),
			}
			recipes.X, recipes.Y = append(recipes.X, x), append(recipes.Y, s)
		}
		if !there {
			continue
		}
		theirs.X, theirs.Y = append(theirs.X, x), append(theirs.Y, set.seconds)
		c.XNames = append(c.XNames, set.label)
		out.Rows = append(out.Rows, append(append(row, recipe...), whole(set.seconds)))
	}
	if len(out.Rows) == 0 {
		return nil, nil
	}
	c.Lines = []plot.Line{theirs, ours, recipes}
	svg, err := c.SVG()
	if err != nil {
		return nil, err
	}
	out.Pictures = []picture{{"time", svg}}
	return []section{out}, nil
}

func tenth(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }
