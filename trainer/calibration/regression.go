package calibration

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// The regression of the log standard deviation. With z = error/std of a held-out point, at
// the scored time i of channel k,
//
//	z/σ ~ Student(tail)      log σ = a_ki + Σ_j b_kj x_j
//
// The tail bounds what a single sample counts. Its degrees of freedom are no estimate: the
// intervals are scaled to cover 95 % afterwards.
const tail = 6.0

// Penalties pull the coefficients of all channels to the prior, and those of one channel to
// the mean over channels, in mean log likelihoods of a point per squared coefficient.
const priorPenalty, ownPenalty = 0.003, 0.01

// form is which covariates have coefficients, and how they are fitted.
type form struct {
	terms   []model.Covariate
	freedom freedom
}

// freedom is how coefficients are fitted.
type freedom int

const (
	fixed  freedom = iota // as priorCoefficient
	pooled                // one for all channels, pulled to that
	own                   // by channel, pulled to their mean
)

// priorCoefficient returns the coefficient of a covariate that is taken unless the folds
// clearly ask for another: about those of eight Crazyflie flights and of pendulums. The
// distance from the training states counts most where no leverage is measured.
func priorCoefficient(j model.Covariate, terms []model.Covariate) float64 {
	if j == model.CovariateDistance && slices.Contains(terms, model.CovariateLeverage) {
		return 0.15
	}
	return [model.Covariates]float64{
		model.CovariateDistance: 0.5, model.CovariateLeverage: 0.4, model.CovariateMotion: 0.25, model.CovariateSpread: 0.1, model.CovariateRoughness: 0.3,
	}[j]
}

// regression is a fit.
type regression struct {
	level  [][]float64                 // K×T: a
	b      [][model.Covariates]float64 // K
	centre []float64                   // of the covariates
	form
}

// log returns log σ of a cell of channel k.
func (r *regression) log(k int, c *cell) float64 {
	s := r.level[k][c.at]
	for _, j := range r.terms {
		s += r.b[k][j] * c.x[j]
	}
	return s
}

// loss returns the negative log likelihood of z standard deviations of e^s, but for
// constants.
func loss(z, s float64) float64 {
	return s + 0.5*(tail+1)*math.Log1p(z*z*math.Exp(-2*s)/tail)
}

// slopeOf returns the derivative of loss by s.
func slopeOf(z, s float64) float64 {
	r := z * z * math.Exp(-2*s) / tail
	return 1 - (tail+1)*r/(1+r)
}

// information is the expected second derivative of the loss.
const information = 2 * tail / (tail + 3)

// normal are the normal equations of one channel. The expected information does not depend on
// the coefficients.
type normal struct {
	weight []float64     // T: of the levels
	cross  [][]float64   // T×U
	square *mat.SymDense // U×U, without what the levels explain

	slope []float64 // T: of the levels
	rest  []float64 // U: derivatives by the coefficients, without what the levels explain
}

// noFold is in the place of a fold that is left out, where none is.
const noFold = -1

// regress fits the regression to all folds but one by Fisher scoring. It starts from that to all folds, near which it is;
// that to all starts from medians.
func (c *cells) regress(f form, without int) *regression {
	r := &regression{form: f, centre: c.mean, b: make([][model.Covariates]float64, c.K)}
	if without != noFold {
		from := c.whole(f)
		copy(r.b, from.b)
		for _, level := range from.level {
			r.level = append(r.level, slices.Clone(level))
		}
	} else {
		for k := range c.K {
			r.level = append(r.level, c.start(k))
			for _, j := range f.terms {
				r.b[k][j] = priorCoefficient(j, f.terms)
			}
		}
	}
	eq := make([]normal, c.K)
	for i := range 40 {
		var wait sync.WaitGroup
		for k := range c.K {
			wait.Go(func() {
				if i == 0 {
					eq[k] = c.normal(r, k, without)
				}
				c.derivatives(&eq[k], r, k, without)
			})
		}
		wait.Wait()
		if r.step(eq) < settled {
			break
		}
	}
	return r
}

// settled is the largest change of a coefficient or of a log standard deviation at which a regression has come to rest.
const settled = 1e-3

// whole returns the regression to all folds, which is fitted once.
func (c *cells) whole(f form) *regression {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.known {
		if r.freedom == f.freedom && slices.Equal(r.terms, f.terms) {
			return r
		}
	}
	r := c.regress(f, noFold)
	c.known = append(c.known, r)
	return r
}

// start returns levels with the medians of |z|.
func (c *cells) start(k int) []float64 {
	sizes := make([][]float64, c.T)
	for i := range c.of[k] {
		e := &c.of[k][i]
		sizes[e.at] = append(sizes[e.at], math.Abs(e.z))
	}
	out := make([]float64, c.T)
	for i, s := range sizes {
		if len(s) > 0 {
			slices.Sort(s)
			out[i] = math.Log(math.Max(s[len(s)/2]/normal50, 1e-9))
		}
	}
	return out
}

// normal gathers the equations of channel k, without derivatives.
func (c *cells) normal(r *regression, k, without int) normal {
	U := len(r.terms)
	n := normal{weight: make([]float64, c.T), slope: make([]float64, c.T), rest: make([]float64, U)}
	for range c.T {
		n.cross = append(n.cross, make([]float64, U))
	}
	square, x := make([]float64, U*U), make([]float64, U)
	for i := range c.of[k] {
		e := &c.of[k][i]
		if e.fold == without {
			continue
		}
		n.weight[e.at] += e.weight
		for u, j := range r.terms {
			x[u] = e.x[j]
		}
		for u, xu := range x {
			n.cross[e.at][u] += e.weight * xu
			for v, xv := range x[:u+1] {
				square[u*U+v] += e.weight * xu * xv
			}
		}
	}
	if U > 0 {
		n.reduce(square)
	}
	return n
}

