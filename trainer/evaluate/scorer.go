package evaluate

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/score"
)

// scorer gathers the outcomes of windows, in time order.
type scorer struct {
	m       *model.Model
	opt     Options
	windows int
	flagged int
	cells   []cell         // T×K
	pit     []counter      // T, levels of the reliability diagram
	fairStd []float64      // T×K, of the linear model; none = unknown
	turned  []attitudeSums // T
}

// cell is one channel at one horizon.
type cell struct {
	score.Counters
	hold, velocity, linear float64        // sums of squares
	fair                   score.Counters // of the linear model with its own calibrated interval
	inside                 []float64      // windows where it was measured: 1 if inside the 95 % interval
}

// counter counts points inside the central interval of each level.
type counter struct {
	n      int
	inside []int
}

// levels of the reliability diagram.
var levels = []float64{0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99}

var errNotFinite = errors.New("the prediction is not finite; the state is far from what the model was trained on, or the model is damaged")

func newScorer(m *model.Model, opt Options, windows int) *scorer {
	s := &scorer{m: m, opt: opt, cells: make([]cell, len(opt.Horizons)*m.K), pit: make([]counter, len(opt.Horizons)), turned: make([]attitudeSums, len(opt.Horizons))}
	for i := range s.cells {
		s.cells[i].inside = make([]float64, 0, windows)
	}
	for i := range s.pit {
		s.pit[i].inside = make([]int, len(levels))
	}
	s.fairStd = linearStd(m, opt.Horizons)
	return s
}

// linearStd returns the standard deviation of the linear model's errors at the
// horizons (T×K), as its training measured it; nil if it did not.
func linearStd(m *model.Model, horizons []float64) []float64 {
	Q := len(m.NoiseKnots)
	if len(m.LinearStd) == 0 || len(m.Baseline.A) == 0 {
		return nil
	}
	weights := make([]float64, Q)
	var out []float64
	for _, t := range horizons {
		estimator.KnotWeights(weights, m.NoiseKnots, t/m.Horizon)
		for k := range m.K {
			sd := 0.0
			for q, w := range weights {
				sd += w * m.LinearStd[k*Q+q]
			}
			out = append(out, sd)
		}
	}
	return out
}

// add scores one window.
func (s *scorer) add(o *outcome) error {
	if !o.ok {
		return errNotFinite
	}
	s.windows++
	if o.flagged {
		s.flagged++
	}
	K := s.m.K
	for i, t := range o.turns {
		s.turned[i].add(t)
	}
	for i, x := range o.truth {
		if math.IsNaN(x) {
			continue
		}
		m, sd, c := o.mean[i], o.std[i], &s.cells[i]
		if err := score.Check(x, m, sd, s.windows-1, i/K, i%K); err != nil {
			return fmt.Errorf("channel %q after %g s: %w", s.m.Channels[i%K].Name, s.opt.Horizons[i/K], err)
		}
		c.Add(x, m, sd)
		c.hold += (x - o.shift[i%K]) * (x - o.shift[i%K])
		c.velocity += (x - o.velocity[i]) * (x - o.velocity[i])
		c.linear += (x - o.linear[i]) * (x - o.linear[i])
		if s.fairStd != nil {
			c.fair.Add(x, o.linear[i], s.fairStd[i])
		}
		hit := 0.0
		if score.Covered(x, m, sd, score.Z95) {
			hit = 1
		}
		c.inside = append(c.inside, hit)
		s.pit[i/K].add(score.PIT(x, m, sd))
	}
	return nil
}

func (c *counter) add(pit float64) {
	c.n++
	for i, l := range levels {
		if math.Abs(2*pit-1) <= l {
			c.inside[i]++
		}
	}
}

