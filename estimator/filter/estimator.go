package filter

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// Estimator computes the states that a model predicts from, from measurements: it has the model's filter and its
// effects on predictions. Node, library and replay use the same one. It is not safe for concurrent use.
type Estimator struct {
	Filter *Filter

	model      *model.Model
	learned    *Learned  // nil = the process has no equation
	covariance []float64 // K×K
	start      []float64 // K×K, or of length 0
}

// NewEstimator returns the estimator of a model before its first sample; nil and no error if the model has no
// filter. The error is that of New.
func NewEstimator(m *model.Model) (*Estimator, error) {
	f, err := Of(m.Filter, m.Channels[:m.K], m.P)
	if f == nil || err != nil {
		return nil, err
	}
	learned, _ := f.cfg.Process.(*Learned)
	return &Estimator{Filter: f, model: m, learned: learned, covariance: make([]float64, m.K*m.K), start: make([]float64, 0, m.K*m.K)}, nil
}

// samples that KeepLate keeps for those that come late, and how late these may be, ns.
const (
	lateSamples = 64
	latest      = int64(1e9)
)

// Taken is the effect of a sample on an Estimator.
type Taken struct {
	Result
	Late    bool // it was measured before the newest sample, and has taken its place
	Dropped bool // it was measured before the newest sample, and nothing before it is known: it was not used
}

// KeepLate keeps the last samples, so that a sample may arrive up to a second late. It allocates at the first
// call.
func (e *Estimator) KeepLate() { e.Filter.KeepLate(lateSamples) }

// Take takes a sample at t, ns: y (K) with NaN for unmeasured channels, u (P) from t on. With late, see
// KeepLate, an older sample is filtered at its own time, and its u is not read. Without late, an older sample
// restarts the filter.
func (e *Estimator) Take(t int64, y, u []float64, late bool) (of Taken) {
	by := e.Filter.Last() - t
	if late && by > 0 && by < latest {
		of.Result, of.Late = e.Filter.Late(t, y)
		of.Dropped = !of.Late
		return of
	}
	of.Result = e.Filter.Update(t, y, u)
	return of
}

// Changed makes the filter use a changed robot's dynamics for later samples.
func (e *Estimator) Changed(by *priordynamics.Change) {
	if e.learned != nil {
		e.learned.Changed(by)
	}
}

// State writes the estimate (K), from which to predict, after the sample y (K) was taken. Until the filter has
// settled, unmeasured states are NaN and settled is false.
func (e *Estimator) State(dst, y []float64) (settled bool) {
	settled = e.Filter.Settled()
	copy(dst, e.Filter.Estimate())
	for k, v := range y {
		if math.IsNaN(v) && !settled {
			dst[k] = v
		}
	}
	return settled
}

// Covariance writes the covariance of the estimate to dst (K×K): that of the filter, and of a state that is as it was measured, the sensor's.
func (e *Estimator) Covariance(dst []float64) {
	e.Filter.Covariance(dst)
	for k, c := range e.Filter.cfg.Channels {
		if c.Free && k < len(e.model.Sensor) {
			dst[k*e.model.K+k] += e.model.Sensor[k]
		}
	}
}

// unusual is how many times its usual one a variance is at least when predictions have what it has more: a sensor is silent.
const unusual = 1.5

// StartCovariance returns the covariance (K×K) with which a prediction from the estimate starts, until the next
// call. It is empty for the sensors' covariance, which predictions assume by default. If a variance is unusually
// large, it is the sensors' covariance plus the excess of the estimate over those of the training.
func (e *Estimator) StartCovariance() []float64 {
	K, usual := e.model.K, e.model.Filter.Usual
	e.start = e.start[:0]
	if len(usual) == 0 {
		return e.start
	}
	P, more := e.covariance, false
	e.Filter.Covariance(P)
	for k := range K {
		more = more || P[k*K+k] > unusual*usual[k*K+k]
	}
	if !more {
		return e.start
	}
	for i, v := range P {
		e.start = append(e.start, v-usual[i])
	}
	for k, r := range e.model.Sensor {
		e.start[k*K+k] = r + math.Max(0, e.start[k*K+k])
	}
	return e.start
}
