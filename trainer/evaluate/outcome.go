package evaluate

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/linear"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/baseline"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// method is a predictor whose mean is scored.
type method int

const (
	byModel method = iota
	byHold
	byVelocity
	byLinear
	byPrior // prior dynamics alone: network weight 0
	methods
)

// overflow bounds the displacement of a roll-out that overflows, in the channel's
// unit: unmistakable and still finite when squared.
const overflow = 1e12

// outcome is what all methods predict for one window.
type outcome struct {
	measured, std []float64          // T×K; measured displacement, NaN where nothing was measured
	mean          [methods][]float64 // T×K, displacement from the measured start
	angle         [][methods]float64 // T, attitude errors, rad; none without an attitude
	flagged, ok   bool
}

// comparer predicts windows by all methods. One per goroutine.
type comparer struct {
	*predictor
	truth    bool
	velocity *baseline.Velocity
	linear   *linear.Rollout     // nil = none in the model
	attitude *priordynamics.Body // nil = there is none
	state    []float64           // K
}

// held is an input that stays at its value.
type held struct{ u []float64 }

// Mean implements linear.Signal.
func (h held) Mean(dst []float64, _, _ float64) { copy(dst, h.u) }

func newComparer(m *model.Model, opt Options) (*comparer, error) {
	p, err := newPredictor(m, opt)
	if err != nil {
		return nil, err
	}
	states := m.Channels[:m.K]
	c := &comparer{predictor: p, truth: opt.Truth, velocity: baseline.NewVelocity(states), attitude: attitudeOf(m, &opt.Kinematics), state: make([]float64, m.K)}
	if len(m.Baseline.A) > 0 {
		if c.linear, err = linear.New(&m.Baseline, states, m.P, opt.Horizons); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// newOutcomes allocates n outcomes.
func (c *comparer) newOutcomes(n int) []outcome {
	size := len(c.Measured)
	out := make([]outcome, n)
	for i := range out {
		o, all := &out[i], make([]float64, int(methods+2)*size)
		part := func(j int) []float64 { return all[j*size : (j+1)*size : (j+1)*size] }
		o.measured, o.std = part(0), part(1)
		for j := range o.mean {
			o.mean[j] = part(j + 2)
		}
		if c.attitude != nil {
			o.angle = make([][methods]float64, len(c.Times))
		}
	}
	return out
}

// compare predicts the window that starts at a sample of f.
func (c *comparer) compare(dst *outcome, f *window.Flight, start int) {
	dst.ok = c.window(f, start)
	dst.flagged = c.pred.OutOfDistribution
	copy(dst.measured, c.Measured)
	copy(dst.std, c.pred.ObsStd)
	if c.truth {
		copy(dst.std, c.pred.Std)
	}
	c.rollOut(dst.mean[byLinear])
	for j := range dst.std {
		k := j % c.m.K
		shift := c.shift[k]
		dst.mean[byModel][j] = c.pred.Mean[j] - c.X0[k]
		dst.mean[byHold][j] = shift
		dst.mean[byVelocity][j] = shift + c.velocity.Displacement(k, c.query.X0, c.Times[j/c.m.K])
		dst.mean[byLinear][j] = shift + bounded(dst.mean[byLinear][j])
		dst.mean[byPrior][j] = shift + bounded(c.prior[j])
	}
	for i := range dst.angle {
		truth := c.euler(dst.measured, i)
		for j, mean := range dst.mean {
			dst.angle[i][j] = rotationAngle(c.euler(mean, i), truth)
		}
	}
}

// rollOut writes the displacements of the linear model to dst.
func (c *comparer) rollOut(dst []float64) {
	if c.linear == nil {
		clear(dst)
		return
	}
	var u linear.Signal = &c.Input
	if c.query.Plan == nil {
		u = held{c.query.U}
	}
	if !c.linear.Predict(dst, c.query.X0, u) {
		for i := range dst {
			dst[i] = overflow
		}
	}
}

// bounded returns v within ±overflow.
func bounded(v float64) float64 {
	if math.IsNaN(v) {
		return overflow
	}
	return math.Max(-overflow, math.Min(overflow, v))
}

// euler returns roll, pitch and yaw, rad, after the displacement of horizon i.
func (c *comparer) euler(displacement []float64, i int) [3]float64 {
	for k, x := range c.X0 {
		c.state[k] = x + displacement[i*c.m.K+k]
	}
	return c.attitude.Euler(c.state)
}
