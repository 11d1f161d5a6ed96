package nets

import (
	"errors"
	"math"
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

var errCondition = errors.New("the posterior cannot be conditioned: its matrix is not positive definite")

// Condition fits the posterior of a trained net to all windows, for one readout:
// the nets are frozen, the noise is estimated anew from residuals and posterior
// variance, because mini-batches fit their own rows too well and leave it too
// small:
//
//	σ² at a knot ← σ² · mean of (e² + v)/σ²(t) over the rows near it, a few times
//
// Where it comes to rest the likelihood's gradient by log σ is zero. (A mean of
// e² + v alone would put the noise of a whole interval on its knots, and the first
// of them, from which the sensor's variance is read, too high.)
//
// logSigma (K×Q) is where the noise starts from; nil = where training left it.
func Condition(net *Net, d Data, readout model.Readout, logSigma []float64, seed uint64) (model.Posterior, error) {
	if logSigma != nil {
		n, p := *net, *net.Params
		p.LogSigma = logSigma
		n.Params, net = &p, &n
	}
	if net.Settings.Exact {
		return conditionExact(net, d, readout, seed)
	}
	c := newConditioner(net, d, readout, seed)
	for range net.Settings.NoisePasses {
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
	seed     uint64
	c        float64 // temper
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

func newConditioner(net *Net, d Data, readout model.Readout, seed uint64) *conditioner {
	set, p := net.Settings, net.Params
	Q := len(d.Frame.NoiseKnots)
	n := piece + set.ConditionPts
	c := &conditioner{
		net: net, d: d, seed: seed,
		sampler:  &rows.Sampler{Frame: d.Frame, Flights: d.Flights, Windows: d.Windows, Readout: readout, Points: set.ConditionPts},
		windows:  window.Thin(d.Windows, max(1, set.Rows/set.ConditionPts)),
		logSigma: append([]float64(nil), p.LogSigma...),
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
	c.c = temper(net, d, len(c.windows)*set.ConditionPts)
	return c
}

// temper returns c for a likelihood of the given number of rows:
// κ · samples/rows, at most κ.
func temper(net *Net, d Data, n int) float64 {
	return net.Settings.Temper * math.Min(1, float64(d.Samples)/float64(n))
}

// pass runs each over all windows, piece by piece and channel by channel. All
// passes see the same points.
func (c *conditioner) pass(each func(k, n int)) {
	rng := rand.New(rand.NewPCG(c.seed, 0x70617373))
	step := max(1, piece/c.net.Settings.ConditionPts)
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
	m, w, b := &c.net.Params.Map, &c.work[k], c.batch
	K, Q := m.K, len(c.d.Frame.NoiseKnots)
	m.RandomFeatures(w.phi, c.eval, k)
	for i := range n {
		y := b.Y[i*K+k]
		w.r[i], w.prec[i] = 0, 0
		if math.IsNaN(y) {
			continue
		}
		mu, _ := m.Mu(c.eval, i, k)
		w.r[i] = y - b.Base[i*K+k] - mu
		ls := 0.0
		for q := range Q {
			ls += b.Noise[i*Q+q] * c.logSigma[k*Q+q]
		}
		w.prec[i] = c.c * math.Exp(-2*ls)
	}
}

func (c *conditioner) add(k, n int) { c.sums[k].Add(c.work[k].phi.Phi, n, c.work[k].r, c.work[k].prec) }

// solve conditions every channel on all windows.
func (c *conditioner) solve() bool {
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
	c.sums[k].At(w.phi.Phi, n, w.mean, w.v)
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

// updateNoise moves log σ to what the residuals say.
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

// fewRows near a knot say too little of its noise.
const fewRows = 10

// moveNoise moves log σ of each knot by what the rows near it say: squares is the sum
// of weight·(e² + v)/σ² over them, near that of the weights. A knot with hardly any, as
// the first ones are where the time from one sample to the next is long, takes the
// noise of the nearest later one with rows, else of the earlier: training has left it
// where it began, and from the first one the sensor's noise is read.
func moveNoise(logSigma, squares, near []float64) {
	known := func(q int) bool { return near[q] >= fewRows && squares[q] > 0 }
	for q := range logSigma {
		if known(q) {
			logSigma[q] += 0.5 * math.Log(squares[q]/near[q])
		}
	}
	for q := range logSigma {
		from := q
		for from < len(logSigma) && !known(from) {
			from++
		}
		if from == len(logSigma) {
			for from = q; from >= 0 && !known(from); {
				from--
			}
		}
		if from >= 0 {
			logSigma[q] = logSigma[from]
		}
	}
}
