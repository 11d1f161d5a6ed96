package stack

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// outcome is what component 0 left of a measurement, and what each of the others would
// have added.
type outcome struct {
	fold, at  int // at: which horizon
	weight    float64
	residual  float64
	additions []float64 // J
}

// How much the weights are drawn towards their targets, relative to the data's own weight: least squares of one channel on a few
// flights fit what the next manoeuvre does not show (docs/notes/trainer.md). An equation of few physical parameters errs alike
// on all manoeuvres, and may count for some channels only.
const (
	pull         = 20.0
	physicalPull = 1.0
)

// iterations of the projected gradient.
const iterations = 200

// weigh returns the weights (J×Q) of J additions at Q knots of the horizon that leave the
// least of what was measured,
//
//	residual ≈ Σ_j w_j(τ) addition_j      w_j ≥ 0, Σ_j w_j ≤ 1 at every knot
//
// by least squares with an accelerated projected gradient (Beck & Teboulle 2009), drawn
// towards targets (J×Q). hats (T×Q) are the weights of the knots at the horizons.
func weigh(outcomes []outcome, J int, hats [][]float64, targets []float64, pull float64) []float64 {
	Q := len(hats[0])
	n := J * Q
	if n == 0 {
		return nil
	}
	gram, right := make([]float64, n*n), make([]float64, n)
	scales := leastSquares(outcomes, J)
	column := make([]float64, n)
	for _, o := range outcomes {
		for j, a := range o.additions {
			for q, h := range hats[o.at] {
				column[j*Q+q] = h * a
			}
		}
		scale := o.weight / scales[[2]int{o.fold, o.at}]
		blas64.Syr(scale, blas64.Vector{N: n, Inc: 1, Data: column}, blas64.Symmetric{N: n, Stride: n, Uplo: blas.Upper, Data: gram})
		blas64.Axpy(scale*o.residual, blas64.Vector{N: n, Inc: 1, Data: column}, blas64.Vector{N: n, Inc: 1, Data: right})
	}
	trace := 0.0
	for i := range n {
		trace += gram[i*n+i]
	}
	if !(trace > 0) {
		return make([]float64, n)
	}
	for i := range n {
		own := pull*gram[i*n+i] + 1e-9*trace/float64(n)
		gram[i*n+i] += own
		right[i] += own * targets[i]
	}
	return descend(gram, right, float64(n)/(1+pull)+1, J, Q)
}

// The power of a candidate's error over that of another, by which its target is the less.
const (
	sharpness         = 16
	physicalSharpness = 4
)

// targets returns the weights (J×Q) at the knots towards which those of single channels are
// drawn, by the mean log errors (1+J, T) of component 0 and the others alone: in proportion to
// error^−sharpness, as weights of models are to their likelihoods (pseudo Bayesian model
// averaging, Yao et al. 2018). hats (T×Q) are the weights of the knots at the horizons; a knot before the first of them has its target.
func targets(logErrors [][]float64, hats [][]float64, sharpness float64) []float64 {
	Q := len(hats[0])
	out := make([]float64, (len(logErrors)-1)*Q)
	near := make([]float64, len(hats))
	shares := make([]float64, len(logErrors))
	for q := range Q {
		for t := range hats {
			near[t] = hats[t][q]
		}
		if floats.Sum(near) == 0 { // nothing is measured so early
			near[0] = 1
		}
		for j, errors := range logErrors {
			shares[j] = -sharpness * stat.Mean(errors, near)
		}
		all := floats.LogSumExp(shares)
		for j, s := range shares[1:] {
			out[j*Q+q] = math.Exp(s - all)
		}
	}
	return out
}

// descend minimises ½ wᵀ gram w − rightᵀ w over the weights that are allowed, each in units of its own curvature, the diagonal of gram
// (upper triangle, > 0): what candidates add differs by orders of magnitude. bound is at least the largest eigenvalue of gram in these units.
func descend(gram, right []float64, bound float64, J, Q int) []float64 {
	n := J * Q
	w, ahead, slope := make([]float64, n), make([]float64, n), make([]float64, n)
	last := make([]float64, n)
	symmetric := blas64.Symmetric{N: n, Stride: n, Uplo: blas.Upper, Data: gram}
	curvatures := make([]float64, n)
	for i := range n {
		curvatures[i] = gram[i*n+i]
	}
	momentum := 1.0
	for range iterations {
		blas64.Symv(1, symmetric, blas64.Vector{N: n, Inc: 1, Data: ahead}, 0, blas64.Vector{N: n, Inc: 1, Data: slope})
		copy(last, w)
		for i, g := range slope {
			w[i] = ahead[i] - (g-right[i])/(bound*curvatures[i])
		}
		for q := range Q {
			project(w, curvatures, J, Q, q)
		}
		next := (1 + math.Sqrt(1+4*momentum*momentum)) / 2
		for i := range ahead {
			ahead[i] = w[i] + (momentum-1)/next*(w[i]-last[i])
		}
		momentum = next
	}
	return w
}

// project moves the weights of knot q to those that are not negative, whose sum is at most 1, and that are the nearest by the curvature of each
// (Duchi et al. 2008, with a norm of its own): w_j − θ/curvature_j, or 0.
func project(w, curvatures []float64, J, Q, q int) {
	sum := 0.0
	order := make([]int, 0, J)
	for j := range J {
		i := j*Q + q
		w[i] = math.Max(0, w[i])
		sum += w[i]
		order = append(order, i)
	}
	if sum <= 1 {
		return
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(w[b]*curvatures[b], w[a]*curvatures[a]) })
	theta, excess, slack := 0.0, -1.0, 0.0
	for _, i := range order {
		excess += w[i]
		slack += 1 / curvatures[i]
		if t := excess / slack; w[i]*curvatures[i] > t {
			theta = t
		}
	}
	for _, i := range order {
		w[i] = math.Min(math.Max(0, w[i]-theta/curvatures[i]), 1) // of rounding
	}
}

// leastSquares returns, of every fold and horizon, the sum of squares of the best single
// prediction: component 0 or one of the others.
func leastSquares(outcomes []outcome, J int) map[[2]int]float64 {
	sums := map[[2]int][]float64{}
	for _, o := range outcomes {
		at := [2]int{o.fold, o.at}
		if sums[at] == nil {
			sums[at] = make([]float64, 1+J)
		}
		sums[at][0] += o.residual * o.residual
		for j, a := range o.additions {
			sums[at][1+j] += (o.residual - a) * (o.residual - a)
		}
	}
	out := map[[2]int]float64{}
	for at, s := range sums {
		out[at] = slices.Min(s) + math.SmallestNonzeroFloat32
	}
	return out
}

// Hats returns the weights of the knots at each horizon τ (T×Q).
func Hats(knots, taus []float64) [][]float64 {
	out := make([][]float64, len(taus))
	for i, tau := range taus {
		out[i] = make([]float64, len(knots))
		model.KnotWeights(out[i], knots, tau)
	}
	return out
}
