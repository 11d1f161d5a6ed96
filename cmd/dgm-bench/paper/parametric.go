package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/trainer/paper"
	"github.com/dgm-robotics/dgm/trainer/plot"
)

// parametric is a finished seed of a set whose field is known.
type parametric struct {
	key
	scores            // of the smoother, in closed form
	Refined *scores   `json:"refined"` // of the field with the refined parameters and Laplace's covariance, integrated
	Bound   float64   `json:"cramer_rao"`
	Names   []string  `json:"parameters"`
	Error   []float64 `json:"error"`  // log of the value found over the true one
	Spread  []float64 `json:"spread"` // standard deviation that is said of it
	Start   []float64 `json:"start"`  // log of the guess over the true one
	Seconds float64   `json:"seconds"`
	Phases  phases    `json:"phases"`
}

// guessed is the standard deviation of the logarithm of a guess: a factor of two.
var guessed = math.Log(2)

// exactly known constants of a plant: the paper's double pendulum is asked for its
// mass and length, which are what its gravity leaves open.
var exactly = map[string]string{"dp1": "g"}

// hiddenResidual is the hidden layer of the net beside a known field.
const hiddenResidual = 10

// parametricStudy is the appendix' table of known fields.
func parametricStudy() *study[parametric] {
	members := 2
	s := &study[parametric]{
		name: "parametric", files: "parametric", seeds: 5, sets: []string{"lv1", "lo1", "dp1", "qu1", "lv100"}, from: unseen, recipe: always,
		short: "Appendix: the field is known but for its parameters, and a net beside it",
		long: `parametric learns with the plant's own field, whose parameters are unknown, in the place of a net. It is told a
guess of each that is wrong by up to a factor of two, drawn anew for each seed. The smoother's derivatives give
the first parameters; shooting by Gauss and Newton's method refines them, Laplace's approximation gives their
covariance, and the smoother is taught what the field says. The log likelihood of the field itself, integrated,
stands beside what the Cramér-Rao bound lets one expect of it. Variant residual adds a net to the field.`,
		kinds: []string{"known", "residual"},
	}
	s.flags = func(cmd *cobra.Command) { cmd.Flags().IntVar(&members, "members", members, "smoothers to start from") }
	s.check = func() error {
		if members < 1 {
			return cli.Usage("--members must be at least 1")
		}
		return nil
	}
	s.settings = func() string { return changed("members", members, 2) }
	s.run = func(ctx context.Context, _ string, k key) (*parametric, error) {
		set := named(k.Set)
		d, on, err := set.both(k.Seed)
		if err != nil {
			return nil, err
		}
		recipe := paper.DefaultRecipe(d)
		recipe.Members = members
		recipe.Told = toldTo(ctx)
		recipe.Known = set.known(uint64(k.Seed))
		if k.Variant == "residual" {
			recipe.Residual = []int{hiddenResidual}
		}
		began := time.Now()
		m, err := paper.Learn(ctx, d, recipe, uint64(k.Seed))
		if err != nil {
			return nil, err
		}
		r := &parametric{key: k, Seconds: time.Since(began).Seconds(), Phases: phases(m.Took)}
		if r.scores, _, err = on.score(d.K, m.Predict); err != nil {
			return nil, err
		}
		if r.Refined, err = on.integrated(d.K, m.Integrate); err != nil {
			return nil, err
		}
		if r.Bound, err = set.cramerRao(recipe.Known, on); err != nil {
			return nil, err
		}
		truth := set.plant.Values()
		p, spread := m.Flows[0].Parameters()
		for i, sd := range spread {
			if recipe.Known.Spread[i] == 0 {
				continue
			}
			r.Names = append(r.Names, set.plant.Params[i].Name)
			r.Error = append(r.Error, short(4, math.Log(p[i]/truth[i]))...)
			r.Spread = append(r.Spread, short(4, sd)...)
			r.Start = append(r.Start, short(4, math.Log(recipe.Known.Guess[i]/truth[i]))...)
		}
		return r, nil
	}
	s.tell = func(r *parametric) string {
		refined := "cannot be integrated"
		if r.Refined != nil {
			refined = two(r.Refined.LogLik)
		}
		return fmt.Sprintf("log likelihood %.2f, refined %s, Cramér-Rao %.2f", r.LogLik, refined, r.Bound)
	}
	s.sections = parametricSections
	return s
}

