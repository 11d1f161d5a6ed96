package evaluate

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/score"
)

// scorer accumulates the scores of windows, in time order.
type scorer struct {
	m            *model.Model
	opt          Options
	scored       []bool // K, whether the state is scored
	interpolated []bool // T×K, see window.Interpolated
	windows      int
	flagged      int
	noHistory    int
	cells        []cell      // T×K
	inside       [][]int     // T × len(levels), measurements inside the central interval of each level
	linearStd    []float64   // T×K, of the linear model's errors; none = unknown
	angles       []errorSums // T, of attitudes
	gain         []float64   // per window, log likelihood per measurement beyond that of the prior dynamics
	priorSum     float64     // sum of the log likelihoods under the prior dynamics
}

// errorSums are sums of squared errors of all methods.
type errorSums struct {
	n      int
	square [methods]float64
}

func (s *errorSums) rms(by method) float64 { return math.Sqrt(s.square[by] / float64(s.n)) }

func (s *errorSums) errors() Errors {
	return Errors{RMSE: s.rms(byModel), Hold: s.rms(byHold), Velocity: s.rms(byVelocity), Linear: s.rms(byLinear), Ridge: s.rms(byRidge)}
}

// cell is one channel at one horizon.
type cell struct {
	errorSums
	model  score.Counters
	linear score.Counters // of the linear model with its own calibrated interval
	inside []float64      // windows where it was measured: 1 if inside the 95 % interval
}

// levels of the calibration diagram.
var levels = []float64{0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99}

var errNotFinite = errors.New("the prediction is not finite; the state is far from what the model was trained on, or the model is damaged")

func newScorer(m *model.Model, opt Options, windows int) *scorer {
	T := len(opt.Horizons)
	s := &scorer{m: m, opt: opt, cells: make([]cell, T*m.K), inside: make([][]int, T), angles: make([]errorSums, T)}
	for i := range s.cells {
		s.cells[i].inside = make([]float64, 0, windows)
	}
	for i := range s.inside {
		s.inside[i] = make([]int, len(levels))
	}
	if len(m.LinearStd) > 0 && len(m.Baseline.A) > 0 {
		for _, t := range opt.Horizons {
			for k := range m.K {
				s.linearStd = append(s.linearStd, Interpolate(m, m.LinearStd, k, t))
			}
		}
	}
	return s
}

// Interpolate returns entry k of a table (K×Q, over the model's knots) at time t of the
// horizon, s.
func Interpolate(m *model.Model, table []float64, k int, t float64) float64 {
	weights := make([]float64, len(m.NoiseKnots))
	model.KnotWeights(weights, m.NoiseKnots, t/m.Horizon)
	v := 0.0
	for q, w := range weights {
		v += w * table[k*len(weights)+q]
	}
	return v
}

func (s *scorer) add(o *outcome) error {
	if !o.ok {
		return errNotFinite
	}
	s.windows++
	if o.flagged {
		s.flagged++
	}
	if o.noHistory {
		s.noHistory++
	}
	for i, angle := range o.angle {
		if math.IsNaN(angle[byModel]) {
			continue
		}
		sums := &s.angles[i]
		sums.n++
		for j, a := range angle {
			sums.square[j] += a * a
		}
	}
	K, gain, n := s.m.K, 0.0, 0
	for i, x := range o.measured {
		if math.IsNaN(x) {
			continue
		}
		mean, sd, c := o.mean[byModel][i], o.std[i], &s.cells[i]
		if err := score.Check(x, mean, sd); err != nil {
			return fmt.Errorf("channel %q after %g s: %w", s.m.Channels[i%K].Name, s.opt.Horizons[i/K], err)
		}
		c.model.Half50 = o.half50[i]
		c.model.Add(x, mean, sd)
		c.n++
		for j := range c.square {
			e := x - o.mean[j][i]
			c.square[j] += e * e
		}
		if s.linearStd != nil {
			c.linear.Add(x, o.mean[byLinear][i], s.linearStd[i])
		}
		hit := 0.0
		if score.Covered(x, mean, sd, score.Z95) {
			hit = 1
		}
		c.inside = append(c.inside, hit)
		pit := score.PIT(x, mean, sd)
		for j, level := range levels {
			if math.Abs(2*pit-1) <= level {
				s.inside[i/K][j]++
			}
		}
		prior := score.LogLik(x, o.mean[byPrior][i], sd)
		s.priorSum += prior
		gain += score.LogLik(x, mean, sd) - prior
		n++
	}
	if n > 0 {
		s.gain = append(s.gain, gain/float64(n))
	}
	return nil
}

