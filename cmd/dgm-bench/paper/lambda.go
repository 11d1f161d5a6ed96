package paper

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/trainer/paper"
	"github.com/dgm-robotics/dgm/trainer/plot"
)

// fitted is one finished single fit.
type fitted struct {
	key
	scores
	Error   float64 `json:"rmse_over_noise"`
	Seconds float64 `json:"seconds"`
}

// fit trains one model, as members are but for longer, and scores it.
func (s *set) fit(ctx context.Context, k key, change func(f *paper.Settings)) (*fitted, error) {
	d, on, err := s.both(k.Seed)
	if err != nil {
		return nil, err
	}
	settings := paper.DefaultSettings()
	settings.Support = paper.DefaultRecipe(d).Support
	change(&settings)
	began := time.Now()
	f, err := paper.Train(ctx, d, settings, uint64(k.Seed))
	if err != nil {
		return nil, err
	}
	r := &fitted{key: k, Seconds: time.Since(began).Seconds()}
	var rmse []float64
	if r.scores, rmse, err = on.score(d.K, ofFit(f)); err != nil {
		return nil, err
	}
	r.Error = s.relative(rmse)
	return r, nil
}

func (r *fitted) tell() string {
	return fmt.Sprintf("log likelihood %.2f, coverage of 95 %% %.2f, rmse over noise %.2f, %.0f s", r.LogLik, r.Coverage95, r.Error, r.Seconds)
}

// lambdaStudy is the appendix' figure on the weight of the matching term.
func lambdaStudy() *study[fitted] {
	s := &study[fitted]{
		name: "lambda", files: "lambda", seeds: 3, usual: []string{"lv100"}, side: true,
		short: "Appendix: the weight of the matching term",
		long: `lambda trains single models with the weight of the matching term at powers of two of its default, the number
of observations over that of support points.`,
		tell: (*fitted).tell,
	}
	var powers []int
	for p := -20; p <= 6; p += 2 {
		powers = append(powers, p)
	}
	usual := paper.DefaultSettings().Steps
	steps := usual
	s.flags = func(cmd *cobra.Command) {
		cmd.Flags().IntSliceVar(&powers, "powers", powers, "powers of two")
		cmd.Flags().IntVar(&steps, "steps", usual, "steps of the training")
	}
	s.check = func() error {
		if steps < 1 || len(powers) == 0 || slices.Min(powers) < -60 || slices.Max(powers) > 60 {
			return cli.Usage("--steps must be at least 1 and --powers within -60 … 60")
		}
		return nil
	}
	s.settings = func() string { return changed("steps", steps, usual) }
	for _, set := range sets() {
		s.sets = append(s.sets, set.name)
	}
	s.variants = func() []string {
		var all []string
		for _, p := range powers {
			all = append(all, powerName(p))
		}
		return all
	}
	s.run = func(ctx context.Context, _ string, k key) (*fitted, error) {
		p, err := powerOf(k.Variant)
		if err != nil {
			return nil, err
		}
		return named(k.Set).fit(ctx, k, func(f *paper.Settings) {
			f.Steps = steps
			f.Lambda *= math.Exp2(float64(p))
		})
	}
	s.sections = lambdaSections
	return s
}

// powerName is how a power stands in the name of a file.
func powerName(p int) string {
	if p < 0 {
		return "minus" + strconv.Itoa(-p)
	}
	return "plus" + strconv.Itoa(p)
}

func powerOf(name string) (int, error) {
	if number, ok := strings.CutPrefix(name, "minus"); ok {
		p, err := strconv.Atoi(number)
		return -p, err
	}
	return strconv.Atoi(strings.TrimPrefix(name, "plus"))
}

func lambdaSections(_ string, all []*fitted) ([]section, error) {
	var out []section
	for _, set := range sets() {
		byPower := map[int][]*fitted{}
		for _, r := range all {
			if r.Set == set.name {
				p, err := powerOf(r.Variant)
				if err != nil {
					return nil, err
				}
				byPower[p] = append(byPower[p], r)
			}
		}
		if len(byPower) == 0 {
			continue
		}
		s := section{
			Title: "Weight of the matching term, " + set.label,
			Text:  "Single fits. The weight is a power of two of its default, the number of observations, known starts among them, over that of support points. The paper finds its best at 1.",
			Head:  []string{"weight", "seeds", "log likelihood", "median", "worst", "coverage 95", "rmse / noise"},
		}
		c := plot.Chart{
			Title: s.Title, XLabel: "weight over its default", YLabel: "log likelihood", XLog: true,
			Description: "Log likelihood against the weight of the matching term: median over seeds and the seeds.",
		}
		seeds := plot.Line{Name: "each seed", Color: plot.Hold, Dots: true}
		line := plot.Line{Name: "median; what is below −8 stands at −8", Color: plot.Model, Marks: true}
		powers := make([]int, 0, len(byPower))
		for p := range byPower {
			powers = append(powers, p)
		}
		slices.Sort(powers)
		for _, p := range powers {
			own := byPower[p]
			ll := values(own, func(r *fitted) float64 { return r.LogLik })
			for _, v := range ll {
				seeds.X, seeds.Y = append(seeds.X, math.Exp2(float64(p))), append(seeds.Y, max(v, -8))
			}
			line.X, line.Y = append(line.X, math.Exp2(float64(p))), append(line.Y, max(median(ll), -8))
			s.Rows = append(s.Rows, []string{
				fmt.Sprintf("2^%d", p), strconv.Itoa(len(own)), spread(ll), two(median(ll)), two(slices.Min(ll)),
				two(mean(values(own, func(r *fitted) float64 { return r.Coverage95 }))), two(mean(values(own, func(r *fitted) float64 { return r.Error }))),
			})
		}
		c.Lines = []plot.Line{seeds, line}
		svg, err := c.SVG()
		if err != nil {
			return nil, err
		}
		s.Pictures = []picture{{"lambda-" + set.name, svg}}
		out = append(out, s)
	}
	return out, nil
}
