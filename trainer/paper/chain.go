package paper

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/numeric/ode"
	"github.com/dgm-robotics/dgm/trainer/cores"
)

// Bayes is a neural ODE dx/dt = net(x), raw states and seconds, whose weights are
// sampled from their posterior: the baseline of gradient matching. The prior of
// a weight is Gaussian around the net's, that of the noise, one for all channels, an
// inverse gamma distribution with shape 2 and scale 3.
type Bayes struct {
	Net   mlp.Net   // K → K
	Prior []float64 // P, standard deviation of every weight; 0 keeps it
	Sigma float64   // noise at the start of a chain
	Step  float64   // s, longest step of the integrator in training
}

// Walk is the rule of a chain: it moves theta (P+1 numbers, the last is log σ), given
// the gradient of the log posterior, for the k-th time. A rule serves one chain.
type Walk func(k int, theta, grad []float64, rng *rand.Rand)

// SGLD is stochastic gradient Langevin dynamics (Welling & Teh 2011), at the rate
// ε_k = a (b + k)^−γ:
//
//	θ ← θ + ε_k/2 ∇ log p + N(0, ε_k)
func SGLD(a, b, gamma float64) Walk {
	return func(k int, theta, grad []float64, rng *rand.Rand) {
		eps := a * math.Pow(b+float64(k), -gamma)
		for i, g := range grad {
			theta[i] += eps/2*g + math.Sqrt(eps)*rng.NormFloat64()
		}
	}
}

// SGHMC is stochastic gradient Hamiltonian Monte Carlo (Chen, Fox & Guestrin 2014,
// eq. 15) with learning rate η and momentum decay α:
//
//	v ← (1 − α) v + η ∇ log p + N(0, 2ηα)      θ ← θ + v
func SGHMC(eta, alpha float64) Walk {
	var v []float64
	return func(_ int, theta, grad []float64, rng *rand.Rand) {
		if v == nil {
			v = make([]float64, len(theta))
		}
		for i, g := range grad {
			v[i] = (1-alpha)*v[i] + eta*g + math.Sqrt(2*eta*alpha)*rng.NormFloat64()
			theta[i] += v[i]
		}
	}
}

// Chains are the number of chains, the steps of each, and how many of the last are kept.
type Chains struct{ Chains, Steps, Keep int }

// Samples are draws of the weights.
type Samples struct {
	Theta [][]float64 // of all chains, P each
	Lost  int         // chains that left all bounds or became NaN
	RHat  float64     // the largest split R-hat of any weight that moves; NaN where chains are lost
}