// table returns the scores; dt is the mean time between windows, s.
func (s *scorer) table(dt float64) (*Table, error) {
	H := s.opt.Horizons
	out := &Table{
		Vehicle: s.m.Vehicle, ModelID: s.m.ID, Inputs: s.opt.Readout.String(), Truth: s.opt.Truth, Stride: s.opt.Stride,
		Windows: s.windows, NoHistory: s.noHistory, StartNoise: s.opt.StartNoise, StartCovGiven: s.opt.StartNoise > 0 && !s.opt.HideStartCov,
	}
	if b := attitudeOf(s.m, &s.opt.Kinematics); b != nil && s.angles[0].n > 0 {
		for _, k := range b.Attitude {
			out.Attitude = append(out.Attitude, s.m.Channels[k].Name)
		}
	}
	block := int(math.Ceil(2 * H[len(H)-1] / dt))
	for i := range H {
		row, err := s.horizon(i, block, dt)
		if err != nil {
			return nil, err
		}
		out.Horizons = append(out.Horizons, row)
	}
	out.Geo = geoOf(out.Horizons, func(c *Channel) Errors { return c.Errors })
	if out.NoiseShare() > 0 {
		state := geoOf(out.Horizons, func(c *Channel) Errors { return c.without(c.Noise) })
		out.GeoState = &state
	}
	if s.linearStd != nil {
		out.Calibrated = compareCalibrated(out.Horizons)
	}
	if s.m.Displacement {
		out.Networks = s.networks(block)
	}
	return out, nil
}

func (s *scorer) horizon(i, block int, dt float64) (Horizon, error) {
	K, n := s.m.K, 0
	var cells []cell // of the scored states
	row := Horizon{T: s.opt.Horizons[i]}
	row.Independent = math.Max(1, float64(s.windows)*math.Min(1, dt/row.T))
	if s.angles[i].n > 0 {
		errors := s.angles[i].errors()
		row.Attitude = &errors
	}
	for k, ch := range s.m.Channels[:K] {
		c := &s.cells[i*K+k]
		if !s.scored[k] {
			continue
		}
		if c.n == 0 {
			return row, fmt.Errorf("channel %q is never measured %g s after a start: choose other horizons", ch.Name, row.T)
		}
		n += c.n
		if s.interpolated != nil && s.interpolated[i*K+k] {
			row.Interpolated = append(row.Interpolated, ch.Name)
		}
		e := Channel{
			Name: ch.Name, Unit: ch.Unit, Errors: c.errors(),
			CRPS: c.model.CRPS(), LogLik: c.model.LogLik(), Std: c.model.Std(), OOD: float64(s.flagged) / float64(s.windows),
		}
		if s.m.Filter != nil && !s.opt.Truth && !ch.Estimated {
			e.Noise = math.Sqrt(s.m.Filter.R[k])
		}
		e.Coverage50, e.Coverage90, e.Coverage95 = c.model.Coverage()
		e.Coverage95Low, e.Coverage95High = s.interval(c.inside, block)
		if s.linearStd != nil {
			e.LinearCRPS, e.LinearLogLik = c.linear.CRPS(), c.linear.LogLik()
			_, _, e.LinearCoverage95 = c.linear.Coverage()
		}
		row.Channels, cells = append(row.Channels, e), append(cells, *c)
	}
	for _, e := range row.Channels {
		row.Coverage95 += e.Coverage95 / float64(len(cells))
	}
	row.Coverage95Low, row.Coverage95High = s.meanInterval(cells, row.Channels, block)
	for j, level := range levels {
		row.Reliability = append(row.Reliability, Reliability{Nominal: level, Observed: float64(s.inside[i][j]) / float64(n)})
	}
	return row, nil
}

