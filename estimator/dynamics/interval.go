package dynamics

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// prediction is what a program predicts, K×T each.
type prediction struct {
	displacement, std, obs, factor program.Reg
	covariates                     program.Reg
	ratio                          program.Reg // 1×T; None: not measured
}

// intervals appends means and standard deviations in state units:
//
//	mean = prior + Scale w(t) mean_e      std² = calibrated (var + max(0, σ² − R)) + b      obs_std² = factor (var + σ²) + b + R′
//
// b is the disagreement of the stack.
// R is the variance of the sensor in σ², at most that, and R′ what a measurement has besides: see model.Model.SensorNoise. In
// the paper's form the state has no part of σ².
func (c *compiler) intervals(s, known stack, e ensemble, n oodScores) prediction {
	m, K, T := c.m, c.m.K, c.T()
	weight, ok := model.ForCondition(m.NetworkWeight, c.s.Condition)
	w := same(K*T, 1)
	if ok {
		w = c.table(weight, c.times)
	}
	variance, noise, sensor, besides := make([]float64, K*T), make([]float64, K*T), make([]float64, K*T), make([]float64, K*T)
	inside, beside := m.SensorNoise()
	for j := range w {
		k := j / T
		d := m.Scale[k]
		w[j] *= d
		variance[j], noise[j] = d*d, d*d*e.noise[j]
		sensor[j], besides[j] = math.Min(inside[k], noise[j]), beside[k]
	}
	var out prediction
	out.displacement = c.sum(K, nil, weighted{s.displacement, 1}, weighted{c.Weigh(e.mean, T, w, nil), 1})
	minus := func(a, b []float64) []float64 {
		d := make([]float64, len(a))
		for i, v := range a {
			d[i] = v - b[i]
		}
		return d
	}
	total := c.Weigh(e.variance, T, variance, noise)
	state := c.Weigh(e.variance, T, variance, minus(noise, sensor))
	widths := widths{displacement: s.displacement, spread: s.spread, total: total, noise: noise}
	plainSensor := false
	out.ratio = c.rmsRatio(known, s)
	if of, ok := model.ForCondition(m.Calibration, c.s.Condition); ok {
		out.factor, plainSensor = c.calibrated(&of, &widths, n), of.PlainSensor
	} else {
		out.factor = c.scaled(out.ratio, n)
	}
	out.covariates = c.covariates(&widths, n)
	apart := func(squares program.Reg) program.Reg {
		if s.disagreement == program.None {
			return squares
		}
		return c.sum(K, nil, weighted{squares, 1}, weighted{s.disagreement, 1})
	}
	measured := apart(c.Times(out.factor, total))
	if slices.Max(beside) > 0 {
		measured = c.sum(K, nil, weighted{measured, 1}, weighted{c.Constant(K, T, besides), 1})
	}
	out.obs = c.Function(program.Sqrt, measured)
	squares := c.Times(out.factor, state)
	if plainSensor { // the sensor's variance is not multiplied: the state's is what remains, if that is more
		squares = c.most(squares, c.sum(K, nil, weighted{c.Times(out.factor, total), 1}, weighted{c.Constant(K, T, sensor), -1}))
	}
	out.std = c.Function(program.Sqrt, apart(squares))
	return out
}