// table closes the account; dt is the mean time between windows, s.
func (s *scorer) table(dt float64) (*Table, error) {
	K, H := s.m.K, s.opt.Horizons
	out := &Table{
		Vehicle: s.m.Vehicle, ModelID: s.m.ID, Inputs: s.opt.Readout.String(), Truth: s.opt.Truth,
		Stride: s.opt.Stride, Windows: s.windows, StartNoise: s.opt.StartNoise, StartCovGiven: s.opt.StartNoise > 0 && !s.opt.HideStartCov,
	}
	if b := attitudeOf(s.m, &s.opt.Kinematics); b != nil {
		for _, k := range b.Attitude {
			out.Attitude = append(out.Attitude, s.m.Channels[k].Name)
		}
	}
	block := int(math.Ceil(2 * H[len(H)-1] / dt))
	var geo, geoVelocity, geoLinear, geoHold []float64
	var fair comparison
	for i, t := range H {
		row := Horizon{T: t, Attitude: s.turned[i].result()}
		for k := range K {
			c := &s.cells[i*K+k]
			ch := s.m.Channels[k]
			if c.N == 0 {
				return nil, fmt.Errorf("channel %q is never measured %g s after a start: choose other horizons", ch.Name, t)
			}
			rms := func(sum float64) float64 { return math.Sqrt(sum / float64(c.N)) }
			e := Channel{
				Name: ch.Name, Unit: ch.Unit,
				RMSE: c.RMSE(), Hold: rms(c.hold), Velocity: rms(c.velocity), Linear: rms(c.linear),
				CRPS: c.CRPS(), LogLik: c.LogLik(), Std: c.Std(), OOD: float64(s.flagged) / float64(s.windows),
			}
			e.Coverage50, e.Coverage90, e.Coverage95 = c.Coverage()
			e.Coverage95Low, e.Coverage95High = s.bootstrap(len(c.inside), block).Interval(c.inside, 0.95)
			if c.fair.N > 0 {
				e.LinearCRPS, e.LinearLogLik = c.fair.CRPS(), c.fair.LogLik()
				_, _, e.LinearCoverage95 = c.fair.Coverage()
				fair.add(&e)
			}
			row.Channels = append(row.Channels, e)
			row.Coverage95 += e.Coverage95 / float64(K)
			if e.Hold > 0 && e.RMSE > 0 && e.Velocity > 0 && e.Linear > 0 {
				geo, geoVelocity = append(geo, e.RMSE), append(geoVelocity, e.Velocity)
				geoLinear, geoHold = append(geoLinear, e.Linear), append(geoHold, e.Hold)
			}
		}
		row.Coverage95Low, row.Coverage95High = s.meanInterval(i, block)
		for j, l := range levels {
			row.Reliability = append(row.Reliability, Reliability{Nominal: l, Observed: float64(s.pit[i].inside[j]) / float64(s.pit[i].n)})
		}
		out.Horizons = append(out.Horizons, row)
	}
	out.Calibrated = fair.result()
	out.Geo = Geo{Model: 1, Velocity: 1, Linear: 1}
	if len(geo) > 0 {
		out.Geo = Geo{score.GeoRatio(geo, geoHold), score.GeoRatio(geoVelocity, geoHold), score.GeoRatio(geoLinear, geoHold)}
	}
	return out, nil
}

// bootstrap of n windows, the same for every series of that length.
func (s *scorer) bootstrap(n, block int) *score.Bootstrap {
	return score.NewBootstrap(n, block, rand.New(rand.NewPCG(s.opt.Seed, uint64(n))))
}

// meanInterval returns the interval of the coverage averaged over channels. It
// resamples whole windows, so that errors of channels that go together stay
// together; where channels were measured in different windows it cannot, and
// returns the mean of the channels' own bounds.
func (s *scorer) meanInterval(horizon, block int) (low, high float64) {
	K := s.m.K
	cells := s.cells[horizon*K : (horizon+1)*K]
	sum := make([]float64, len(cells[0].inside))
	for k := range cells {
		if len(cells[k].inside) != len(sum) {
			return s.meanOfBounds(cells, block)
		}
		for i, hit := range cells[k].inside {
			sum[i] += hit / float64(K)
		}
	}
	return s.bootstrap(len(sum), block).Interval(sum, 0.95)
}

func (s *scorer) meanOfBounds(cells []cell, block int) (low, high float64) {
	for k := range cells {
		l, h := s.bootstrap(len(cells[k].inside), block).Interval(cells[k].inside, 0.95)
		low, high = low+l/float64(len(cells)), high+h/float64(len(cells))
	}
	return low, high
}
