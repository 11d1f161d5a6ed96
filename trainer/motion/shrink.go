package motion

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// Gains of inputs that the data do not distinguish, as of motors that a controller moves in the same few ways, have any values whose
// sums fit: large ones of opposite signs. A flight in which one motor is worn is another way, and there they do harm. So the gains of one
// law are normal a priori, all alike, with mean 0 and a variance that the data choose. With θ̂ the fit and A its precision,
//
//	θ = Σ A θ̂      Σ = (A + Λ)⁻¹      Λᵢ = rᵢ²/τ²      τ² = mean of rᵢ² (θᵢ² + Σᵢᵢ) over the law
//
// where rᵢ is the root mean square of the input: the maximum of the evidence, by expectation-maximisation (MacKay 1992; Bishop 2006,
// section 9.3.4). What the data determine stays.
const shrinkIterations = 100

const (
	determined = 1e-6 // least eigenvalue, of a precision with a diagonal of 1, of a direction in which the data say something
	mostWorse  = 0.02 // the most that the objective, a mean logarithm, may grow
)

// shrink draws the gains of laws together, and keeps the precision a priori for the intervals.
func (f *problem) shrink() {
	f.prior, f.kappa = make([]float64, f.m), 0
	laws := f.laws()
	if len(laws) == 0 {
		return
	}
	msq, before := f.errors(f.theta, f.delta)
	normal, _, scores := f.gather(f.theta, f.delta, msq)
	kappa := f.dispersion(normal, scores)
	if !(kappa > 0) || math.IsInf(kappa, 0) {
		return
	}
	right := make([]float64, f.m) // A θ̂, κ times
	blas64.Symv(1, symmetric(f.m, normal), blas64.Vector{N: f.m, Inc: 1, Data: f.theta}, 0, blas64.Vector{N: f.m, Inc: 1, Data: right})
	theta, prior := f.evidence(laws, normal, right, kappa)
	if theta == nil {
		return
	}
	step := make([]float64, f.m)
	for i := range step {
		step[i] = theta[i] - f.theta[i]
	}
	delta := f.moved(f.delta, step)
	if _, after := f.errors(theta, delta); after < before+mostWorse {
		f.theta, f.delta, f.prior, f.kappa = theta, delta, prior, kappa
	}
}

// dispersion returns κ: by how much the covariance over blocks of windows is larger than the inverse of the normal equations, in the
// directions that the data determine.
func (f *problem) dispersion(normal, scores []float64) float64 {
	scale := make([]float64, f.m)
	for i := range scale {
		scale[i] = math.Sqrt(normal[i*f.m+i])
	}
	a := mat.NewSymDense(f.m, nil)
	for i := range f.m {
		for j := i; j < f.m; j++ {
			if d := scale[i] * scale[j]; d > 0 {
				a.SetSym(i, j, normal[max(i, j)*f.m+min(i, j)]/d)
			}
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(a, true) {
		return 0
	}
	var q mat.Dense
	eigen.VectorsTo(&q)
	sum, n := 0.0, 0.0
	for c, l := range eigen.Values(nil) {
		if l < determined {
			continue
		}
		v := 0.0
		for b := range blocks {
			d := 0.0
			for i := range f.m {
				if scale[i] > 0 {
					d += q.At(i, c) * scores[b*f.m+i] / scale[i]
				}
			}
			v += d * d
		}
		if v > 0 {
			sum, n = sum+math.Log(v*blocks/(blocks-1)/l), n+1
		}
	}
	return math.Exp(sum / math.Max(n, 1))
}

// law are the gains of one law, and the root mean squares of their inputs.
type law struct {
	parameters []int
	rms        []float64
}

// laws returns those with more than one gain.
func (f *problem) laws() (out []law) {
	rms := make([]float64, f.s.P)
	for i, u := range f.s.U {
		rms[i%f.s.P] += u * u / float64(len(f.s.U)/f.s.P)
	}
	places, all := map[string]int{}, []law{}
	for _, g := range f.e.Gains(f.s.K, f.s.P) {
		i, ok := places[g.Law]
		if !ok {
			i = len(all)
			places[g.Law], all = i, append(all, law{})
		}
		if r := math.Sqrt(rms[g.Input]); r > 0 {
			all[i].parameters, all[i].rms = append(all[i].parameters, g.Parameter), append(all[i].rms, r)
		}
	}
	for _, l := range all {
		if len(l.parameters) > 1 {
			out = append(out, l)
		}
	}
	return out
}

// evidence returns the parameters at the maximum of the evidence, and κ times the precision a priori of each; nil where they are not
// determined.
func (f *problem) evidence(laws []law, normal, right []float64, kappa float64) (theta, prior []float64) {
	theta, prior = f.theta, make([]float64, f.m)
	variance := make([]float64, f.m) // Σᵢᵢ
	was := math.Inf(1)
	for range shrinkIterations {
		change := 0.0
		for _, l := range laws {
			tau2 := 0.0
			for j, i := range l.parameters {
				tau2 += l.rms[j] * l.rms[j] * (theta[i]*theta[i] + variance[i]) / float64(len(l.parameters))
			}
			for j, i := range l.parameters {
				prior[i] = kappa * l.rms[j] * l.rms[j] / (tau2 + math.SmallestNonzeroFloat32)
			}
			change += math.Log(tau2 + math.SmallestNonzeroFloat32)
		}
		with := f.with(normal, prior)
		theta = solve(f.m, with, right, 0)
		inverse := solve(f.m, with, identity(f.m), 0)
		if theta == nil || inverse == nil {
			return nil, nil
		}
		for i := range variance {
			variance[i] = kappa * inverse[i*f.m+i]
		}
		if math.Abs(change-was) < 1e-4 {
			break
		}
		was = change
	}
	return theta, prior
}

// with returns the normal equations with a precision a priori.
func (f *problem) with(normal, prior []float64) []float64 {
	out := slices.Clone(normal)
	for i, v := range prior {
		out[i*f.m+i] += v
	}
	return out
}

func identity(m int) []float64 {
	one := make([]float64, m*m)
	for i := range m {
		one[i*m+i] = 1
	}
	return one
}
