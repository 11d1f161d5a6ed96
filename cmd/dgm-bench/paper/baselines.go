package paper

import (
	"context"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/paper"
)

// rates of samplers: a, b and γ of SGLD, learning rate and momentum decay of SGHMC.
type rates struct{ a, b, gamma, eta, alpha float64 }

// walk returns what makes the steps of a chain, "sgld" or "sghmc".
func (r rates) walk(method string) func() paper.Walk {
	if method == "sghmc" {
		return func() paper.Walk { return paper.SGHMC(r.eta, r.alpha) }
	}
	return func() paper.Walk { return paper.SGLD(r.a, r.b, r.gamma) }
}

// paperRates are those that the paper found best, by the truth, for nets. For the
// quadrocopter it found none for SGLD; these are the smallest of its grid.
var paperRates = map[string]rates{
	"lv1": {0.005, 1.5, 0.7, 5e-7, 0.5},
	"lo1": {0.001, 1.5, 0.55, 5e-6, 0.1},
	"dp1": {0.01, 2, 0.55, 1e-6, 0.05},
	"qu1": {0.0001, 2, 0.99, 5e-7, 0.05},
}

// The paper's log likelihoods of sampled neural ODEs, and of neural ODE processes on unseen
// starts.
var (
	paperSampled = map[string]map[string]string{
		"sghmc": {"lv1": "1.36 ± 0.07", "lo1": "-3.02 ± 0.16", "dp1": "1.88 ± 0.05", "qu1": "-5.00 ± 1.36"},
		"sgld":  {"lv1": "1.03 ± 0.06", "lo1": "-2.67 ± 0.37", "dp1": "1.85 ± 0.05", "qu1": "NaN"},
	}
	paperNDP = map[string]string{"lv100": "0.62 ± 0.27", "lo125": "-2.85 ± 0.05", "dp100": "0.88 ± 0.05", "qu64": "-0.91 ± 0.07"}
)

// baselinesStudy samples the weights of neural ODEs.
func baselinesStudy() *study.Study {
	c := newChains(6, 10000)
	return &study.Study{
		Name: "baselines", Seeds: 3, Sets: names((*set).single), Kinds: []string{"sgld", "sghmc"}, Needs: []string{"weights"}, Summary: sampledSummary,
		Short: "Tables 1 and 2: SGLD and SGHMC on neural ODEs, NDP as the paper has it",
		Long: `baselines samples the weights of neural ODEs (two hidden layers of 20) by stochastic gradient Langevin dynamics
and by stochastic gradient Hamiltonian Monte Carlo, with the paper's priors, which are centred on nets that were
trained on the true derivatives, and the rates that it chose by the truth. Gradients come from the integrator, step
by step backwards. A chain that becomes NaN makes its seed NaN. Neural ODE processes are quoted from the paper.`,
		Numbers: c.flags(), Check: c.check, Tables: baselineTables,
		Run: func(ctx context.Context, u *study.Unit) error {
			set := named(u.Set)
			net, loss, err := set.pretrained([]int{20, 20}, mlp.Sigmoid, true, c.pretraining, 1e-5, u.Seed)
			if err != nil {
				return err
			}
			b := &paper.Bayes{Net: net, Sigma: 1, Step: 0.1, Prior: slices.Repeat([]float64{0.1}, net.Params())}
			u.Put("pretraining_loss", study.Short(3, loss)[0]).Put("prior_std", 0.1)
			return set.sample(ctx, u, b, paperRates[u.Set].walk(u.Variant), c.Chains)
		},
	}
}

func baselineTables(all *study.Results, rows []*study.Row) ([]study.Table, error) {
	stored, err := ofTables(all)
	if err != nil {
		return nil, err
	}
	here := study.ForSet("DGM here", func(name string) string { return likelihoodOf(stored, name, "") })
	theirs := published
	theirs.Head = "DGM, paper"
	t := study.Table{
		Name: "baselines", Title: "Sampled neural ODEs", Groups: study.GroupBy(rows, study.BySet),
		Text: "SGLD and SGHMC with the paper's priors (centred on nets that know the true derivatives) and rates (chosen by the truth), scored on the true trajectory without its start. " +
			"NaN: a chain, or the integration of a sample, did not stay finite. DGM is the table of single trajectories, which knows nothing of the truth, on seeds of its own. R-hat far above 1: chains have not converged.",
		Columns: []study.Column{
			label, {Head: "method", Cell: func(g study.Group) string { return strings.ToUpper(g[0].Variant) }}, study.Count("seeds"), sampledLogLik, notFinite, study.MeanOf("coverage 95", "scores.coverage95", 2),
			rHat, lostChains, study.MeanOf("seconds", "seconds", 0), {Head: "paper", Cell: func(g study.Group) string { return paperSampled[g[0].Variant][g[0].Set] }}, here, theirs,
		},
	}
	sortBy(t.Groups, func(g study.Group) float64 {
		return float64(2*placeOf(g[0].Set) + strings.Index("sghmc", g[0].Variant))
	})
	ndp := study.Table{
		Name: "ndp", Title: "Neural ODE processes", Text: "Quoted from the paper's Table 2, not run here.",
		Columns: []study.Column{label, study.ForSet("NDP, paper", func(name string) string { return paperNDP[name] }), theirs, here},
	}
	for _, name := range tables(false).Sets {
		ndp.Groups = append(ndp.Groups, study.Group{study.NewRow(study.Key{Set: name})})
	}
	return []study.Table{t, ndp}, nil
}