// derivatives sets those of channel k at the coefficients of r.
func (c *cells) derivatives(n *normal, r *regression, k, without int) {
	clear(n.slope)
	clear(n.rest)
	for i := range c.of[k] {
		e := &c.of[k][i]
		if e.fold == without {
			continue
		}
		slope := e.weight * slopeOf(e.z, r.log(k, e))
		n.slope[e.at] += slope
		for u, j := range r.terms {
			n.rest[u] += slope * e.x[j]
		}
	}
	for i, w := range n.weight {
		if w == 0 {
			continue
		}
		for u, cross := range n.cross[i] {
			n.rest[u] -= cross * n.slope[i] / w
		}
	}
}

// reduce sets the equations of the coefficients, from their squares (U×U, lower triangle).
func (n *normal) reduce(square []float64) {
	U := len(n.rest)
	n.square = mat.NewSymDense(U, nil)
	for u := range U {
		for v := range u + 1 {
			n.square.SetSym(u, v, information*square[u*U+v])
		}
	}
	for i, w := range n.weight {
		if w == 0 {
			continue
		}
		for u, cross := range n.cross[i] {
			for v := range u + 1 {
				n.square.SetSym(u, v, n.square.At(u, v)-information*cross*n.cross[i][v]/w)
			}
		}
	}
}

// step changes the coefficients by one step of Fisher scoring and returns the largest change.
func (r *regression) step(eq []normal) (most float64) {
	change := r.changes(eq)
	for k := range eq {
		for u, j := range r.terms {
			was := r.b[k][j]
			r.b[k][j] = math.Min(math.Max(was+change[k][u], leastCoefficient(j)), mostCoefficient)
			change[k][u] = r.b[k][j] - was
			most = math.Max(most, math.Abs(change[k][u]))
		}
		for i, w := range eq[k].weight {
			if w == 0 {
				continue
			}
			d := -eq[k].slope[i] / information
			for u := range r.terms {
				d -= eq[k].cross[i][u] * change[k][u]
			}
			d = math.Min(math.Max(d/w, -1), 1)
			r.level[k][i] += d
			most = math.Max(most, math.Abs(d))
		}
	}
	return most
}

// changes returns the change of every channel's coefficients (K×U); none where they are fixed.
func (r *regression) changes(eq []normal) [][]float64 {
	U, K := len(r.terms), len(eq)
	change := make([][]float64, K)
	to := make([]float64, U)
	switch {
	case U == 0 || r.freedom == fixed:
		for k := range change {
			change[k] = make([]float64, U)
		}
	case r.freedom == own:
		for u, j := range r.terms {
			for k := range r.b {
				to[u] += r.b[k][j] / float64(K)
			}
		}
		for k := range eq {
			change[k] = r.solve(k, &eq[k], to, ownPenalty)
		}
	default:
		all := normal{square: mat.NewSymDense(U, nil), rest: make([]float64, U)}
		for k := range eq {
			all.square.AddSym(all.square, eq[k].square)
			for u, v := range eq[k].rest {
				all.rest[u] += v
			}
			all.weight = append(all.weight, eq[k].weight...)
		}
		for u, j := range r.terms {
			to[u] = priorCoefficient(j, r.terms)
		}
		one := r.solve(0, &all, to, priorPenalty)
		for k := range change {
			change[k] = slices.Clone(one)
		}
	}
	return change
}

// solve returns the change of the coefficients of channel k, which are pulled to others.
func (r *regression) solve(k int, eq *normal, to []float64, penalty float64) []float64 {
	U, total := len(r.terms), 0.0
	for _, w := range eq.weight {
		total += w
	}
	a, rhs := mat.NewSymDense(U, nil), mat.NewVecDense(U, nil)
	a.CopySym(eq.square)
	for u, j := range r.terms {
		pull := 2*penalty*total + 1e-6*(1+a.At(u, u))
		a.SetSym(u, u, a.At(u, u)+pull)
		rhs.SetVec(u, -eq.rest[u]-pull*(r.b[k][j]-to[u]))
	}
	out := make([]float64, U)
	var chol mat.Cholesky
	if !chol.Factorize(a) || chol.SolveVecTo(mat.NewVecDense(U, out), rhs) != nil {
		return make([]float64, U)
	}
	for u, v := range out {
		out[u] = math.Min(math.Max(v, -0.5), 0.5)
	}
	return out
}

// mostCoefficient bounds coefficients: at 1 a standard deviation is in proportion to what
// the covariate is the logarithm of, and far from the data more is an extrapolation.
const mostCoefficient = 1

// leastCoefficient bounds what a covariate may do: none but the variance of the posterior,
// which the standard deviation holds already, may make intervals narrower where it is
// larger, and with the leverage they grow, though folds within the data do not show it: a
// regression's own error grows with its square root.
func leastCoefficient(covariate model.Covariate) float64 {
	switch covariate {
	case model.CovariateVariance:
		return -1
	case model.CovariateLeverage:
		return 0.25
	}
	return 0
}
