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

// piece is how many rows are evaluated at a time. At most keptRows are kept over the passes: more are
// made again by each, so that memory stays bounded whatever the settings.
const piece, keptRows = 768, 50000

// conditionFeatures is Condition for random features.
func conditionFeatures(net *Net, d Data, readout model.Readout, set Conditioning, logSigma []float64) (model.Posterior, error) {
	return newConditioner(net, d, readout, set, logSigma).posterior()
}

// posterior runs all passes.
func (c *conditioner) posterior() (model.Posterior, error) {
	for range c.set.Passes {
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
	readout  model.Readout
	windows  []window.Window
	set      Conditioning
	c        float64 // weight of the likelihood
	logSigma []float64
	pieces   []*objective.Batch // the windows' rows, the same in all passes; none = too many to keep
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
		net: net, d: d, set: set, readout: readout,
		windows:  window.Thin(d.Windows, max(1, set.Rows/set.Points)),
		logSigma: logSigma,
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
	if len(c.windows)*set.Points <= keptRows {
		c.gather(func(b *objective.Batch) { c.pieces = append(c.pieces, b) })
	}
	return c
}

// gather passes the rows of the windows to use, piece by piece.
func (c *conditioner) gather(use func(b *objective.Batch)) {
	d := c.d
	sampler := &rows.Sampler{Frame: d.Frame, Flights: d.Flights, Windows: d.Windows, Readout: c.readout, Points: c.set.Points}
	rng := rand.New(rand.NewPCG(c.set.Seed, 0x70617373))
	step := max(1, piece/c.set.Points)
	for at := 0; at < len(c.windows); at += step {
		windows := c.windows[at:min(at+step, len(c.windows))]
		b := objective.NewBatch(&c.net.Params.Map, &d.Frame.Inputs, len(d.Frame.NoiseKnots), len(windows)*c.set.Points, 0)
		b.SDBase = nil // posteriors need no derivatives
		sampler.Take(b, windows, rng)
		use(b)
	}
}

// pass runs each over all rows, piece by piece and channel by channel.
func (c *conditioner) pass(each func(b *objective.Batch, k int)) {
	run := func(b *objective.Batch) {
		c.net.Params.Map.Forward(c.eval, b.Obs, false)
		cores.Each(c.net.Params.Map.K, func(k int) {
			c.rows(b, k)
			each(b, k)
		})
	}
	if c.pieces == nil {
		c.gather(run)
	}
	for _, b := range c.pieces {
		run(b)
	}
}

// rows evaluates features, residuals and precisions of channel k.
func (c *conditioner) rows(b *objective.Batch, k int) {
	m, w, Q, n := &c.net.Params.Map, &c.work[k], len(c.d.Frame.NoiseKnots), b.Obs.N
	m.RandomFeatures(w.phi, c.eval, k)
	b.Residuals(w.r[:n], w.prec[:n], m, c.eval, k, c.logSigma[k*Q:(k+1)*Q], c.c)
}

func (c *conditioner) add(b *objective.Batch, k int) {
	c.sums[k].Add(c.work[k].phi.Phi, b.Obs.N, c.work[k].r, c.work[k].prec)
}

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
func (c *conditioner) residuals(b *objective.Batch, k int) {
	w, Q, n := &c.work[k], len(c.d.Frame.NoiseKnots), b.Obs.N
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
			weight := b.Noise[i*Q+q]
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