// scaled appends the factor of the variances of a model without calibration, by its scale factors, its running RMS
// displacement (1×T) and its distance from the training data: K×T.
func (c *compiler) scaled(ratio program.Reg, n oodScores) program.Reg {
	m, K, T := c.m, c.m.K, c.T()
	factors := same(K*T, 1)
	if at, ok := model.ForCondition(m.ScaleFactor, c.s.Condition); ok {
		factors = c.table(at, c.times)
	}
	for j, f := range factors {
		factors[j] = f * f
	}
	readout := int(c.s.Condition.Readout())
	var logs []weighted // of the factor of a standard deviation
	if ratio != program.None && readout < len(m.RMSDisplacement.Exponent) && m.RMSDisplacement.Exponent[readout] != 0 {
		// log factor = e·log r below 1, ½e·log r above: bounded by the larger or smaller of both.
		exponent := m.RMSDisplacement.Exponent[readout]
		log := c.Function(program.Log, c.Clamp(ratio, []float64{m.RMSDisplacement.Min}, []float64{m.RMSDisplacement.Max}))
		below := c.Clamp(log, []float64{-inf}, []float64{0})
		logs = append(logs, weighted{below, exponent}, weighted{c.Clamp(log, []float64{0}, []float64{inf}), exponent / 2})
	}
	if readout < len(m.OODExponent) {
		if r := &m.OOD; r.Near > 0 && m.OODExponent[readout] != 0 {
			logs = append(logs, weighted{c.Function(program.Log, c.Clamp(n.distance, []float64{r.Near}, []float64{max(r.Far, r.Near)})), m.OODExponent[readout]})
			logs = append(logs, weighted{c.Constant(1, 1, []float64{math.Log(r.Near)}), -m.OODExponent[readout]})
		}
		score := c.Clamp(n.score, []float64{1}, []float64{maxOODFactor * maxOODFactor})
		logs = append(logs, weighted{c.Function(program.Log, score), 0.5})
	}
	if len(logs) == 0 {
		return c.Constant(K, T, factors)
	}
	for i := range logs {
		logs[i].w *= 2
	}
	return c.Weigh(c.rowsOf(c.Function(program.Exp, c.sum(1, nil, logs...)), K), T, factors, nil)
}

// maxOODFactor bounds the growth of intervals with the score.
const maxOODFactor = 10

// rmsRatio appends the running RMS displacement over the typical one, 1×T: the root mean square of displacement over
// typical displacement, over channels and times up to τ, by trapezoids between the noise knots. None: not measured.
func (c *compiler) rmsRatio(known, s stack) program.Reg {
	m, K, T := c.m, c.m.K, c.T()
	if !usesRMS(m) {
		return program.None
	}
	Q := len(m.NoiseKnots)
	taus := make([]float64, 0, T+Q)
	for _, t := range c.times {
		taus = append(taus, t/m.Horizon)
	}
	taus = append(taus, m.NoiseKnots...)
	w, counts := make([]float64, K*(T+Q)), make([]float64, T+Q)
	for k := range K {
		for j, tau := range taus {
			if typical := m.RMSDisplacement.At(m.NoiseKnots, k, tau); typical > 0 {
				w[k*(T+Q)+j] = 1 / typical
				counts[j]++
			}
		}
	}
	mean, none := make([]float64, T+Q), make([]float64, T+Q) // over channels that are not left out
	for j, n := range counts {
		if n > 0 {
			mean[j] = 1 / n
		} else {
			none[j] = 1
		}
	}
	squares := c.Weigh(c.total(c.Function(program.Square, c.Weigh(known.displacement, T+Q, w, nil))), T+Q, mean, none)
	return c.Function(program.Sqrt, c.Columns(squares, T, meansUntil(taus[:T], m.NoiseKnots)))
}

// meansUntil returns the weights of the means of a square up to each τ: of its values at these times, then at the knots.
func meansUntil(taus, knots []float64) (entries []program.Entry) {
	T := len(taus)
	for i, tau := range taus {
		row := make([]float64, T+len(knots))
		if tau <= 0 {
			row[i] = 1
		} else {
			last := len(knots) - 1
			for last >= 0 && knots[last] > tau {
				last--
			}
			addUntil(row, knots, T, last, tau, i)
			for j := range row {
				row[j] /= tau
			}
		}
		for j, v := range row {
			if v != 0 {
				entries = append(entries, program.Entry{To: i, From: j, W: v})
			}
		}
	}
	return entries
}

// addUntil adds to row the weights of the integral of the square up to τ, whose square has the place at; those of the
// knots begin at first, and knot q is the last before τ. Before the first knot that is not at 0 the square is constant.
func addUntil(row, knots []float64, first, q int, tau float64, at int) {
	if q < 0 || knots[q] <= 0 {
		row[at] += tau
		return
	}
	row[first+q] += 0.5 * (tau - knots[q])
	row[at] += 0.5 * (tau - knots[q])
	addUntil(row, knots, first, q-1, knots[q], first+q)
}
