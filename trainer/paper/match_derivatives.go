package paper

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
)

// matchDerivatives moves the parameters of a known field to where it follows the
// smoother's derivative best: gradient matching with the smoother fixed, by damped
// Gauss-Newton steps.
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
		factor, ok := lapack64.Potrf(blas64.Symmetric{N: P, Stride: P, Data: L, Uplo: blas.Lower})
		if !ok {
			return
		}
		copy(step, m.g)
		blas64.Trsv(blas.NoTrans, factor, blas64.Vector{N: P, Inc: 1, Data: step})
		blas64.Trsv(blas.Trans, factor, blas64.Vector{N: P, Inc: 1, Data: step})
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

// derivativeFit fits the parameters of a known field to the derivatives of a fixed smoother by
// least squares, each channel over the size of its derivative.
type derivativeFit struct {
	fl     *Flow
	t      *tangent
	z, dz  []float64 // n×K, standardised states and derivatives of the smoother
	weight []float64 // K, inverse root mean square of dz
	row    []float64 // P, of the Jacobian
	H, g   []float64 // P×P, P: normal equations of the damped Gauss-Newton step
}

// newMatching samples the smoother's states and derivatives along the trajectories.
func (f *Fit) newMatching(fl *Flow, d *Data, P int) *derivativeFit {
	const points, most = 40, 100 // of a trajectory; trajectories
	K, end, lift := fl.Dim(), d.End(), &f.Inputs.Lift
	h := 1e-4 * end
	var times []float64
	for i := range points {
		t := end * (float64(i) + 0.5) / points
		times = append(times, t-h, t, t+h)
	}
	v := func(n int) []float64 { return make([]float64, n) }
	m := &derivativeFit{fl: fl, t: fl.tangent(true), weight: v(K), row: v(P), H: v(P * P), g: v(P)}
	mean := v(len(times) * K)
	for j := 0; j < len(d.Trajectories); j += 1 + (len(d.Trajectories)-1)/most {
		f.Predict(mean, nil, d.Trajectories[j].X0, times)
		for i := range points {
			before, at, after := mean[3*i*K:], mean[(3*i+1)*K:], mean[(3*i+2)*K:]
			for k := range K {
				m.z = append(m.z, (at[k]-lift.Mean[k])/lift.Std[k])
				m.dz = append(m.dz, (after[k]-before[k])/(2*h)*f.Inputs.TimeStd/lift.Std[k])
			}
		}
	}
	for i, v := range m.dz {
		m.weight[i%K] += v * v * float64(K) / float64(len(m.dz))
	}
	for k, square := range m.weight {
		m.weight[k] = 1 / math.Sqrt(math.Max(square, 1e-12))
	}
	return m
}

// evaluate returns the cost, and sets H and g.
func (m *derivativeFit) evaluate() (cost float64) {
	K, P, t := len(m.weight), len(m.g), m.t
	vector := func(x []float64) blas64.Vector { return blas64.Vector{N: P, Inc: 1, Data: x} }
	clear(m.H)
	clear(m.g)
	for i := 0; i < len(m.dz); i += K {
		copy(t.stageZ, m.z[i:i+K])
		clear(t.f)
		clear(t.stage.dfdz)
		t.known.add(t)
		half := 0.0
		for k, w := range m.weight {
			e := w * (m.dz[i+k] - t.f[k])
			half += 0.5 * e * e
			for p := range m.row {
				m.row[p] = w * t.stage.dfdtheta[k*t.dense+p]
			}
			blas64.Axpy(e, vector(m.row), vector(m.g))
			blas64.Ger(1, vector(m.row), vector(m.row), matmul.Matrix(P, P, m.H))
		}
		cost += half
	}
	for p := range P {
		alpha, theta := m.fl.Alpha[p], m.fl.Theta[p]
		m.H[p*P+p] += alpha
		m.g[p] -= alpha * theta
		cost += 0.5 * alpha * theta * theta
	}
	return cost
}
