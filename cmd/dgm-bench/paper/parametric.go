package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/trainer/paper"
)

// guessed is the standard deviation of the logarithm of a guess: a factor of two.
var guessed = math.Log(2)

// exactly known constants of a plant: the paper's double pendulum leaves its mass and length
// unknown, which are what its gravity leaves open.
var exactly = map[string]string{"dp1": "g"}

// hiddenResidual is the hidden layer of the net beside a known field.
const hiddenResidual = 10

func parametricStudy() *study.Study {
	members := 2
	return &study.Study{
		Name: "parametric", Seeds: 5, From: unseen, Version: always, Sets: []string{"lv1", "lo1", "dp1", "qu1", "lv100"}, Kinds: []string{"known", "residual"},
		Needs: []string{"loglik", "cramer_rao", "error", "spread"}, Summary: []string{"loglik", "refined.loglik", "cramer_rao", "seconds"}, Tables: parametricTables,
		Short: "Appendix: the field is known except for its parameters, and a net beside it",
		Long: `parametric learns with the plant's own field, whose parameters are unknown, in the place of a net. It gets a
guess of each that is wrong by up to a factor of two, drawn anew for each seed. The smoother's derivatives give
the first parameters; shooting by Gauss and Newton's method refines them, Laplace's approximation gives their
covariance, and the smoother is distilled from the field. The log likelihood of the field itself, integrated,
is beside what the Cramér-Rao bound lets one expect of it. Variant residual adds a net to the field.`,
		Numbers: []study.Flag{{Name: "members", Usage: "smoothers to start from", Value: &members, Least: 1, Changes: true}},
		Run:     func(ctx context.Context, u *study.Unit) error { return named(u.Set).learnKnown(ctx, u, members) },
	}
}

func (s *set) learnKnown(ctx context.Context, u *study.Unit, members int) error {
	known := s.known(uint64(u.Seed))
	m, err := s.follow(ctx, u, func(r *paper.Recipe) {
		r.Members, r.Known = members, known
		if u.Variant == "residual" {
			r.Residual = []int{hiddenResidual}
		}
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
	bound, err := s.cramerRao(known, m.on)
	if err != nil {
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
	u.Put("cramer_rao", bound).Put("parameters", free).Put("error", wrong).Put("spread", width).Put("start", start)
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
	var info mat.SymDense
	for i, sd := range known.Spread {
		if sd > 0 {
			free = append(free, i)
		}
	}
	P, K := len(free), len(s.plant.States)
	info.ReuseAsSym(P)
	for a, i := range free {
		info.SetSym(a, a, 1/(known.Spread[i]*known.Spread[i]))
	}
	// each calls f with the derivatives of every state along trajectories.
	each := func(starts [][]float64, times []float64, f func(state int, at float64, row *mat.VecDense)) error {
		for _, x0 := range starts {
			J, err := s.byParameters(free, x0, times)
			if err != nil {
				return err
			}
			for r := range len(times) * K {
				f(r%K, times[r/K], mat.NewVecDense(P, J[r*P:(r+1)*P]))
			}
		}
		return nil
	}
	err := each(s.starts, span(s.end, s.points), func(state int, _ float64, row *mat.VecDense) {
		info.SymRankOne(&info, 1/(s.plant.Noise[state]*s.plant.Noise[state]), row)
	})
	if err != nil {
		return 0, err
	}
	var chol mat.Cholesky
	if !chol.Factorize(&info) {
		return 0, fmt.Errorf("%s: the data do not determine the parameters", s.label)
	}
	sum, n := 0.0, 0.0
	var solved mat.VecDense
	err = each(on.starts, on.times, func(_ int, at float64, row *mat.VecDense) {
		if at > 0 && chol.SolveVecTo(&solved, row) == nil {
			sum += -0.5 - 0.5*math.Log(2*math.Pi*mat.Dot(row, &solved))
			n++
		}
	})
	if err == nil && (math.IsNaN(sum) || math.IsInf(sum, 0)) {
		err = fmt.Errorf("%s: a state does not depend on the parameters", s.label)
	}
	return sum / n, err
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
		Text: "Log likelihood of the truth: of the smoother in closed form, and of the field with refined parameters and Laplace's covariance, integrated, without the start; beside it what the Cramér-Rao bound lets one expect. " +
			"The error of the parameters is the root mean square of the logarithm of found over true, the median over seeds, over those that the data determine (to a fifth, by their own standard deviation); guesses are wrong by up to a factor of two. A field that is refined to one noise may be above what the bound lets one expect. The paper's SGLD and SGHMC have priors around the true parameters. The quadrocopter determines inertias and arms up to a common factor only; the double pendulum's gravity is known.",
		Columns: []study.Column{
			label, study.Count("seeds"), {Head: "net", Cell: func(g study.Group) string { return map[string]string{"residual": "yes"}[g[0].Variant] }},
			study.SpreadOf("closed form", "loglik"), study.MeanOf("coverage 95", "coverage95", 2), {Head: "refined", Cell: refinedText}, study.MeanOf("coverage 95", "refined.coverage95", 2), study.MeanOf("Cramér-Rao", "cramer_rao", 2),
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
