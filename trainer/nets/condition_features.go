package nets

import (
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/cores"
	"github.com/dgm-robotics/dgm/trainer/objective"
	"github.com/dgm-robotics/dgm/trainer/posterior"
	"github.com/dgm-robotics/dgm/trainer/rows"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// piece is how many rows are evaluated at a time: memory stays bounded whatever
// the length of the logs.
const piece = 768

// conditionFeatures is Condition for random features.
func conditionFeatures(net *Net, d Data, readout model.Readout, set Conditioning, logSigma []float64) (model.Posterior, error) {
	c := newConditioner(net, d, readout, set, logSigma)
	for range set.Passes {
		if !c.solve() {
			return model.Posterior{}, errCondition
		}
		c.updateNoise()
	}
	if !c.solve() {
		return model.Posterior{}, errCondition
	}
	out := model.Posterior{LogSigma: c.logSigma}
	for _, s := range c.sums {
		out.Weights = append(out.Weights, s.Weights())
		out.InverseFactor = append(out.InverseFactor, s.InverseFactor())
	}
	return out, nil
}

// conditioner holds the state of the passes of one readout.
type conditioner struct {
	net      *Net
	d        Data
	sampler  *rows.Sampler
	windows  []window.Window
	set      Conditioning
	c        float64 // weight of the likelihood
	logSigma []float64
	batch    *objective.Batch
	eval     *feature.Eval
	sums     []*posterior.Sum
	work     []channelRows
}

// channelRows is the memory of one channel for one piece.
type channelRows struct {
	phi           *feature.Phi
	r, prec       []float64
	mean, v       []float64
	squares, near []float64 // Q: Σ weight·(e² + v)/σ², Σ weight
}

func newConditioner(net *Net, d Data, readout model.Readout, set Conditioning, logSigma []float64) *conditioner {
	p := net.Params
	Q := len(d.Frame.NoiseKnots)
	n := piece + set.Points
	c := &conditioner{
		net: net, d: d, set: set,
		sampler:  &rows.Sampler{Frame: d.Frame, Flights: d.Flights, Windows: d.Windows, Readout: readout, Points: set.Points},
		windows:  window.Thin(d.Windows, max(1, set.Rows/set.Points)),
		logSigma: logSigma,
		batch:    objective.NewBatch(&p.Map, &d.Frame.Inputs, Q, n, 0),
		eval:     feature.NewEval(&p.Map, n),
	}
	for range p.Map.K {
		c.sums = append(c.sums, posterior.NewSum(p.Map.Features(), n))
		c.work = append(c.work, channelRows{
			phi: feature.NewPhi(&p.Map, n), r: make([]float64, n), prec: make([]float64, n),
			mean: make([]float64, n), v: make([]float64, n), squares: make([]float64, Q), near: make([]float64, Q),
		})
	}
	c.c = set.likelihoodWeight(d, len(c.windows)*set.Points)
	return c
}

// pass runs each over all windows, piece by piece and channel by channel. All
// passes see the same points.
func (c *conditioner) pass(each func(k, n int)) {
	rng := rand.New(rand.NewPCG(c.set.Seed, 0x70617373))
	step := max(1, piece/c.set.Points)
	for at := 0; at < len(c.windows); at += step {
		n := c.sampler.Take(c.batch, c.windows[at:min(at+step, len(c.windows))], rng)
		c.net.Params.Map.Forward(c.eval, c.batch.Obs, false)
		cores.Each(c.net.Params.Map.K, func(k int) {
			c.rows(k, n)
			each(k, n)
		})
	}
}

// rows evaluates features, residuals and precisions of channel k.
func (c *conditioner) rows(k, n int) {
	m, w, Q := &c.net.Params.Map, &c.work[k], len(c.d.Frame.NoiseKnots)
	m.RandomFeatures(w.phi, c.eval, k)
	c.batch.Residuals(w.r[:n], w.prec[:n], m, c.eval, k, c.logSigma[k*Q:(k+1)*Q], c.c)
}

func (c *conditioner) add(k, n int) { c.sums[k].Add(c.work[k].phi.Phi, n, c.work[k].r, c.work[k].prec) }

// solve conditions every channel on all windows.
func (c *conditioner) solve() bool {
	if c.set.NoiseAlone {
		return true // the weights of sums that are not solved are zero
	}
	for _, s := range c.sums {
		s.Reset()
	}
	c.pass(c.add)
	ok := true
	for _, s := range c.sums {
		ok = s.Solve() && ok
	}
	return ok
}

// residuals adds (e² + v)/σ² of the rows to the noise knots near them.
func (c *conditioner) residuals(k, n int) {
	w, Q := &c.work[k], len(c.d.Frame.NoiseKnots)
	if !c.set.NoiseAlone {
		c.sums[k].At(w.phi.Phi, n, w.mean, w.v)
	}
	for i := range n {
		if w.prec[i] == 0 {
			continue
		}
		e := w.r[i] - w.mean[i]
		ratio := (e*e + w.v[i]) * w.prec[i] / c.c
		for q := range Q {
			weight := c.batch.Noise[i*Q+q]
			w.squares[q] += weight * ratio
			w.near[q] += weight
		}
	}
}

// updateNoise moves log σ by the residuals.
func (c *conditioner) updateNoise() {
	Q := len(c.d.Frame.NoiseKnots)
	for k := range c.work {
		clear(c.work[k].squares)
		clear(c.work[k].near)
	}
	c.pass(c.residuals)
	for k := range c.work {
		w := &c.work[k]
		moveNoise(c.logSigma[k*Q:(k+1)*Q], w.squares, w.near)
	}
}
