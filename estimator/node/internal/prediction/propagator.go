package prediction

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator"
)

// propagator carries the newest state to any time until it is too old: one prediction
// at a few times, closer together at the start, and interpolation between them.
// The mean is interpolated by cubic Hermite pieces, for which the model gives the
// derivatives, the standard deviation linearly.
type propagator struct {
	predictor Predictor
	dst       *estimator.Prediction
	K         int

	x0, std0 []float64 // K, where it starts
	x, P     []float64 // K and K×K, where it was last asked
	plan     []float64 // rows×P, the plan from there on
	horizon  float64   // s, of the model
	inputs   int
}

// propagatorPoints is how many times are predicted at.
const propagatorPoints = 8

// newPropagator allocates the memory for ages up to reach, s.
func newPropagator(of *Predictors, reach float64) (*propagator, error) {
	times := make([]float64, propagatorPoints)
	for i := range times {
		f := float64(i+1) / propagatorPoints
		times[i] = reach * f * f
	}
	m := of.Model
	p, err := of.At(times)
	if err != nil {
		return nil, err
	}
	return &propagator{
		predictor: p, dst: p.NewPrediction().WithDerivatives(), K: m.K,
		x0: make([]float64, m.K), std0: make([]float64, m.K), x: make([]float64, m.K), P: make([]float64, m.K*m.K),
		horizon: m.Horizon, inputs: m.P,
	}, nil
}

// start predicts from a state. sensor is the variance (K) of a state that comes
// without a covariance.
func (b *propagator) start(q *estimator.Query, sensor []float64) (ok bool) {
	copy(b.x0, q.X0)
	for k := range b.K {
		v := sensor[k]
		if q.P0 != nil {
			v = q.P0[k*b.K+k]
		}
		b.std0[k] = math.Sqrt(max(v, 0))
	}
	return b.predictor.Predict(b.dst, q)
}

// at writes to x and P where the state is, age s after it was measured.
func (b *propagator) at(age float64) {
	t, K := b.dst.Times, b.K
	i := 0
	for i < len(t)-1 && t[i] < age {
		i++
	}
	row := func(v []float64) []float64 { return v[i*K : (i+1)*K] }
	mean, slope, std := row(b.dst.Mean), row(b.dst.DMean), row(b.dst.Std)
	mean0, std0 := b.x0, b.std0
	var slope0 []float64
	from := 0.0
	if i > 0 {
		from = t[i-1]
		mean0, slope0, std0 = b.dst.Mean[(i-1)*K:i*K], b.dst.DMean[(i-1)*K:i*K], b.dst.Std[(i-1)*K:i*K]
	}
	h := t[i] - from
	s := min(max((age-from)/h, 0), 1)
	clear(b.P)
	for k := range K {
		d := mean[k] - mean0[k]
		// In the first piece only the end has a derivative: the one assumed at the
		// start makes the piece a parabola.
		before := 2*d/h - slope[k]
		if slope0 != nil {
			before = slope0[k]
		}
		b.x[k] = mean0[k] + s*(h*before+s*(3*d-h*(2*before+slope[k])+s*(h*(before+slope[k])-2*d)))
		sd := std0[k] + s*(std[k]-std0[k])
		b.P[k*K+k] = sd * sd
	}
}

// planFrom returns the plan from age s on, by rows of the same step, s (0 = they divide
// the horizon).
func (b *propagator) planFrom(plan []float64, step, age float64) []float64 {
	if len(plan) == 0 || b.inputs == 0 {
		return nil
	}
	rows := float64(len(plan) / b.inputs)
	span := b.horizon
	if step > 0 {
		span = step * rows
	}
	b.plan = shifted(b.plan, plan, b.inputs, age*rows/span)
	return b.plan
}
