package paper

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
)

// matchDerivatives moves the parameters of a known field to where it follows the smoother's
// derivative best, in the sense of least squares, each channel over the size of its
// derivative: gradient matching with the smoother held. Damped steps of Gauss and
// Newton.
func (f *Fit) matchDerivatives(fl *Flow, d *Data) {
	const points, many, iterations = 40, 100, 60
	K, P, end := fl.Dim(), len(fl.Known.free()), d.End()
	if P == 0 {
		return
	}
	every := 1 + (len(d.Trajectories)-1)/many
	h := 1e-4 * end
	var z, dz []float64 // standardised states and derivatives of the smoother
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
				z = append(z, (at(1)-f.Inputs.Lift.Mean[k])/f.Inputs.Lift.Std[k])
				dz = append(dz, (at(2)-at(0))/(2*h)*f.Inputs.TimeStd/f.Inputs.Lift.Std[k])
			}
		}
	}
	size := make([]float64, K)
	for i, v := range dz {
		size[i%K] += v * v * float64(K) / float64(len(dz))
	}
	t := fl.tangent(true)
	n := len(dz) / K
	J, r := make([]float64, K*P), make([]float64, K)
	H, g := make([]float64, P*P), make([]float64, P)
	// evaluate returns the cost, and sets H and g.
	evaluate := func() float64 {
		clear(H)
		clear(g)
		cost := 0.0
		for i := range n {
			copy(t.zs, z[i*K:(i+1)*K])
			clear(t.f)
			clear(t.at.fz)
			t.known.add(t)
			for k := range K {
				w := 1 / math.Sqrt(math.Max(size[k], 1e-12))
				r[k] = w * (dz[i*K+k] - t.f[k])
				cost += 0.5 * r[k] * r[k]
				for p := range P {
					J[k*P+p] = w * t.at.F[k*t.dense+p]
				}
			}
			for k := range K {
				row := blas64.Vector{N: P, Inc: 1, Data: J[k*P : (k+1)*P]}
				blas64.Axpy(r[k], row, blas64.Vector{N: P, Inc: 1, Data: g})
				blas64.Ger(1, row, row, matmul.Matrix(P, P, H))
			}
		}
		for p := range P {
			H[p*P+p] += fl.Alpha[p]
			g[p] -= fl.Alpha[p] * fl.Theta[p]
			cost += 0.5 * fl.Alpha[p] * fl.Theta[p] * fl.Theta[p]
		}
		return cost
	}
	cost := evaluate()
	old, step, L := make([]float64, P), make([]float64, P), make([]float64, P*P)
	mu := 1e-2
	for range iterations {
		copy(L, H)
		for p := range P {
			L[p*P+p] *= 1 + mu
		}
		tri, ok := lapack64.Potrf(blas64.Symmetric{N: P, Stride: P, Data: L, Uplo: blas.Lower})
		if !ok {
			return
		}
		copy(step, g)
		blas64.Trsv(blas.NoTrans, tri, blas64.Vector{N: P, Inc: 1, Data: step})
		blas64.Trsv(blas.Trans, tri, blas64.Vector{N: P, Inc: 1, Data: step})
		copy(old, fl.Theta[:P])
		for p, v := range step {
			fl.Theta[p] += math.Max(-1, math.Min(1, v))
		}
		if now := evaluate(); now < cost {
			done := cost-now < 1e-9*cost
			cost, mu = now, mu/5
			if done {
				return
			}
			continue
		}
		copy(fl.Theta, old)
		evaluate()
		if mu *= 5; mu > 1e8 {
			return
		}
	}
}
