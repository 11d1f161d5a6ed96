package paper

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
)

// matching fits the parameters of a known field to the derivatives of a fixed smoother by
// least squares, each channel over the size of its derivative.
type matching struct {
	fl    *Flow
	t     *tangent
	z, dz []float64 // n×K, standardised states and derivatives of the smoother
	size  []float64 // K, mean square of dz
	J, r  []float64 // K×P, K
	H, g  []float64 // P×P, P: normal equations of the damped Gauss-Newton step
}

// matchDerivatives moves the parameters of a known field to where it follows the
// smoother's derivative best: gradient matching with the smoother fixed, by damped steps
// of Gauss and Newton.
func (f *Fit) matchDerivatives(fl *Flow, d *Data) {
	const iterations = 60
	P := len(fl.Known.free())
	if P == 0 {
		return
	}
	m := f.newMatching(fl, d, P)
	cost := m.evaluate()
	old, step, L := make([]float64, P), make([]float64, P), make([]float64, P*P)
	mu := 1e-2
	for range iterations {
		copy(L, m.H)
		for p := range P {
			L[p*P+p] *= 1 + mu
		}
		tri, ok := lapack64.Potrf(blas64.Symmetric{N: P, Stride: P, Data: L, Uplo: blas.Lower})
		if !ok {
			return
		}
		copy(step, m.g)
		blas64.Trsv(blas.NoTrans, tri, blas64.Vector{N: P, Inc: 1, Data: step})
		blas64.Trsv(blas.Trans, tri, blas64.Vector{N: P, Inc: 1, Data: step})
		copy(old, fl.Theta[:P])
		for p, v := range step {
			fl.Theta[p] += math.Max(-1, math.Min(1, v))
		}
		if now := m.evaluate(); now < cost {
			done := cost-now < 1e-9*cost
			cost, mu = now, mu/5
			if done {
				return
			}
			continue
		}
		copy(fl.Theta, old)
		m.evaluate()
		if mu *= 5; mu > 1e8 {
			return
		}
	}
}

// newMatching samples the smoother's states and derivatives along the trajectories.
func (f *Fit) newMatching(fl *Flow, d *Data, P int) *matching {
	const points, many = 40, 100
	K, end := fl.Dim(), d.End()
	every := 1 + (len(d.Trajectories)-1)/many
	h := 1e-4 * end
	m := &matching{fl: fl, t: fl.tangent(true), size: make([]float64, K), J: make([]float64, K*P), r: make([]float64, K), H: make([]float64, P*P), g: make([]float64, P)}
	for j := 0; j < len(d.Trajectories); j += every {
		var times []float64
		for i := range points {
			t := end * (float64(i) + 0.5) / points
			times = append(times, t-h, t, t+h)
		}
		mean := make([]float64, len(times)*K)
		f.Predict(mean, make([]float64, len(mean)), d.Trajectories[j].X0, times)
		for i := range points {
			for k := range K {
				at := func(n int) float64 { return mean[(3*i+n)*K+k] }
				m.z = append(m.z, (at(1)-f.Inputs.Lift.Mean[k])/f.Inputs.Lift.Std[k])
				m.dz = append(m.dz, (at(2)-at(0))/(2*h)*f.Inputs.TimeStd/f.Inputs.Lift.Std[k])
			}
		}
	}
	for i, v := range m.dz {
		m.size[i%K] += v * v * float64(K) / float64(len(m.dz))
	}
	return m
}

// evaluate returns the cost, and sets H and g.
func (m *matching) evaluate() (cost float64) {
	K, P := len(m.size), len(m.g)
	clear(m.H)
	clear(m.g)
	for i := range len(m.dz) / K {
		cost += m.residual(i)
		for k := range K {
			row := blas64.Vector{N: P, Inc: 1, Data: m.J[k*P : (k+1)*P]}
			blas64.Axpy(m.r[k], row, blas64.Vector{N: P, Inc: 1, Data: m.g})
			blas64.Ger(1, row, row, matmul.Matrix(P, P, m.H))
		}
	}
	for p := range P {
		alpha, theta := m.fl.Alpha[p], m.fl.Theta[p]
		m.H[p*P+p] += alpha
		m.g[p] -= alpha * theta
		cost += 0.5 * alpha * theta * theta
	}
	return cost
}

// residual sets r and J at point i and returns its cost.
func (m *matching) residual(i int) (cost float64) {
	K, P, t := len(m.size), len(m.g), m.t
	copy(t.zs, m.z[i*K:(i+1)*K])
	clear(t.f)
	clear(t.at.fz)
	t.known.add(t)
	for k := range K {
		w := 1 / math.Sqrt(math.Max(m.size[k], 1e-12))
		m.r[k] = w * (m.dz[i*K+k] - t.f[k])
		cost += 0.5 * m.r[k] * m.r[k]
		for p := range P {
			m.J[k*P+p] = w * t.at.F[k*t.dense+p]
		}
	}
	return cost
}
