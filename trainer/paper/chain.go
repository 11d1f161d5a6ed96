package paper

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/numeric/ode"
	"github.com/dgm-robotics/dgm/trainer/cores"
)

// Bayes is a neural ODE dx/dt = net(x), raw states and seconds, whose weights are
// sampled from their posterior: what gradient matching is compared with. The prior of
// a weight is Gaussian around the net's, that of the noise, one for all channels, an
// inverse gamma distribution with shape 2 and scale 3.
type Bayes struct {
	Net   mlp.Net   // K → K
	Prior []float64 // P, standard deviation of every weight; 0 holds it where it is
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

// Chains is how long to walk.
type Chains struct {
	Chains, Steps, Keep int // chains, steps of each, and how many of the last are kept
}

// Samples are draws of the weights, and how the chains went.
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
	P := b.Net.Params()
	theta, grad := make([]float64, P+1), make([]float64, P+1)
	post := b.posterior(d, theta[:P])
	for i, sd := range b.Prior {
		theta[i] += sd * rng.NormFloat64()
	}
	theta[P] = math.Log(b.Sigma)
	var kept [][]float64
	for k := range c.Steps {
		if ctx.Err() != nil {
			return nil
		}
		if _, ok := post.gradient(grad, theta[P]); !ok {
			return nil
		}
		walk(k, theta, grad, rng)
		for i, sd := range b.Prior {
			if sd == 0 {
				theta[i] = post.centre[i]
			}
		}
		if k >= c.Steps-c.Keep {
			kept = append(kept, append([]float64(nil), theta[:P]...))
		}
	}
	return kept
}

// bayesPosterior is the log posterior of weights.
type bayesPosterior struct {
	*Bayes
	net    mlp.Net // of theta
	theta  []float64
	centre []float64 // of the prior
	d      *Data
	a      *adjoint
	bar    []float64
	grad   mlp.Net
	flat   []float64
}

// posterior binds theta (P) to the net, which it is set to.
func (b *Bayes) posterior(d *Data, theta []float64) *bayesPosterior {
	clone := func(flat []float64) mlp.Net {
		n := mlp.Net{Layers: append([]mlp.Layer(nil), b.Net.Layers...)}
		n.Bind(flat)
		return n
	}
	p := &bayesPosterior{Bayes: b, theta: theta, d: d, flat: make([]float64, len(theta)), centre: make([]float64, len(theta))}
	p.net, p.grad = clone(theta), clone(p.flat)
	clone(p.centre)
	p.a = newAdjoint(&p.net)
	return p
}

// gradient sets grad (P+1) to the derivative of the log posterior and returns its
// value, up to a constant. ok is false where it is not finite.
//
//	Σ [−e²/2σ² − log σ] − ½ Σ ((θ − centre)/sd)² − 2 log σ − 3/σ
//
// the last two terms being the inverse gamma density of σ, as one of log σ.
func (p *bayesPosterior) gradient(grad []float64, logSigma float64) (value float64, ok bool) {
	clear(p.flat)
	K, P := p.a.K, len(p.theta)
	precision := math.Exp(-2 * logSigma)
	value = -2*logSigma - 3*math.Exp(-logSigma)
	onSigma := -2 + 3*math.Exp(-logSigma)
	for j := range p.d.Trajectories {
		tr := &p.d.Trajectories[j]
		if !p.a.forward(tr.X0, tr.T, p.Step) {
			return 0, false
		}
		p.bar = append(p.bar[:0], p.a.reach...)
		for i, x := range p.a.reach[:len(tr.T)*K] {
			e := tr.Y[i] - x
			if math.IsNaN(e) {
				p.bar[i] = 0
				continue
			}
			value -= 0.5*precision*e*e + logSigma
			p.bar[i] = precision * e
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
	grad[P] = onSigma
	for _, g := range grad {
		if math.IsNaN(g) || math.IsInf(g, 0) {
			return 0, false
		}
	}
	return value, true
}

// Solve integrates the ODE with weights theta (P) from x0 through times (rising) and
// writes the states to dst (len(times)×K). ok is false where they do not stay finite.
func (b *Bayes) Solve(dst, theta, x0, times []float64) (ok bool) {
	n := mlp.Net{Layers: append([]mlp.Layer(nil), b.Net.Layers...)}
	flat := make([]float64, len(theta))
	n.Bind(flat)
	copy(flat, theta)
	a := newAdjoint(&n)
	row := make([]float64, a.width)
	// 1e-6 is far below what samples differ by; a field gone wild is given up.
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
			m, v := 0.0, 0.0
			for _, t := range half {
				m += t[p] / float64(n)
			}
			for _, t := range half {
				v += (t[p] - m) * (t[p] - m) / float64(n-1)
			}
			means, within = append(means, m), append(within, v)
		}
	}
	all, between, w := 0.0, 0.0, 0.0
	for i, m := range means {
		all += m / float64(len(means))
		w += within[i] / float64(len(means))
	}
	for _, m := range means {
		between += (m - all) * (m - all) / float64(len(means)-1)
	}
	return math.Sqrt((float64(n-1)/float64(n)*w + between) / w)
}