// Sample walks chains, each on one processor, from draws of the prior.
func (b *Bayes) Sample(ctx context.Context, d *Data, walk func() Walk, c Chains, seed uint64) (*Samples, error) {
	all := make([][][]float64, c.Chains)
	cores.Each(c.Chains, func(i int) {
		all[i] = b.chain(ctx, d, walk(), c, rand.New(rand.NewPCG(seed, 0x636861696e+uint64(i))))
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := &Samples{RHat: math.NaN()}
	for _, one := range all {
		if one == nil {
			s.Lost++
		}
		s.Theta = append(s.Theta, one...)
	}
	if s.Lost == 0 && c.Keep > 3 {
		s.RHat = 0
		for p, sd := range b.Prior {
			if sd > 0 {
				s.RHat = math.Max(s.RHat, splitRHat(all, p))
			}
		}
	}
	return s, nil
}

// chain returns the last weights of one chain; nil where it is lost.
func (b *Bayes) chain(ctx context.Context, d *Data, walk Walk, c Chains, rng *rand.Rand) [][]float64 {
	post := b.posterior(d)
	P := len(post.theta)
	theta, grad := append(slices.Clone(post.theta), math.Log(b.Sigma)), make([]float64, P+1)
	for i, sd := range b.Prior {
		theta[i] += sd * rng.NormFloat64()
	}
	var kept [][]float64
	for k := range c.Steps {
		copy(post.theta, theta)
		if _, ok := post.gradient(grad, theta[P]); !ok || ctx.Err() != nil {
			return nil
		}
		walk(k, theta, grad, rng)
		for i, sd := range b.Prior {
			if sd == 0 {
				theta[i] = post.centre[i]
			}
		}
		if k >= c.Steps-c.Keep {
			kept = append(kept, slices.Clone(theta[:P]))
		}
	}
	return kept
}

// bayesPosterior is the log posterior of weights.
type bayesPosterior struct {
	*Bayes
	theta  []float64 // P, the weights of the net that a integrates
	centre []float64 // P, of the prior
	d      *Data
	a      *adjoint
	bar    []float64 // observations×K
	grad   mlp.Net
	flat   []float64 // P, of grad
}

// posterior returns the log posterior at the net's weights.
func (b *Bayes) posterior(d *Data) *bayesPosterior {
	net, theta := copyNet(&b.Net)
	_, centre := copyNet(&b.Net)
	grad, flat := copyNet(&b.Net)
	return &bayesPosterior{Bayes: b, theta: theta, centre: centre, d: d, a: newAdjoint(&net), grad: grad, flat: flat}
}

// gradient sets grad (P+1) to the derivative of the log posterior and returns its
// value, up to a constant. ok is false where it is not finite.
//
//	Σ [−e²/2σ² − log σ] − ½ Σ ((θ − centre)/sd)² − 2 log σ − 3/σ
//
// the last two terms being the inverse gamma density of σ, as one of log σ.
func (p *bayesPosterior) gradient(grad []float64, logSigma float64) (value float64, ok bool) {
	clear(p.flat)
	precision := math.Exp(-2 * logSigma)
	value = -2*logSigma - 3*math.Exp(-logSigma)
	onSigma := -2 + 3*math.Exp(-logSigma)
	for j := range p.d.Trajectories {
		tr := &p.d.Trajectories[j]
		if !p.a.forward(tr.X0, tr.T, p.Step) {
			return 0, false
		}
		p.bar = p.bar[:0]
		for i, x := range p.a.states {
			e := tr.Y[i] - x
			if math.IsNaN(e) {
				p.bar = append(p.bar, 0)
				continue
			}
			value -= 0.5*precision*e*e + logSigma
			p.bar = append(p.bar, precision*e)
			onSigma += precision*e*e - 1
		}
		p.a.reverse(&p.grad, p.bar)
	}
	copy(grad, p.flat)
	for i, sd := range p.Prior {
		if sd == 0 {
			grad[i] = 0
			continue
		}
		u := (p.theta[i] - p.centre[i]) / sd
		value -= 0.5 * u * u
		grad[i] -= u / sd
	}
	grad[len(grad)-1] = onSigma
	return value, !slices.ContainsFunc(grad, func(g float64) bool { return math.IsNaN(g) || math.IsInf(g, 0) })
}

// Solve integrates the ODE with weights theta (P) from x0 through times (rising) and
// writes the states to dst (len(times)×K). ok is false where they do not stay finite.
func (b *Bayes) Solve(dst, theta, x0, times []float64) (ok bool) {
	net, flat := copyNet(&b.Net)
	copy(flat, theta)
	a := newAdjoint(&net)
	row := make([]float64, a.width)
	// 1e-6 is far below the differences between samples; MaxSteps ends a diverging field.
	d := ode.NewDopri5(a.K, ode.Config{RTol: 1e-6, MaxSteps: 20000})
	return d.Solve(dst, func(dx []float64, _ float64, x []float64) {
		copy(row, x)
		copy(dx, a.evaluate(row))
	}, x0, 0, times)
}

// splitRHat compares the halves of all chains by their means and variances (Gelman et
// al. 2013, section 11.4), for weight p: 1 where they agree.
func splitRHat(chains [][][]float64, p int) float64 {
	var means, within []float64
	n := len(chains[0]) / 2
	for _, c := range chains {
		for _, half := range [][][]float64{c[:n], c[n : 2*n]} {
			values := make([]float64, n)
			for i, theta := range half {
				values[i] = theta[p]
			}
			m, v := stat.MeanVariance(values, nil)
			means, within = append(means, m), append(within, v)
		}
	}
	w := stat.Mean(within, nil)
	return math.Sqrt((float64(n-1)/float64(n)*w + stat.Variance(means, nil)) / w)
}
