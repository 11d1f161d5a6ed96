package paper

import (
	"math"
	"sync"
)

// Model is a smoother that is distilled from an ensemble of refined dynamics.
type Model struct {
	K                 int
	Members           []*Fit    // as gradient matching left them
	Flows             []*Flow   // their dynamics, refined; those that were dropped are not here
	VarianceInflation float64   // factor of the flows' variances, found by refits
	Smoother          *Smoother // predicts
	Rerun             int       // fits that had collapsed and were run again
	Dropped           int       // flows that could not be integrated or explain the data worse
	Took              Took
}

// Took are the seconds of the parts of a recipe.
type Took struct{ Members, Flows, Smoother float64 }

// A flow is dropped where its evidence is worse than the best by more than the larger of
// these: nats below which a difference is not decisive, and nats per scalar measurement.
const (
	decisive = 5
	dropped  = 0.01
)

// keepLikely returns the flows whose evidence is close to the best. Flows may be nil.
func keepLikely(flows []*Flow, d *Data) (out []*Flow) {
	nats := math.Max(decisive, dropped*float64(d.Rows()*d.K))
	best := math.Inf(1)
	for _, f := range flows {
		if f != nil {
			best = math.Min(best, f.Evidence)
		}
	}
	for _, f := range flows {
		if f != nil && f.Evidence <= best+nats {
			out = append(out, f)
		}
	}
	return out
}

// Predict writes mean and standard deviation of the state at times after the
// start x0 (both len(times)×K row-major, raw units).
func (m *Model) Predict(mean, std, x0, times []float64) {
	m.Smoother.Predict(mean, std, x0, times)
	for i, v := range std {
		std[i] = math.Sqrt(v)
	}
}

// Integrate writes mean and standard deviation of the flows' solutions, integrated,
// as Predict does: the targets of the distillation. ok is false where one cannot be
// integrated.
func (m *Model) Integrate(mean, std, x0, times []float64) (ok bool) {
	if len(m.Flows) == 0 || !m.mixture(mean, std, x0, times) {
		return false
	}
	for i, v := range std {
		std[i] = math.Sqrt(v)
	}
	return true
}

// predictor writes the mean of the state at times (rising) after x0 (len(times)×K, raw
// units) and, unless it is nil, the variance. ok is false where it cannot.
type predictor func(mean, variance, x0, times []float64) (ok bool)

// mixture predicts by the flows: the mean of their solutions, and the variance of their
// mixture times the inflation. It is safe for concurrent use.
func (m *Model) mixture(mean, variance, x0, times []float64) (ok bool) {
	var parts []predictor
	for _, f := range m.Flows {
		parts = append(parts, f.predict)
	}
	ok = predictMixture(parts, mean, variance, x0, times)
	for i := range variance {
		variance[i] *= m.VarianceInflation
	}
	return ok
}

// membersMixture returns the predictor of the members' smoothers that did not collapse, the
// teacher where no flow can be integrated; nil where there are none. It is safe for
// concurrent use.
func (m *Model) membersMixture() predictor {
	var mutex sync.Mutex
	var parts []predictor
	for _, f := range m.Members {
		if f.collapsed() {
			continue
		}
		parts = append(parts, func(mean, variance, x0, times []float64) bool {
			f.Predict(mean, variance, x0, times)
			return true
		})
	}
	if len(parts) == 0 {
		return nil
	}
	return func(mean, variance, x0, times []float64) bool {
		mutex.Lock()
		defer mutex.Unlock()
		return predictMixture(parts, mean, variance, x0, times)
	}
}

// predictMixture predicts by a mixture of equal weights: the mean of the means; the mean of
// the variances plus the variance of the means.
func predictMixture(parts []predictor, mean, variance, x0, times []float64) (ok bool) {
	n, w := len(mean), 1/float64(len(parts))
	one, squares := make([]float64, n), make([]float64, n)
	var v []float64
	if variance != nil {
		v = make([]float64, n)
	}
	clear(mean)
	clear(variance)
	for _, predict := range parts {
		if !predict(one, v, x0, times) {
			return false
		}
		for i, a := range one {
			mean[i] += w * a
			squares[i] += w * a * a
		}
		for i, a := range v {
			variance[i] += w * a
		}
	}
	for i := range variance {
		variance[i] += math.Max(0, squares[i]-mean[i]*mean[i])
	}
	return true
}

// varianceRatio returns the mean over channels of the sum of squares over that of the flows'
// variances, at observations of some trajectories.
// addSquares adds the squares at the times of one from its start, which the flows predict by
// mean (len(T)×K), to one sum per channel. A mean of ratios
// at every point would be dominated by those with the smallest variances.
func (m *Model) varianceRatio(d *Data, addSquares func(sums, x0, times, mean []float64) bool) (ratio float64, ok bool) {
	squares, variances := make([]float64, d.K), make([]float64, d.K)
	const most = 20 // trajectories, from all parts of the data
	for j := 0; j < len(d.Trajectories); j += (len(d.Trajectories) + most - 1) / most {
		tr := &d.Trajectories[j]
		mean, variance := make([]float64, len(tr.Y)), make([]float64, len(tr.Y))
		if !m.mixture(mean, variance, tr.X0, tr.T) || !addSquares(squares, tr.X0, tr.T, mean) {
			return 0, false
		}
		for i, v := range variance {
			variances[i%d.K] += v
		}
	}
	for k, v := range variances {
		if !(v > 0) {
			return 0, false
		}
		ratio += squares[k] / v / float64(d.K)
	}
	return ratio, true
}