// known returns the plant's field with guesses of its parameters that are wrong by up
// to a factor of two.
func (s *set) known(seed uint64) *paper.Known {
	rng := rand.New(rand.NewPCG(seed, 0x6775657373))
	u := s.plant.U0
	k := &paper.Known{
		F:     func(dst, x, p []float64) { s.plant.F(dst, x, u, p) },
		VJP:   func(dx, dp, x, p, g []float64) { s.plant.VJP(dx, nil, dp, x, u, p, g) },
		Guess: s.plant.Values(), Spread: make([]float64, len(s.plant.Params)),
	}
	for i := range k.Guess {
		wrong := math.Exp(guessed * (2*rng.Float64() - 1))
		if s.plant.Params[i].Name != exactly[s.name] {
			k.Guess[i] *= wrong
			k.Spread[i] = guessed
		}
	}
	return k
}

// cramerRao returns what log likelihood to expect of the best estimate of unknown
// parameters: errors of the states are then Gaussian with the covariance J C Jᵀ, where
// C is the inverse of the information in the data and in the guesses,
//
//	C⁻¹ = Σ Jᵀ Σ⁻¹ J + diag 1/spread²      E = −½ − ½ log 2π v
//
// and J holds the derivatives of the states by the logarithms of the parameters. The
// start is left out: it is known.
func (s *set) cramerRao(known *paper.Known, on *trial) (float64, error) {
	var free []int
	for i, sd := range known.Spread {
		if sd > 0 {
			free = append(free, i)
		}
	}
	P, K := len(free), len(s.plant.States)
	info := make([]float64, P*P)
	for a, i := range free {
		info[a*P+a] = 1 / (known.Spread[i] * known.Spread[i])
	}
	times := span(s.end, s.points)
	for _, x0 := range s.starts {
		J, err := s.byParameters(free, x0, times)
		if err != nil {
			return 0, err
		}
		for r := range len(times) * K {
			row := J[r*P : (r+1)*P]
			w := 1 / (s.plant.Noise[r%K] * s.plant.Noise[r%K])
			for a, u := range row {
				for b, v := range row {
					info[a*P+b] += w * u * v
				}
			}
		}
	}
	sum, n := 0.0, 0.0
	for _, x0 := range on.starts {
		J, err := s.byParameters(free, x0, on.times)
		if err != nil {
			return 0, err
		}
		for r := K; r < len(on.times)*K; r++ {
			row := J[r*P : (r+1)*P]
			v := quadratic(info, row)
			if !(v > 0) {
				return 0, fmt.Errorf("%s: parameters do not matter for %s at %v s", s.label, s.plant.States[r%K].Name, on.times[r/K])
			}
			sum += -0.5 - 0.5*math.Log(2*math.Pi*v)
			n++
		}
	}
	return sum / n, nil
}

// byParameters returns the derivatives of the states at times (len(times)·K×P) by the
// logarithms of parameters, as differences.
func (s *set) byParameters(free []int, x0, times []float64) ([]float64, error) {
	// The solution is good to 1e-11, so are its differences to 1e-7.
	const h = 1e-4
	P := len(free)
	J := make([]float64, len(times)*len(x0)*P)
	for a, i := range free {
		for _, side := range []float64{1, -1} {
			moved := *s
			p := s.plant.Values()
			p[i] *= math.Exp(side * h)
			f := s.plant.F
			moved.plant.F = func(dst, x, u, _ []float64) { f(dst, x, u, p) }
			x, err := moved.truth(x0, times)
			if err != nil {
				return nil, err
			}
			for r, v := range x {
				J[r*P+a] += side * v / (2 * h)
			}
		}
	}
	return J, nil
}

// quadratic returns xᵀA⁻¹x for a positive definite A (n×n), by elimination.
func quadratic(A, x []float64) float64 {
	n := len(x)
	a, b := append([]float64(nil), A...), append([]float64(nil), x...)
	sum := 0.0
	for i := range n {
		sum += b[i] * b[i] / a[i*n+i]
		for r := i + 1; r < n; r++ {
			f := a[r*n+i] / a[i*n+i]
			for c := i; c < n; c++ {
				a[r*n+c] -= f * a[i*n+c]
			}
			b[r] -= f * b[i]
		}
	}
	return sum
}

// The paper's log likelihoods of known fields: DGM, SGLD, SGHMC. NaN: it failed.
var paperParametric = map[string][3]string{
	"lv1": {"1.98 ± 0.18", "3.07 ± 0.69", "3.06 ± 0.52"}, "lo1": {"-0.52 ± 0.09", "2.01 ± 0.55", "failed"},
	"dp1": {"2.16 ± 0.13", "3.43 ± 0.40", "2.96 ± 0.80"}, "qu1": {"0.71 ± 0.07", "2.42 ± 0.32", "1.38 ± 0.00"},
	"lv100": {"1.85 ± 0.11", "4.28 ± 0.18", "4.26 ± 0.18"},
}

