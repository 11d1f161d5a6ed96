package estimator

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// joint is the factor of the covariance of a prediction's errors over times and channels:
// the error at time i of channel k is Std times
//
//	Σ_r carried_r(i,k) ε_r + rest(i,k) Σ_j mix_kj(i) g_j(t_i)
//
// with ε_r standard normal and g a process of variance 1 for each channel (see process).
// carried is J times a root of P0 in the share that P0 has in the variance, and mix turns the
// correlation of the process into that of the model: at every time the covariance is that of
// the prediction, see the package.
type joint struct {
	p         *Predictor
	own       *Prediction // of p
	carried   []float64   // K×T×K
	rest      []float64   // T×K
	mix       []float64   // T×K×K, lower triangles
	condition model.Condition
	mixed     bool      // mix is that of the condition
	starts    bool      // carried is not 0
	root      []float64 // K×K, of P0
	process   []float64 // K×K, root of the correlation of the process
	r         []float64 // K×K
}

func newJoint(p *Predictor) *joint {
	K, n := p.m.K, len(p.times)*p.m.K
	f := &joint{
		p: p, own: p.NewPrediction(), carried: make([]float64, K*n), rest: make([]float64, n), mix: make([]float64, K*n),
		root: make([]float64, K*K), process: make([]float64, K*K), r: make([]float64, K*K),
	}
	semidefiniteRoot(f.process, p.correlations.kinematic, K)
	return f
}

// start builds the factor for a query.
func (f *joint) start(q *Query) (ok bool) {
	if !f.p.Predict(f.own, q) {
		return false
	}
	f.setMix(f.own.condition())
	for j := range f.rest {
		f.rest[j] = 1
	}
	f.starts = q.P0 != nil && f.p.m.Displacement
	if f.starts {
		f.carry(q.P0)
	}
	return true
}

// setMix sets mix to the root of the correlation times the inverse of that of the process.
func (f *joint) setMix(condition model.Condition) {
	if f.mixed && f.condition == condition {
		return
	}
	K := f.p.m.K
	for i := range f.p.times {
		mix := f.mix[i*K*K : (i+1)*K*K]
		f.p.correlations.at(f.r, condition, i)
		semidefiniteRoot(mix, f.r, K)
		for a := range K {
			row := mix[a*K : (a+1)*K]
			for b := a; b >= 0; b-- {
				for c := b + 1; c <= a; c++ {
					row[b] -= row[c] * f.process[c*K+b]
				}
				row[b] /= f.process[b*K+b]
			}
		}
	}
	f.condition, f.mixed = condition, true
}

// carry sets carried, and rest to what it leaves.
func (f *joint) carry(P0 []float64) {
	p, K, n := f.p, f.p.m.K, len(f.rest)
	semidefiniteRoot(f.root, P0, K)
	for j, std := range f.own.Std {
		row, sum := p.jacobian[j*K:(j+1)*K], 0.0
		for c := range K {
			v := 0.0
			for a, d := range row {
				v += d * f.root[a*K+c]
			}
			f.carried[c*n+j] = v
			sum += v * v
		}
		share := 0.0
		if start := p.correlations.start[j]; sum > 0 && std > 0 {
			share = math.Sqrt(math.Min(start, std*std)/sum) / std
			f.rest[j] = rest(start, std)
		}
		for c := range K {
			f.carried[c*n+j] *= share
		}
	}
}
