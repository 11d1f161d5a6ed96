package estimator

import (
	"math"
)

// joint is the factor of the covariance of a prediction's errors over times and channels:
// the error at time i of channel k is Std times
//
//	Σ_r factor_r(i,k) ε_r + rest(i,k)·g_k(t_i)
//
// with ε_r standard normal and g a process of variance 1 (see process), all independent.
// Its variance is that of the prediction everywhere. This file is the one place where what
// is known of the covariance enters: the distances of the members of the ensemble and of
// the components of the prior dynamics from their means, and J P0 Jᵀ of the start, as far
// as they are in Std; rest is what none of these explains.
type joint struct {
	p    *Predictor
	own  *Prediction // of p
	rows int
	last int       // rows in use
	row  []float64 // rows×T×K
	rest []float64 // T×K
	x, y []float64 // K
	root []float64 // K×K, of P0
}

// mostExplained is the share of a variance that the rows explain at most: few rows would
// make the errors of all times one another's multiples.
const mostExplained = 0.9

func newJoint(p *Predictor) *joint {
	K, n := p.m.K, len(p.times)*p.m.K
	rows := len(p.members) + len(p.prior.components) + K
	return &joint{
		p: p, own: p.NewPrediction(), rows: rows, row: make([]float64, rows*n), rest: make([]float64, n),
		x: make([]float64, K), y: make([]float64, K), root: make([]float64, K*K),
	}
}

// start builds the factor for a query with the standard deviations std (T×K).
func (f *joint) start(std []float64, q *Query) (ok bool) {
	if !f.p.Predict(f.own, q) {
		return false
	}
	f.last = 0
	f.components()
	f.origin(q)
	f.members()
	clear(f.rest)
	for r := range f.last {
		row := f.at(r)
		for j, s := range std {
			if s > 0 {
				row[j] /= s
			} else {
				row[j] = 0
			}
			f.rest[j] += row[j] * row[j]
		}
	}
	for j, explained := range f.rest {
		if explained > mostExplained {
			shrink := math.Sqrt(mostExplained / explained)
			for r := range f.last {
				f.at(r)[j] *= shrink
			}
			explained = mostExplained
		}
		f.rest[j] = math.Sqrt(1 - explained)
	}
	return true
}

// at returns row r (T×K).
func (f *joint) at(r int) []float64 { return f.row[r*len(f.rest) : (r+1)*len(f.rest)] }

func (f *joint) next() []float64 {
	f.last++
	row := f.at(f.last - 1)
	clear(row)
	return row
}

// members adds the distance of each member from their mean, state units.
func (f *joint) members() {
	p, K := f.p, f.p.m.K
	if len(p.members) < 2 {
		return
	}
	n := math.Sqrt(float64(len(p.members)))
	weight := p.networkWeight[f.own.condition()].value
	for e := range p.members {
		p.evaluate(&p.members[e], f.own.Readout, false, false)
		row := f.next()
		for j := range row {
			row[j] = weight[j] * p.m.Scale[j%K] * (p.mean[j] - p.sum[j]) / n
		}
	}
}

// components adds the distance of each component of the prior dynamics from their weighted
// sum.
func (f *joint) components() {
	b, K := f.p.prior, f.p.m.K
	active := 0
	for i := range b.components {
		if i == 0 || b.weights[i] != nil {
			active++
		}
	}
	if active < 2 {
		return
	}
	n := math.Sqrt(float64(active))
	for i, c := range b.components {
		if i > 0 && b.weights[i] == nil {
			continue
		}
		row := f.next()
		for j, t := range f.p.times {
			b.At(f.x, nil, t)
			c.at(f.y, nil, t)
			for k := range K {
				row[j*K+k] = (f.y[k] - f.x[k]) / n
			}
		}
	}
}

// origin adds the columns of J times the root of P0, in the share that P0 has in the
// variance.
func (f *joint) origin(q *Query) {
	p, K := f.p, f.p.m.K
	if q.P0 == nil || !p.m.Displacement {
		return
	}
	semidefiniteRoot(f.root, q.P0, K)
	first := f.last
	for range K {
		f.next()
	}
	for i := range p.times {
		for k := range K {
			jacobian, sum := p.jacobian[(i*K+k)*K:(i*K+k+1)*K], 0.0
			for c := range K {
				v := 0.0
				for a, j := range jacobian {
					v += j * f.root[a*K+c]
				}
				f.at(first + c)[i*K+k] = v
				sum += v * v
			}
			share := 0.0
			if sum > 0 {
				share = math.Sqrt(math.Max(0, p.startVariance(i, k)) / sum)
			}
			for c := range K {
				f.at(first + c)[i*K+k] *= math.Min(share, 1)
			}
		}
	}
}

// semidefiniteRoot writes to L (n×n, lower triangle) a root of a positive semidefinite
// matrix, L Lᵀ = A (Cholesky; a column without variance is zero).
func semidefiniteRoot(L, A []float64, n int) {
	clear(L)
	for j := range n {
		d := A[j*n+j]
		for _, v := range L[j*n : j*n+j] {
			d -= v * v
		}
		if !(d > 1e-12*A[j*n+j]) {
			continue
		}
		L[j*n+j] = math.Sqrt(d)
		for i := j + 1; i < n; i++ {
			L[i*n+j] = (A[i*n+j] - dot(L[i*n:i*n+j], L[j*n:j*n+j])) / L[j*n+j]
		}
	}
}
