package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/trainer/paper"
)

// guessed is the standard deviation of the logarithm of a guess: a factor of two.
var guessed = math.Log(2)

// exactly known constants of a plant: the paper's double pendulum leaves its mass and length
// unknown, which are what its gravity leaves open.
var exactly = map[string]string{"dp1": "g"}

func parametricStudy() *study.Study {
	members := 2
	return &study.Study{
		Name: "parametric", Seeds: 5, From: unseen, Version: always, Sets: []string{"lv1", "lo1", "dp1", "qu1", "lv100"}, Kinds: []string{"known"},
		Needs: []string{"loglik", "error", "spread"}, Summary: []string{"loglik", "refined.loglik", "seconds"}, Tables: parametricTables,
		Short: "Appendix: the field is known except for its parameters, and a net beside it",
		Long: `parametric learns with the plant's own field, whose parameters are unknown, in the place of a net. It gets a
guess of each that is wrong by up to a factor of two, drawn anew for each seed. The smoother's derivatives give
the first parameters; shooting by Gauss and Newton's method refines them, Laplace's approximation gives their
covariance, and the smoother is distilled from the field. Beside its log likelihood is that of the field itself,
integrated.`,
		Numbers: []study.Flag{{Name: "members", Usage: "smoothers to start from", Value: &members, Least: 1, Changes: true}},
		Run:     func(ctx context.Context, u *study.Unit) error { return named(u.Set).learnKnown(ctx, u, members) },
	}
}

func (s *set) learnKnown(ctx context.Context, u *study.Unit, members int) error {
	known := s.known(uint64(u.Seed))
	m, err := s.follow(ctx, u, func(r *paper.Recipe) {
		r.Members, r.Known = members, known
	})
	if err != nil {
		return err
	}
	if _, err := m.on.score(u.Row, "", m.K, sure(m.Predict)); err != nil {
		return err
	}
	if err := m.on.scoreIntegrated(u.Row, "refined.", m.K, m.Integrate); err != nil {
		return err
	}
	truth := s.plant.Values()
	p, spread := m.Flows[0].Parameters()
	var free []string
	var wrong, width, start []float64
	for i, sd := range spread {
		if known.Spread[i] == 0 {
			continue
		}
		free = append(free, s.plant.Params[i].Name)
		wrong = append(wrong, study.Short(4, math.Log(p[i]/truth[i]))...)
		width = append(width, study.Short(4, sd)...)
		start = append(start, study.Short(4, math.Log(known.Guess[i]/truth[i]))...)
	}
	u.Put("parameters", free).Put("error", wrong).Put("spread", width).Put("start", start)
	return nil
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

// The paper's log likelihoods of known fields: DGM, SGLD, SGHMC.
var paperParametric = map[string][3]string{
	"lv1": {"1.98 ± 0.18", "3.07 ± 0.69", "3.06 ± 0.52"}, "lo1": {"-0.52 ± 0.09", "2.01 ± 0.55", "failed"},
	"dp1": {"2.16 ± 0.13", "3.43 ± 0.40", "2.96 ± 0.80"}, "qu1": {"0.71 ± 0.07", "2.42 ± 0.32", "1.38 ± 0.00"},
	"lv100": {"1.85 ± 0.11", "4.28 ± 0.18", "4.26 ± 0.18"},
}

func parametricTables(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
	theirs := func(head string, i int) study.Column {
		return study.ForSet(head, func(name string) string { return paperParametric[name][i] })
	}
	t := study.Table{
		Name: "parametric", Title: "Known fields with unknown parameters", Groups: study.GroupBy(rows, study.BySet),
		Text: "Log likelihood of the truth: of the smoother in closed form, and of the field with refined parameters and Laplace's covariance, integrated, without the start. " +
			"The error of the parameters is the root mean square of the logarithm of found over true, the median over seeds, over those that the data determine (to a fifth, by their own standard deviation); guesses are wrong by up to a factor of two. The paper's SGLD and SGHMC have priors around the true parameters. The quadrocopter determines inertias and arms up to a common factor only; the double pendulum's gravity is known.",
		Columns: []study.Column{
			label, study.Count("seeds"),
			study.SpreadOf("closed form", "loglik"), study.MeanOf("coverage 95", "coverage95", 2), {Head: "refined", Cell: refinedText}, study.MeanOf("coverage 95", "refined.coverage95", 2),
			{Head: "error of parameters", Cell: func(g study.Group) string { e, _ := determined(g); return e }}, {Head: "of", Cell: func(g study.Group) string { _, n := determined(g); return n }},
			study.MeanOf("seconds", "seconds", 0), theirs("paper: DGM", 0), theirs("SGLD", 1), theirs("SGHMC", 2),
		},
	}
	return []study.Table{t}, nil
}

// refinedText is the log likelihood of refined fields, and how many cannot be integrated.
func refinedText(g study.Group) string {
	ll := g.Of("refined.loglik")
	switch lost := len(g) - len(ll); {
	case len(ll) == 0:
		return "cannot be integrated"
	case lost > 0:
		return fmt.Sprintf("%s (%d not integrable)", study.Spread(ll), lost)
	}
	return study.Spread(ll)
}

// determined returns the median over seeds of the error of parameters that the data
// determine, and how many these are.
func determined(g study.Group) (e, n string) {
	var rms []float64
	least, most := math.MaxInt, 0
	for _, r := range g {
		wrong := r.Numbers("error")
		s, m := 0.0, 0
		for i, sd := range r.Numbers("spread") {
			if sd < 0.2 {
				s += wrong[i] * wrong[i]
				m++
			}
		}
		least, most = min(least, m), max(most, m)
		if m > 0 {
			rms = append(rms, math.Sqrt(s/float64(m)))
		}
	}
	of := len(g[0].Texts("parameters"))
	n = fmt.Sprintf("%d of %d", least, of)
	if most > least {
		n = fmt.Sprintf("%d-%d of %d", least, most, of)
	}
	if len(rms) == 0 {
		return "", n
	}
	return fmt.Sprintf("%.2g %%", 100*study.Median(rms)), n
}
