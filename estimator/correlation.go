package estimator

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// correlations are those of the errors of the states at the same time, see the package.
type correlations struct {
	K          int
	conditions [model.Conditions]*model.Joint // nil = not known
	kinematic  []float64                      // K×K, where it is not known
	taus       []float64                      // T
	start      []float64                      // T×K, what P0 adds to the variances of the prediction
	carried    []float64                      // K×K, J P0
	P0         []float64                      // K×K, symmetric
}

func newCorrelations(m *model.Model, times []float64) correlations {
	errors := newProcess(m.Channels[:m.K], nil)
	c := correlations{K: m.K, kinematic: errors.correlation(), start: make([]float64, len(times)*m.K), carried: make([]float64, m.K*m.K), P0: make([]float64, m.K*m.K)}
	for i := range c.conditions {
		if j, ok := model.ForCondition(m.Joint, model.Condition(i)); ok {
			c.conditions[i] = &j
		}
	}
	for _, t := range times {
		c.taus = append(c.taus, t/m.Horizon)
	}
	return c
}

// at writes the correlation at time i without that of the start, to dst (K×K).
func (c *correlations) at(dst []float64, condition model.Condition, i int) {
	if j := c.conditions[condition]; j != nil {
		j.At(dst, c.K, c.taus[i])
		return
	}
	copy(dst, c.kinematic)
}

// tube returns the factors of the tubes; 0 = not known.
func (c *correlations) tube(condition model.Condition) (out Tube) {
	if j := c.conditions[condition]; j != nil {
		copy(out[:], j.Tube)
	}
	return out
}

// correlate sets dst.Tube and fills dst.Correlation, where it is asked for. start and, with P0,
// jacobian and dst.Std are those of the prediction.
func (p *Predictor) correlate(dst *Prediction, q *Query) {
	K, c, P0 := p.m.K, &p.correlations, q.P0
	dst.Tube = c.tube(dst.condition())
	if dst.Correlation == nil {
		return
	}
	if !p.m.Displacement {
		P0 = nil
	}
	for j, v := range P0 {
		c.P0[j] = 0.5 * (v + P0[j%K*K+j/K])
	}
	for i := range p.times {
		r := dst.Correlation[i*K*K : (i+1)*K*K]
		c.at(r, dst.condition(), i)
		if P0 != nil {
			p.correlateStart(r, dst.Std[i*K:(i+1)*K], i)
		}
	}
}

// correlateStart mixes the correlation r (K×K) at time i with that of the start.
func (p *Predictor) correlateStart(r, std []float64, i int) {
	K, c := p.m.K, &p.correlations
	J, start, share := p.jacobian[i*K*K:(i+1)*K*K], c.start[i*K:(i+1)*K], p.mean[:K] // as scratch
	for k, s := range std {
		carried := c.carried[k*K : (k+1)*K]
		for b := range carried {
			carried[b] = dot(c.P0[b*K:(b+1)*K], J[k*K:(k+1)*K])
		}
		share[k] = 0 // of the start in the deviation, over that of J P0 Jᵀ
		if v := dot(carried, J[k*K:(k+1)*K]); s > 0 && v > 0 {
			share[k] = math.Sqrt(math.Min(start[k], s*s)/v) / s
		}
	}
	for a, s := range std {
		remains := rest(start[a], s)
		for b := range a {
			v := r[a*K+b]*remains*rest(start[b], std[b]) + share[a]*share[b]*dot(c.carried[a*K:(a+1)*K], J[b*K:(b+1)*K])
			r[a*K+b], r[b*K+a] = v, v
		}
	}
}

// rest returns the share of a standard deviation that a part of its variance leaves.
func rest(part, std float64) float64 {
	if std == 0 {
		return 1
	}
	return math.Sqrt(math.Max(0, 1-part/(std*std)))
}

// WithCorrelation allocates Correlation, which Predict then fills, and returns d.
func (d *Prediction) WithCorrelation() *Prediction {
	d.Correlation = make([]float64, len(d.Mean)*len(d.Mean)/len(d.Times))
	return d
}

// Covariance writes the covariance of the states at every time to dst (T×K×K, state units), from Correlation and
// Std. dst may be the memory of Correlation. The diagonal is Std². The covariance of a measurement has ObsStd²
// on its diagonal and is otherwise the same, since the sensors' noise is independent.
func (d *Prediction) Covariance(dst []float64) {
	K := len(d.Mean) / len(d.Times)
	if len(dst) != len(d.Mean)*K || len(d.Correlation) != len(dst) {
		panic(wrongLength)
	}
	for i := range d.Times {
		std := d.Std[i*K : (i+1)*K]
		for a, s := range std {
			for b, u := range std {
				at := (i*K+a)*K + b
				dst[at] = s * u * d.Correlation[at]
			}
			dst[(i*K+a)*K+a] = s * s
		}
	}
}
