package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/cores"
	"github.com/dgm-robotics/dgm/trainer/paper"
	"github.com/dgm-robotics/dgm/trainer/score"
)

// Neural ODEs whose weights are sampled.

// chains are the flags of studies that sample.
type chains struct {
	paper.Chains
	pretraining int // most steps of the training on true derivatives
}

func newChains(n, steps int) *chains {
	return &chains{paper.Chains{Chains: n, Steps: steps, Keep: 2000}, 20000}
}

func (c *chains) flags() []study.Flag {
	return []study.Flag{
		{Name: "chains", Usage: "chains that sample the weights", Value: &c.Chains.Chains, Least: 1, Changes: true},
		{Name: "steps", Usage: "steps of each chain, at least --keep", Value: &c.Steps, Least: 4, Changes: true},
		{Name: "keep", Usage: "samples that are kept, the last of each chain", Value: &c.Keep, Least: 4, Changes: true},
		{Name: "pretraining", Usage: "most steps of the training on true derivatives", Value: &c.pretraining, Least: 1, Changes: true},
	}
}

func (c *chains) check() error {
	if c.Steps < c.Keep {
		return cli.Usage("--steps %d must be at least --keep %d", c.Steps, c.Keep)
	}
	return nil
}

var sampledSummary = []string{"scores.loglik", "lost", "chains", "r_hat", "seconds"}

// predictions is how many of the samples make a distribution, as in the paper.
const predictions = 1000

// sample runs chains for the unit's seed and puts into its row the scores of the moments of
// trajectories integrated from the samples. A lost chain, or a sample that cannot be
// integrated, leaves the scores out: NaN.
func (s *set) sample(ctx context.Context, u *study.Unit, b *paper.Bayes, walk func() paper.Walk, c paper.Chains) error {
	d, on, err := s.both(u.Seed)
	if err != nil {
		return err
	}
	began := time.Now()
	all, err := b.Sample(ctx, d, walk, c, uint64(u.Seed))
	if err != nil {
		return err
	}
	u.Put("chains", c.Chains).Put("weights", b.Net.Params()).Put("lost", all.Lost).Put("r_hat", study.Short(4, all.RHat)[0])
	rng := rand.New(rand.NewPCG(uint64(u.Seed), 0x7069636b))
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
		return err
	}
	var fine [][]float64
	for _, x := range solved {
		if x != nil {
			fine = append(fine, x)
		}
	}
	unsolved := len(solved) - len(fine)
	u.Put("seconds", time.Since(began).Seconds()).Put("unsolved", unsolved)
	if all.Lost == 0 && unsolved == 0 {
		// Samples that are all alike have no distribution, and leave the row as it is.
		_ = scoreSamples(u.Row, "scores.", fine, on.truth[0], d.K)
	}
	return nil
}

// counts are the numbers of samples whose log likelihood is recorded.
var counts = []int{2, 3, 5, 10, 20, 50, 100, 200, 500, 1000}

// scoreSamples puts into a row the scores of mean and standard deviation of samples
// (points×K each) under names with a prefix, and the log likelihoods of the first so many.
// The start is known exactly and left out.
func scoreSamples(r *study.Row, prefix string, all [][]float64, truth []float64, k int) error {
	var numbers []int
	var likelihoods []float64
	var last *score.Result
	sum, squares := make([]float64, len(truth)), make([]float64, len(truth))
	for i, x := range all {
		for j, v := range x {
			sum[j] += v - truth[j]
			squares[j] += (v - truth[j]) * (v - truth[j])
		}
		due := i+1 == len(all)
		for _, c := range counts {
			due = due || c == i+1
		}
		if !due || i < 1 {
			continue
		}
		tr := score.Trajectory{Truth: truth[k:]}
		for j := k; j < len(truth); j++ {
			m := sum[j] / float64(i+1)
			tr.Mean = append(tr.Mean, truth[j]+m)
			tr.Std = append(tr.Std, math.Sqrt(math.Max(squares[j]/float64(i+1)-m*m, 0)*float64(i+1)/float64(i)))
		}
		var err error
		if last, err = score.Trajectories([]score.Trajectory{tr}, k); err != nil {
			return fmt.Errorf("of %d samples: %w", i+1, err)
		}
		numbers, likelihoods = append(numbers, i+1), append(likelihoods, study.Short(4, last.LogLik)...)
	}
	if last == nil {
		return fmt.Errorf("%d samples have no moments", len(all))
	}
	putScores(r, prefix, last)
	r.Put("samples", numbers).Put("loglik_by_samples", likelihoods)
	return nil
}

// pretrained returns a net that has learned the true derivatives at 100 points of the
// true trajectory, and its loss: the centre of the samplers' priors, as in the paper.
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

// The columns of sampled rows.
var (
	rHat = study.Column{Head: "R-hat", Cell: func(g study.Group) string {
		most := math.NaN()
		for _, v := range g.Of("r_hat") {
			if !(v <= most) {
				most = v
			}
		}
		return study.Fixed(most, 2)
	}}
	lostChains = study.Column{Head: "chains lost", Cell: func(g study.Group) string {
		sum := func(name string) (s float64) {
			for _, v := range g.Of(name) {
				s += v
			}
			return s
		}
		return fmt.Sprintf("%.0f of %.0f", sum("lost"), sum("chains"))
	}}
	sampledLogLik = study.Column{Head: "log likelihood", Cell: func(g study.Group) string { return study.Spread(g.Of("scores.loglik")) }}
	notFinite     = study.Column{Head: "NaN", Cell: func(g study.Group) string { return fmt.Sprint(len(g) - len(g.Of("scores.loglik"))) }}
)
