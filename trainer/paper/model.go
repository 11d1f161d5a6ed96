package paper

import (
	"math"
	"sync"
)

// Model is a smoother that was taught by an ensemble of refined dynamics.
type Model struct {
	K                 int
	Members           []*Fit    // as gradient matching left them
	Flows             []*Flow   // their dynamics, refined; those that were dropped are not here
	VarianceInflation float64   // by which the flows' variances are multiplied, found by refits on drawn data or without some
	Smoother          *Smoother // predicts
	Rerun             int       // fits that had collapsed and were run again
	Dropped           int       // flows that could not be integrated or explain the data worse
	Took              Took
}

// Took are the seconds of the parts of a recipe.
type Took struct{ Members, Flows, Smoother float64 }

// keepLikely returns the flows that keepLikely the data about as well as the best. Flows may
// be nil.
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
// as Predict does: what the smoother was taught. ok is false where one cannot be
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

// mixture is the flows' teacher: the mean of their solutions, and the mean of their
// variances with how far they are from each other.
func (m *Model) mixture(mean, variance, x0, times []float64) (ok bool) {
	n, w := len(mean), 1/float64(len(m.Flows))
	one, squares := make([]float64, n), make([]float64, n)
	var v []float64
	if variance != nil {
		v = make([]float64, n)
	}
	clear(mean)
	clear(variance)
	for _, f := range m.Flows {
		if variance == nil {
			ok = f.solve(one, x0, times)
		} else {
			ok = f.Predict(one, v, x0, times)
		}
		if !ok {
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
	for i := range variance {
		variance[i] *= m.VarianceInflation
	}
	return true
}

// membersMixture is the members' teacher, where no flow can be integrated: the mean of
// their smoothers, and the mean of their variances with how far they are from each
// other.
func (m *Model) membersMixture() teacher {
	var one sync.Mutex
	return func(mean, variance, x0, times []float64) bool {
		one.Lock()
		defer one.Unlock()
		n, E := len(mean), float64(len(m.Members))
		a, v, squares := make([]float64, n), make([]float64, n), make([]float64, n)
		clear(mean)
		clear(variance)
		for _, f := range m.Members {
			f.Predict(a, v, x0, times)
			for i, x := range a {
				mean[i] += x / E
				squares[i] += x * x / E
			}
			for i := range variance {
				variance[i] += v[i] / E
			}
		}
		for i := range variance {
			variance[i] += math.Max(0, squares[i]-mean[i]*mean[i])
		}
		return true
	}
}

// A flow is dropped where its evidence is worse than the best by more than the larger of
// these: nats, below which nobody would call a difference decisive, and nats for each
// number observed.
const (
	decisive = 5
	dropped  = 0.01
)

// squaredErrorRatio returns the mean over channels of the mean squared squaredErrorRatio of what the flows
// say from what those of another model say, over their mean variance, at observations of
// some trajectories.
func (m *Model) squaredErrorRatio(from *Model, d *Data) (ratio float64, ok bool) {
	if len(m.Flows) == 0 {
		return 0, false
	}
	squares, variances := make([]float64, d.K), make([]float64, d.K)
	for _, tr := range d.someTrajectories() {
		size := len(tr.T) * d.K
		mean, variance, other := make([]float64, size), make([]float64, size), make([]float64, size)
		if !m.mixture(mean, variance, tr.X0, tr.T) || !from.mixture(other, nil, tr.X0, tr.T) {
			return 0, false
		}
		for i, v := range variance {
			squares[i%d.K] += (other[i] - mean[i]) * (other[i] - mean[i])
			variances[i%d.K] += v
		}
	}
	return meanRatio(squares, variances)
}

// meanRatio returns the mean meanRatio channels of squares meanRatio variances. A mean of ratios at every
// point would be ruled by those of which the flows are surest.
func meanRatio(squares, variances []float64) (ratio float64, ok bool) {
	for k, v := range variances {
		if !(v > 0) {
			return 0, false
		}
		ratio += squares[k] / v / float64(len(variances))
	}
	return ratio, true
}
