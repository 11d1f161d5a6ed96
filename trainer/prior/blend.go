package prior

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/rollout"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Pair is a difference equation and its companion, fitted to the same data, with
// flights that neither has seen.
type Pair struct {
	Prior, Companion *rollout.Model
	Held             []window.Flight
}

const (
	blendRidge  = 0.02 // pull of the companion's share towards 0, relative to the data's own weight
	blendRounds = 5    // of reweighting
)

// Blend returns the companion's share of the mean (K×Q at the knots, 0…1) that
// leaves the least of what the held-out flights did:
//
//	y ≈ a + ρ_k(τ) (b − a)      ρ linear in √τ between the knots
//
// with a and b the two predictions, by least squares reweighted for a Cauchy
// likelihood: one stretch in which one of the two runs away must not decide for
// all the rest. Every pair has its say, and the share is their mean less its
// standard error: where they disagree, the equation that was chosen stays.
func Blend(pairs []Pair, K, P int, H float64, knots []float64) []float64 {
	Q := len(knots)
	sum, squares := make([]float64, K*Q), make([]float64, K*Q)
	for _, pair := range pairs {
		data := make([][]blendRow, K) // per channel
		gatherBlend(data, &pair, K, P, H, knots)
		for k := range K {
			for q, v := range share(data[k], Q) {
				sum[k*Q+q] += v
				squares[k*Q+q] += v * v
			}
		}
	}
	n := float64(len(pairs))
	out := make([]float64, K*Q)
	for j := range out {
		mean := sum[j] / n
		variance := math.Max(0, squares[j]/n-mean*mean)
		out[j] = math.Max(0, mean-math.Sqrt(variance/math.Max(1, n-1)))
	}
	return out
}

// blendRow is y − a and b − a of one window at one time.
type blendRow struct {
	at   int // place in grid
	left float64
	step float64
	hat  []float64 // Q
}

// gatherBlend adds the rows of a pair's held-out windows.
func gatherBlend(data [][]blendRow, pair *Pair, K, P int, H float64, knots []float64) {
	a, b := rollout.New(pair.Prior, K, H), rollout.New(pair.Companion, K, H)
	da, db, y := make([]float64, K), make([]float64, K), make([]float64, K)
	hats := make([][]float64, len(blendGrid))
	for i, share := range blendGrid {
		hats[i] = make([]float64, len(knots))
		estimator.NoiseWeights(hats[i], knots, share)
	}
	var u window.Input
	for _, w := range window.Cut(pair.Held, H, H/10) {
		f := &pair.Held[w.Flight]
		if P > 0 {
			u = window.Input{Flight: f, Start: w.Start}
		}
		a.Roll(f.State(w.Start), &u)
		b.Roll(f.State(w.Start), &u)
		for i, share := range blendGrid {
			f.Displacement(y, w.Start, share*H)
			a.At(da, nil, share*H)
			b.At(db, nil, share*H)
			for k := range K {
				if v := db[k] - da[k]; !math.IsNaN(y[k]) && !math.IsInf(v, 0) && !math.IsNaN(v) {
					data[k] = append(data[k], blendRow{i, y[k] - da[k], v, hats[i]})
				}
			}
		}
	}
}

// blendGrid holds the horizons, as shares of H, at which the two are compared:
// dense where they differ.
var blendGrid = []float64{0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1}

// share solves one channel.
func share(data []blendRow, Q int) []float64 {
	rho := make([]float64, Q)
	scale := scales(data, rho)
	gram, rhs := make([]float64, Q*Q), make([]float64, Q)
	for range blendRounds {
		clear(gram)
		clear(rhs)
		for _, r := range data {
			s := scale[r.at]
			e := r.left - dot(r.hat, rho)*r.step
			weight := 1 / (s*s + e*e)
			for i, hi := range r.hat {
				if hi == 0 {
					continue
				}
				rhs[i] += weight * hi * r.step * r.left
				for j, hj := range r.hat[:i+1] {
					gram[i*Q+j] += weight * hi * hj * r.step * r.step
				}
			}
		}
		trace := 0.0
		for i := range Q {
			trace += gram[i*Q+i] / float64(Q)
		}
		for i := range Q {
			gram[i*Q+i] += blendRidge*(trace+gram[i*Q+i]) + 1e-300
		}
		tri, ok := lapack64.Potrf(blas64.Symmetric{N: Q, Stride: Q, Data: gram, Uplo: blas.Lower})
		if !ok {
			return make([]float64, Q)
		}
		lapack64.Potrs(tri, blas64.General{Rows: Q, Cols: 1, Stride: 1, Data: rhs})
		for i, v := range rhs {
			rho[i] = math.Min(math.Max(v, 0), 1)
		}
		scale = scales(data, rho)
	}
	return rho
}

// scales returns the median absolute error at every time of the grid.
func scales(data []blendRow, rho []float64) []float64 {
	errors := make([][]float64, len(blendGrid))
	for _, r := range data {
		errors[r.at] = append(errors[r.at], math.Abs(r.left-dot(r.hat, rho)*r.step))
	}
	out := make([]float64, len(blendGrid))
	for i, e := range errors {
		if len(e) > 0 {
			slices.Sort(e)
			out[i] = e[len(e)/2]
		}
		out[i] += 1e-150
	}
	return out
}

func dot(x, y []float64) float64 {
	s := 0.0
	for i, v := range x {
		s += v * y[i]
	}
	return s
}
