package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/cores"
	"github.com/dgm-robotics/dgm/trainer/paper"
)

// sampled is a finished seed of a neural ODE whose weights were sampled. Numbers that
// are NaN are left out.
type sampled struct {
	key
	Scores   *scores   `json:"scores,omitempty"`
	Samples  []int     `json:"samples,omitempty"`
	LogLik   []float64 `json:"loglik_by_samples,omitempty"` // of the first so many samples
	RHat     float64   `json:"r_hat,omitempty"`             // the largest of all weights
	Chains   int       `json:"chains,omitempty"`
	Lost     int       `json:"lost,omitempty"` // chains that became NaN
	Unsolved int       `json:"unsolved,omitempty"`
	Loss     float64   `json:"pretraining_loss,omitempty"`
	Prior    float64   `json:"prior_std,omitempty"`
	Weights  int       `json:"weights"`
	Failed   string    `json:"failed,omitempty"` // why there is nothing else
	Seconds  float64   `json:"seconds"`
}

// loglik returns the log likelihood, NaN where there is none.
func (r *sampled) loglik() float64 {
	if r.Scores == nil {
		return math.NaN()
	}
	return r.Scores.LogLik
}

func (r *sampled) tell() string {
	text := fmt.Sprintf("log likelihood %.2f, %.0f s", r.loglik(), r.Seconds)
	if r.Chains > 0 {
		text += ", chains lost " + lostChains([]*sampled{r}) + ", R-hat " + rHat([]*sampled{r})
	}
	return text
}

// rHat prints the largest R-hat of seeds; NaN where none has one.
func rHat(all []*sampled) string {
	most := 0.0
	for _, r := range all {
		most = max(most, r.RHat)
	}
	if most == 0 {
		return "NaN"
	}
	return two(most)
}

// lostChains prints how many of the chains of all seeds became NaN.
func lostChains(all []*sampled) string {
	lost, chains := 0, 0
	for _, r := range all {
		lost, chains = lost+r.Lost, chains+r.Chains
	}
	return fmt.Sprintf("%d of %d", lost, chains)
}

// chainFlags are the flags of studies that sample.
type chainFlags struct{ usual, now paper.Chains }

func (c *chainFlags) register(cmd *cobra.Command) {
	c.now = c.usual
	f := cmd.Flags()
	f.IntVar(&c.now.Chains, "chains", c.usual.Chains, "chains that sample the weights")
	f.IntVar(&c.now.Steps, "steps", c.usual.Steps, "steps of each chain")
	f.IntVar(&c.now.Keep, "keep", c.usual.Keep, "samples that are kept, the last of each chain")
}

func (c *chainFlags) check() error {
	if c.now.Chains < 1 || c.now.Keep < 4 || c.now.Steps < c.now.Keep {
		return cli.Usage("--chains must be at least 1, --keep at least 4 and --steps at least --keep")
	}
	return nil
}

func (c *chainFlags) settings() string {
	if c.now == c.usual {
		return ""
	}
	return fmt.Sprintf("--chains %d --steps %d --keep %d", c.now.Chains, c.now.Steps, c.now.Keep)
}

// predictions is how many of the samples make a distribution, as in the paper.
const predictions = 1000

// sample walks chains for one seed of a set and scores the moments of trajectories
// integrated from the samples.
func (s *set) sample(ctx context.Context, k key, b *paper.Bayes, walk func() paper.Walk, c paper.Chains) (*sampled, error) {
	d, on, err := s.both(k.Seed)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	r := &sampled{key: k, Chains: c.Chains, Weights: b.Net.Params()}
	all, err := b.Sample(ctx, d, walk, c, uint64(k.Seed))
	if err != nil {
		return nil, err
	}
	r.Lost = all.Lost
	if !math.IsNaN(all.RHat) && !math.IsInf(all.RHat, 0) {
		r.RHat = short(4, all.RHat)[0]
	}
	rng := rand.New(rand.NewPCG(uint64(k.Seed), 0x7069636b))
	rng.Shuffle(len(all.Theta), func(i, j int) { all.Theta[i], all.Theta[j] = all.Theta[j], all.Theta[i] })
	theta := all.Theta[:min(predictions, len(all.Theta))]
	solved := make([][]float64, len(theta))
	cores.Each(len(theta), func(i int) {
		x := make([]float64, len(on.times)*d.K)
		if ctx.Err() == nil && b.Solve(x, theta[i], on.starts[0], on.times) {
			solved[i] = x
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var fine [][]float64
	for _, x := range solved {
		if x == nil {
			r.Unsolved++
			continue
		}
		fine = append(fine, x)
	}
	r.Seconds = time.Since(began).Seconds()
	// A chain that became NaN, or a sample that cannot be integrated, makes the whole
	// distribution NaN: it would stand for whatever was left of it.
	if r.Lost > 0 || r.Unsolved > 0 {
		return r, nil
	}
	if r.Samples, r.LogLik, r.Scores, err = bySamples(fine, on.truth[0], d.K); err != nil {
		r.Samples, r.LogLik, r.Scores = nil, nil, nil // samples that are all alike have no distribution
	}
	return r, nil
}

// pretrained returns a net that has learned the true derivatives at 100 points of the
// true trajectory: the centre of the samplers' priors, as in the paper.
func (s *set) pretrained(hidden []int, act mlp.Activation, bias bool, steps int, enough float64, seed int) (mlp.Net, float64, error) {
	times := span(s.end, testPoints)
	x, err := s.truth(s.starts[0], times)
	if err != nil {
		return mlp.Net{}, 0, err
	}
	k := len(s.plant.States)
	dx := make([]float64, len(x))
	p := s.plant.Values()
	for i := range times {
		s.plant.F(dx[i*k:(i+1)*k], x[i*k:(i+1)*k], s.plant.U0, p)
	}
	net, loss := paper.Pretrain(x, dx, k, hidden, act, bias, steps, enough, uint64(seed))
	return net, loss, nil
}
