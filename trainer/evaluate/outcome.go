package evaluate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/linear"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// method is a predictor whose mean is scored.
type method int

const (
	byModel method = iota
	byHold
	byVelocity
	byLinear
	byRidge
	byPrior // prior dynamics alone: network weight 0
	methods
)

// overflow bounds the displacement of a roll-out that overflows, in the channel's
// unit: unmistakable and still finite when squared.
const overflow = 1e12

// outcome is what all methods predict for one window.
type outcome struct {
	measured, std []float64          // T×K; measured displacement, NaN where nothing was measured
	half50        []float64          // T×K, half width of the 50 % interval over std
	mean          [methods][]float64 // T×K, displacement from the measured start
	angle         [][methods]float64 // T, attitude errors, rad; none without an attitude
	flagged, ok   bool
	tube          estimator.Tube
	noHistory     bool // there was less before the window than the model reads
}

// comparer predicts windows by all methods. One per goroutine.
type comparer struct {
	m          *model.Model
	truth      bool
	noise      *startNoise // nil = starts are as measured
	beside     []float64   // K, variances of sensors in std alone
	onboard    *estimator.Fast
	scored     []bool              // K, whether the state is scored
	derivative []int               // K, state that is the derivative; −1 = not measured
	body       priordynamics.Body  // what velocity and body rates are of; empty = nothing is declared
	linear     *linear.Rollout     // nil = none in the model
	ridge      *direct.Map         // nil = none in the model
	attitude   *priordynamics.Body // nil = there is none

	replay.Window // the last one
	query         estimator.Query
	planned       feature.Plan // of query
	shift         []float64    // K, query.X0 − X0
	velocity      []float64    // K, measured at the start
	pred          *estimator.Prediction
	state         []float64 // K
}

func newComparer(m *model.Model, flights []window.Flight, opt Options) (*comparer, error) {
	onboard, err := estimator.NewFast(m, opt.Horizons)
	if err != nil {
		return nil, err
	}
	states := m.Channels[:m.K]
	c := &comparer{
		m: m, truth: opt.Truth, onboard: onboard, attitude: attitudeOf(m, &opt.Kinematics), body: bodyOf(m, &opt.Kinematics), velocity: make([]float64, m.K),
		Window: *replay.New(m.K, opt.Horizons), planned: feature.Plan{P: m.P, Step: m.Horizon}, shift: make([]float64, m.K), pred: onboard.NewPrediction(),
		state: make([]float64, m.K), scored: make([]bool, m.K), beside: make([]float64, m.K),
	}
	c.pred.Prior = make([]float64, len(c.Times)*m.K)
	if !opt.Truth {
		_, c.beside = m.SensorNoise()
	}
	for k, ch := range states {
		c.scored[k] = slices.Contains(opt.Channels, ch.Name) || opt.Channels == nil && (!ch.Estimated || opt.Truth)
	}
	if !slices.Contains(c.scored, true) {
		return nil, fmt.Errorf("the model has none of the states to score: %s", strings.Join(opt.Channels, ", "))
	}
	for _, ch := range states {
		c.derivative = append(c.derivative, channel.Index(states, ch.Derivative))
	}
	if m.P > 0 && opt.Readout == model.Plan {
		rows := window.PlanRows(flights, m.Horizon)
		c.query.Plan = make([]float64, rows*m.P)
		c.planned.Step /= float64(rows)
	}
	if opt.StartNoise > 0 {
		if c.noise, err = newStartNoise(m, opt); err != nil {
			return nil, err
		}
	}
	if len(m.Baseline.A) > 0 {
		if c.linear, err = linear.New(&m.Baseline, states, m.P, opt.Horizons); err != nil {
			return nil, err
		}
	}
	if len(m.Ridge.Direct.Levels) > 0 {
		c.ridge = direct.New(&m.Ridge.Direct, m.K, m.Horizon)
	}
	return c, nil
}

func (c *comparer) newOutcomes(n int) []outcome {
	size := len(c.Measured)
	out := make([]outcome, n)
	for i := range out {
		o, all := &out[i], make([]float64, int(methods+3)*size)
		part := func(j int) []float64 { return all[j*size : (j+1)*size : (j+1)*size] }
		o.measured, o.std, o.half50 = part(0), part(1), part(2)
		for j := range o.mean {
			o.mean[j] = part(j + 3)
		}
		if c.attitude != nil {
			o.angle = make([][methods]float64, len(c.Times))
		}
	}
	return out
}

