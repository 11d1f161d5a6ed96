package paper

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/paper"
	"github.com/dgm-robotics/dgm/trainer/plot"
)

// rates are those that the paper found best, by the truth, for nets: a, b and γ of
// SGLD, learning rate and momentum decay of SGHMC. For the quadrocopter it found none
// for SGLD; what stands here is the gentlest of its grid.
var rates = map[string]struct {
	a, b, gamma float64
	eta, alpha  float64
}{
	"lv1": {0.005, 1.5, 0.7, 5e-7, 0.5},
	"lo1": {0.001, 1.5, 0.55, 5e-6, 0.1},
	"dp1": {0.01, 2, 0.55, 1e-6, 0.05},
	"qu1": {0.0001, 2, 0.99, 5e-7, 0.05},
}

// The paper's log likelihoods of sampled neural ODEs.
var paperSampled = map[string]map[string]string{
	"sghmc": {"lv1": "1.36 ± 0.07", "lo1": "-3.02 ± 0.16", "dp1": "1.88 ± 0.05", "qu1": "-5.00 ± 1.36"},
	"sgld":  {"lv1": "1.03 ± 0.06", "lo1": "-2.67 ± 0.37", "dp1": "1.85 ± 0.05", "qu1": "NaN"},
}

// paperNDP are the paper's log likelihoods of neural ODE processes, on unseen starts.
var paperNDP = []struct{ set, loglik string }{
	{"lv100", "0.62 ± 0.27"}, {"lo125", "-2.85 ± 0.05"}, {"dp100", "0.88 ± 0.05"}, {"qu64", "-0.91 ± 0.07"},
}

// baselinesStudy samples the weights of neural ODEs.
func baselinesStudy() *study[sampled] {
	chains := chainFlags{usual: paper.Chains{Chains: 6, Steps: 10000, Keep: 2000}}
	pretraining := 20000
	s := &study[sampled]{
		name: "baselines", files: "baselines", seeds: 3, sets: []string{"lv1", "lo1", "dp1", "qu1"},
		short: "Tables 1 and 2: SGLD and SGHMC on neural ODEs, NDP as the paper has it",
		long: `baselines samples the weights of neural ODEs (two hidden layers of 20) by stochastic gradient Langevin dynamics
and by stochastic gradient Hamiltonian Monte Carlo, with the paper's priors, which are centred on nets that were
shown the true derivatives, and the rates that it chose by the truth. Gradients come from the integrator, step
by step backwards. A chain that becomes NaN makes its seed NaN. Neural ODE processes are quoted from the paper.`,
		kinds: []string{"sgld", "sghmc"},
		check: chains.check,
		tell:  (*sampled).tell,
	}
	s.flags = func(cmd *cobra.Command) {
		chains.register(cmd)
		cmd.Flags().IntVar(&pretraining, "pretraining", pretraining, "most steps of the training on true derivatives")
	}
	s.settings = func() string {
		return strings.TrimSpace(chains.settings() + " " + changed("pretraining", pretraining, 20000))
	}
	s.check = func() error {
		if pretraining < 1 {
			return cli.Usage("--pretraining must be at least 1")
		}
		return chains.check()
	}
	s.run = func(ctx context.Context, _ string, k key) (*sampled, error) {
		set, rate := named(k.Set), rates[k.Set]
		net, loss, err := set.pretrained([]int{20, 20}, mlp.Sigmoid, true, pretraining, 1e-5, k.Seed)
		if err != nil {
			return nil, err
		}
		b := &paper.Bayes{Net: net, Sigma: 1, Step: 0.1}
		for range net.Params() {
			b.Prior = append(b.Prior, 0.1)
		}
		walk := func() paper.Walk { return paper.SGLD(rate.a, rate.b, rate.gamma) }
		if k.Variant == "sghmc" {
			walk = func() paper.Walk { return paper.SGHMC(rate.eta, rate.alpha) }
		}
		r, err := set.sample(ctx, k, b, walk, chains.now)
		if err != nil {
			return nil, err
		}
		r.Loss, r.Prior = short(3, loss)[0], 0.1
		return r, nil
	}
	s.sections = baselineSections
	return s
}