func parametricSections(_ string, all []*parametric) ([]section, error) {
	table := section{
		Title: "Known fields with unknown parameters",
		Text: "Log likelihood of the truth: of the smoother in closed form, and of the field with refined parameters and Laplace's covariance, integrated, without the start; beside it what the Cramér-Rao bound lets one expect. " +
			"The error of the parameters is the root mean square of the logarithm of found over true, the median over seeds, over those that the data tell (said to be good to a fifth); guesses are wrong by up to a factor of two. A field that is refined to one noise may be above what the bound lets one expect. The paper's SGLD and SGHMC have priors around the true parameters. The quadrocopter tells inertias and arms up to a common factor only, the double pendulum is told its gravity.",
		Head: []string{"set", "seeds", "net", "closed form", "coverage 95", "refined", "coverage 95", "Cramér-Rao", "error of parameters", "of", "seconds", "paper: DGM", "SGLD", "SGHMC"},
	}
	c := plot.Chart{Title: "Known fields: log likelihood of the truth", YLabel: "log likelihood", Description: "For every seed the log likelihood in closed form, of the refined field, and the Cramér-Rao expectation."}
	closed := plot.Line{Name: "closed form", Color: plot.Model, Dots: true}
	refined := plot.Line{Name: "refined", Color: plot.Linear, Dots: true}
	bound := plot.Line{Name: "Cramér-Rao", Color: plot.Alert}
	for _, name := range []string{"lv1", "lo1", "dp1", "qu1", "lv100"} {
		for _, v := range []string{"known", "residual"} {
			var own []*parametric
			for _, r := range all {
				if r.Set == name && r.Variant == v {
					own = append(own, r)
				}
			}
			if len(own) == 0 {
				continue
			}
			set, net := named(name), ""
			if v == "residual" {
				net = "yes"
			}
			var ref, cover []float64
			x := float64(len(c.XNames) + 1)
			for _, r := range own {
				closed.X, closed.Y = append(closed.X, x), append(closed.Y, r.LogLik)
				if r.Refined != nil {
					ref, cover = append(ref, r.Refined.LogLik), append(cover, r.Refined.Coverage95)
					refined.X, refined.Y = append(refined.X, x), append(refined.Y, r.Refined.LogLik)
				}
			}
			b := mean(values(own, func(r *parametric) float64 { return r.Bound }))
			one := plot.Line{X: []float64{x - 0.3, x + 0.3}, Y: []float64{b, b}, Color: plot.Alert}
			if len(bound.X) == 0 {
				bound.X, bound.Y = one.X, one.Y
			}
			c.Lines = append(c.Lines, one)
			if v == "known" {
				c.XNames = append(c.XNames, set.label)
			} else {
				c.XNames = append(c.XNames, "+net")
			}
			refinedText, coverText := "cannot be integrated", ""
			if len(ref) > 0 {
				refinedText, coverText = spread(ref), two(mean(cover))
			}
			if lost := len(own) - len(ref); lost > 0 && len(ref) > 0 {
				refinedText += fmt.Sprintf(" (%d not integrable)", lost)
			}
			e, n := told(own)
			p := paperParametric[name]
			table.Rows = append(table.Rows, []string{
				set.label, strconv.Itoa(len(own)), net, spread(values(own, func(r *parametric) float64 { return r.LogLik })),
				two(mean(values(own, func(r *parametric) float64 { return r.Coverage95 }))), refinedText, coverText, two(b), e, n,
				whole(mean(values(own, func(r *parametric) float64 { return r.Seconds }))), p[0], p[1], p[2],
			})
		}
	}
	c.Lines = append(c.Lines, bound, closed, refined)
	svg, err := c.SVG()
	if err != nil {
		return nil, err
	}
	table.Pictures = []picture{{"parametric", svg}}
	return []section{table}, nil
}

// told returns the median over seeds of the error of parameters that the data tell,
// and how many these are.
func told(all []*parametric) (e, n string) {
	var rms []float64
	least, most := math.MaxInt, 0
	for _, r := range all {
		s, m := 0.0, 0
		for i, sd := range r.Spread {
			if sd < 0.2 {
				s += r.Error[i] * r.Error[i]
				m++
			}
		}
		least, most = min(least, m), max(most, m)
		if m > 0 {
			rms = append(rms, math.Sqrt(s/float64(m)))
		}
	}
	n = fmt.Sprintf("%d of %d", least, len(all[0].Names))
	if most > least {
		n = fmt.Sprintf("%d-%d of %d", least, most, len(all[0].Names))
	}
	if len(rms) == 0 {
		return "", n
	}
	return fmt.Sprintf("%.2g %%", 100*median(rms)), n
}