// interval returns the interval of the mean of v; series of one length are resampled alike.
func (s *scorer) interval(v []float64, block int) (low, high float64) {
	return score.Interval(v, block, rand.New(rand.NewPCG(s.opt.Seed, uint64(len(v)))))
}

// meanInterval returns the interval of the coverage averaged over the channels of one
// horizon. It resamples whole windows, so that errors of channels that go together
// stay together; where channels were measured in different windows it cannot, and
// returns the mean of the channels' own bounds.
func (s *scorer) meanInterval(cells []cell, channels []Channel, block int) (low, high float64) {
	mean := make([]float64, len(cells[0].inside))
	K := float64(len(cells))
	for _, c := range cells {
		if len(c.inside) != len(mean) {
			for _, e := range channels {
				low, high = low+e.Coverage95Low/K, high+e.Coverage95High/K
			}
			return low, high
		}
		for i, hit := range c.inside {
			mean[i] += hit / K
		}
	}
	return s.interval(mean, block)
}

// networks compares the scored model with its prior dynamics.
func (s *scorer) networks(block int) *Networks {
	K, n, model := s.m.K, 0, 0.0
	out := &Networks{RMSERatio: 1}
	var errs, prior []float64
	for i, c := range s.cells {
		n += c.n
		model += c.model.LogLikSum
		a, b := c.rms(byModel), c.rms(byPrior)
		if i%K == 0 {
			out.PriorRMSE = append(out.PriorRMSE, nil)
		}
		if !s.scored[i%K] {
			continue
		}
		out.PriorRMSE[i/K] = append(out.PriorRMSE[i/K], b)
		if a > 0 && b > 0 {
			errs, prior = append(errs, a), append(prior, b)
		}
	}
	if len(errs) > 0 {
		out.RMSERatio = score.GeoRatio(errs, prior)
	}
	out.LogLik, out.PriorLogLik = model/float64(n), s.priorSum/float64(n)
	out.GainLow, out.GainHigh = s.interval(s.gain, block)
	return out
}

// geoOf returns the geometric means of the errors of the channels that have all.
func geoOf(rows []Horizon, of func(c *Channel) Errors) Geo {
	var hold, model, velocity, linear, ridge []float64
	for _, row := range rows {
		for i := range row.Channels {
			e := of(&row.Channels[i])
			if e.Hold > 0 && e.RMSE > 0 && e.Velocity > 0 && e.Linear > 0 && e.Ridge > 0 {
				hold, model = append(hold, e.Hold), append(model, e.RMSE)
				velocity, linear, ridge = append(velocity, e.Velocity), append(linear, e.Linear), append(ridge, e.Ridge)
			}
		}
	}
	if len(hold) == 0 {
		return Geo{Model: 1, Velocity: 1, Linear: 1, Ridge: 1}
	}
	return Geo{score.GeoRatio(model, hold), score.GeoRatio(velocity, hold), score.GeoRatio(linear, hold), score.GeoRatio(ridge, hold)}
}

// compareCalibrated compares the model with the linear model under its own interval.
func compareCalibrated(rows []Horizon) *BaselineComparison {
	out, n, ratios, logs := &BaselineComparison{}, 0.0, 0.0, 0.0
	for _, row := range rows {
		for _, e := range row.Channels {
			n++
			out.LogLik += e.LogLik
			out.LinearLogLik += e.LinearLogLik
			if e.CRPS > 0 && e.LinearCRPS > 0 {
				ratios++
				logs += math.Log(e.CRPS / e.LinearCRPS)
			}
		}
	}
	out.LogLik, out.LinearLogLik, out.CRPS = out.LogLik/n, out.LinearLogLik/n, math.Exp(logs/math.Max(ratios, 1))
	return out
}