func baselineSections(dir string, all []*sampled) ([]section, error) {
	out := section{
		Title: "Sampled neural ODEs",
		Text: "SGLD and SGHMC with the paper's priors (centred on nets that know the true derivatives) and rates (chosen by the truth), scored on the true trajectory without its start. " +
			"NaN: a chain, or the integration of a sample, did not stay finite. DGM is the table of single trajectories, which is told nothing of the truth, on seeds of its own. R-hat far above 1 says that chains have not converged.",
		Head: []string{"set", "method", "seeds", "log likelihood", "NaN", "coverage 95", "R-hat", "chains lost", "seconds", "paper", "DGM here", "DGM, paper"},
	}
	ours, err := tables(true).gather(dir)
	if err != nil {
		return nil, err
	}
	number := plot.Chart{Title: "Samples of the weights", XLabel: "samples of the weights; what is below -8 stands at -8", YLabel: "log likelihood of the truth", XLog: true, Description: "Log likelihood of the truth under the moments of a growing number of sampled trajectories."}
	for i, set := range sets() {
		dgm := ""
		for _, o := range bySet(ours) {
			if o.set.name == set.name {
				dgm = spread(o.logliks())
			}
		}
		for _, method := range []string{"sgld", "sghmc"} {
			var own []*sampled
			for _, r := range all {
				if r.Set == set.name && r.Variant == method {
					own = append(own, r)
				}
			}
			if len(own) == 0 {
				continue
			}
			ll := finite(values(own, (*sampled).loglik))
			text, cover := "NaN", ""
			if len(ll) > 0 {
				text = spread(ll)
				cover = two(mean(finite(values(own, func(r *sampled) float64 {
					if r.Scores == nil {
						return math.NaN()
					}
					return r.Scores.Coverage95
				}))))
			}
			out.Rows = append(out.Rows, []string{
				set.label, map[string]string{"sgld": "SGLD", "sghmc": "SGHMC"}[method], strconv.Itoa(len(own)), text, strconv.Itoa(len(own) - len(ll)), cover,
				rHat(own), lostChains(own),
				whole(mean(values(own, func(r *sampled) float64 { return r.Seconds }))), paperSampled[method][set.name], dgm, fmt.Sprintf("%.2f ± %.2f", set.paper[0], set.paper[1]),
			})
			color, dash := []plot.Color{plot.Model, plot.Alert, plot.Linear, plot.Other}[i%4], ""
			if method == "sghmc" {
				dash = "5 3"
			}
			for _, r := range own {
				l := plot.Line{Name: set.label + " " + method, Color: color, Dash: dash}
				for j, n := range r.Samples {
					if n >= 5 {
						l.X, l.Y = append(l.X, float64(n)), append(l.Y, max(r.LogLik[j], -8))
					}
				}
				if len(l.X) > 1 {
					number.Lines = append(number.Lines, l)
					break // the first seed that is finite
				}
			}
		}
	}
	if len(number.Lines) > 0 {
		svg, err := number.SVG()
		if err != nil {
			return nil, err
		}
		out.Pictures = []picture{{"baselines", svg}}
	}
	ndp := section{Title: "Neural ODE processes", Text: "Quoted from the paper's Table 2, not run here.", Head: []string{"set", "NDP, paper", "DGM, paper", "DGM here"}}
	many, err := tables(false).gather(dir)
	if err != nil {
		return nil, err
	}
	for _, q := range paperNDP {
		set, dgm := named(q.set), ""
		for _, o := range bySet(many) {
			if o.set.name == q.set {
				dgm = spread(o.logliks())
			}
		}
		ndp.Rows = append(ndp.Rows, []string{set.label, q.loglik, fmt.Sprintf("%.2f ± %.2f", set.paper[0], set.paper[1]), dgm})
	}
	return []section{out, ndp}, nil
}