// compare predicts the window that starts at a sample of f.
func (c *comparer) compare(dst *outcome, f *window.Flight, start int) {
	c.start(f, start)
	dst.ok = c.onboard.Predict(c.pred, &c.query)
	dst.flagged, dst.noHistory, dst.tube = c.pred.OutOfDistribution, c.pred.NoHistory, c.pred.Tube
	copy(dst.measured, c.Measured)
	for j := range dst.measured {
		if !c.scored[j%c.m.K] {
			dst.measured[j] = math.NaN()
		}
	}
	copy(dst.mean[byPrior], c.pred.Prior)
	copy(dst.std, c.pred.ObsStd)
	if c.truth {
		copy(dst.std, c.pred.Std)
	}
	for j, std := range dst.std {
		dst.half50[j] = model.MeasuredHalf50(c.pred.Half50, std, c.beside[j%c.m.K])
	}
	c.rollOut(dst)
	for j := range dst.std {
		k := j % c.m.K
		shift := c.shift[k]
		dst.mean[byModel][j] = c.pred.Mean[j] - c.X0[k]
		dst.mean[byHold][j] = shift
		dst.mean[byVelocity][j] = shift + c.velocity[k]*c.Times[j/c.m.K]
		for _, by := range []method{byLinear, byRidge, byPrior} {
			dst.mean[by][j] = shift + bounded(dst.mean[by][j])
		}
	}
	for i := range dst.angle {
		truth := c.euler(dst.measured, i)
		for j, mean := range dst.mean {
			dst.angle[i][j] = rotationAngle(c.euler(mean, i), truth)
		}
	}
}

// start reads a window and sets its query.
func (c *comparer) start(f *window.Flight, start int) {
	c.Read(f, start)
	q := &c.query
	q.X0, q.History = c.X0, c.History(c.m.History)
	if c.noise != nil {
		q.X0, q.P0 = c.noise.start(c.shift, f, start)
	}
	P := c.m.P
	if P == 0 {
		return
	}
	q.U = f.Input(start)
	c.planned.Values = q.U
	if q.Plan == nil {
		return
	}
	c.planned.Values = q.Plan
	rows := len(q.Plan) / P
	for i := range rows { // a row ends exactly where the next one begins
		a, b := float64(i)/float64(rows), float64(i+1)/float64(rows)
		f.InputMean(q.Plan[i*P:(i+1)*P], f.T[start]+a*c.m.Horizon, f.T[start]+b*c.m.Horizon)
	}
}

// rollOut writes the displacements of the baselines from the query's start (T×K), and sets the velocity there.
func (c *comparer) rollOut(dst *outcome) {
	K := c.m.K
	if c.ridge == nil {
		clear(dst.mean[byRidge])
	} else {
		var u channel.Command      // nil without inputs
		readout := int(model.Plan) // the only level without inputs
		if c.m.P > 0 {
			u, readout = &c.planned, int(c.pred.Readout)
		}
		c.ridge.Run(c.query.X0, u, readout, c.History(c.m.Ridge.History))
		for i, t := range c.Times {
			c.ridge.At(dst.mean[byRidge][i*K:(i+1)*K], nil, t)
		}
	}
	c.setVelocity()
	c.linearRollOut(dst.mean[byLinear])
}

// setVelocity sets the velocity at the query's start: by the kinematic relations in the world
// frame, else the derivative that is measured, else 0.
func (c *comparer) setVelocity() {
	if !c.body.Empty() {
		c.body.Derivative(c.velocity, c.query.X0)
	}
	for k, v := range c.derivative {
		if v >= 0 && !c.body.Determines(k) {
			c.velocity[k] = c.query.X0[v]
		}
	}
}

// linearRollOut writes the displacements of the linear model (T×K).
func (c *comparer) linearRollOut(byLinear []float64) {
	if c.linear == nil {
		clear(byLinear)
		return
	}
	var recorded linear.Signal = &c.Input
	if c.query.Plan == nil {
		recorded = &replay.Held{Value: c.query.U}
	}
	if !c.linear.Predict(byLinear, c.query.X0, recorded) {
		for i := range byLinear {
			byLinear[i] = overflow
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

// startNoise adds noise to start states, as on a robot whose state estimate is worse
// than that of the log.
type startNoise struct {
	seed uint64
	std  []float64 // K, of what is added
	cov  []float64 // K×K, of the noisy start: that and the sensor's; nil = hidden
	x0   []float64 // K
	src  *rand.ChaCha8
	rng  *rand.Rand
}

// newStartNoise returns an error if the model has no sensor noise.
func newStartNoise(m *model.Model, opt Options) (*startNoise, error) {
	s := &startNoise{seed: opt.Seed, std: make([]float64, m.K), x0: make([]float64, m.K), src: rand.NewChaCha8([32]byte{})}
	s.rng = rand.New(s.src)
	if !opt.HideStartCov {
		s.cov = make([]float64, m.K*m.K)
	}
	known := false
	for k, r := range m.Sensor {
		known = known || r > 0
		s.std[k] = opt.StartNoise * math.Sqrt(r)
		if s.cov != nil {
			s.cov[k*m.K+k] = r * (1 + opt.StartNoise*opt.StartNoise)
		}
	}
	if !known {
		return nil, errors.New("the model has no sensor noise to scale the noise of start states by: train it with separate = true")
	}
	return s, nil
}

// start returns the noisy state at a sample of f and its covariance, and writes the noise
// to shift (K). It depends on the seed and the window alone.
func (s *startNoise) start(shift []float64, f *window.Flight, sample int) (x0, cov []float64) {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], s.seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(f.Segment))
	binary.LittleEndian.PutUint64(key[16:], uint64(f.Origin))
	binary.LittleEndian.PutUint64(key[24:], uint64(sample))
	s.src.Seed(key)
	for k, x := range f.State(sample) {
		shift[k] = s.std[k] * s.rng.NormFloat64()
		s.x0[k] = x + shift[k]
	}
	return s.x0, s.cov
}
