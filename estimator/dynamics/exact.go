package dynamics

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// exact appends mean and variance of a member from the outputs of its head (K means, then K×D features), with the exact
// kernel, or with random features behind a head that is not linear:
//
//	k_j = γ γ_j (e^2a1 exp(−½‖z − z_j‖²) + e^2a2 b·b_j)      mean = γ net + k·α      v = k(s, s) − ‖L⁻¹k‖²
func (c *compiler) exact(e *feature.Map, post *model.Posterior, basis, head program.Reg, gate []float64, variance bool) member {
	if post.Exact == nil {
		panic("dynamics: a head that is not linear belongs to an exact kernel")
	}
	K, T := c.m.K, c.T()
	data := post.Exact
	N, Q := data.N, e.Basis.Dim(e.Inputs())
	out := member{variance: program.None, ratio: program.None}
	var means, variances, ratios []program.Reg
	for k := range K {
		a1, a2 := math.Exp(2*e.LogAmp[2*k]), math.Exp(2*e.LogAmp[2*k+1])
		places := make([]int, e.D)
		for d := range places {
			places[d] = K + k*e.D + d
		}
		half := c.Weigh(c.Distances(c.Some(head, places...), data.Z[k]), T, same(N, -0.5), nil)
		radial := c.Function(program.Exp, half)
		means = append(means, c.gated(c.exactMean(post.Weights[k], data.Gate, a1, a2, radial, basis, data.B), gate))
		if !variance {
			continue
		}
		w := make([]float64, N)
		for j, g := range data.Gate {
			w[j] = g * a1
		}
		parts := []program.Part{{X: radial, M: diagonal(w)}}
		if Q > 0 {
			m := make([]float64, N*Q)
			for j := range N {
				for q := range Q {
					m[j*Q+q] = a2 * data.Gate[j] * data.B[j*Q+q]
				}
			}
			parts = append(parts, program.Part{X: basis, M: m})
		}
		kernel := c.gated(c.Affine(N, nil, parts...), gate)
		L := make([]float64, N*N)
		for i := range N {
			copy(L[i*N:], post.InverseFactor[k][i*(i+1)/2:(i+1)*(i+2)/2])
		}
		known := c.total(c.Function(program.Square, c.Affine(N, nil, program.Part{X: kernel, M: L, Lower: true})))
		squares := make([]float64, T)
		for i, g := range gate {
			squares[i] = g * g
		}
		one := c.Constant(1, T, same(T, a1))
		prior := one
		if Q > 0 {
			prior = c.sum(1, nil, weighted{one, 1}, weighted{c.total(c.Function(program.Square, basis)), a2})
		}
		prior = c.gated(prior, squares)
		v := c.most(c.sum(1, nil, weighted{prior, 1}, weighted{known, -1}), c.Weigh(prior, T, []float64{1e-12}, nil))
		variances, ratios = append(variances, v), append(ratios, c.ratioAt(v, c.lastColumn(prior)))
	}
	nets := make([]int, K)
	for k := range nets {
		nets[k] = k
	}
	out.mean = c.sum(K, nil, weighted{c.Stack(means...), 1}, weighted{c.gated(c.Some(head, nets...), gate), 1})
	if variance {
		out.variance, out.ratio = c.Stack(variances...), c.total(c.Stack(ratios...))
	}
	return out
}

// exactMean appends k·α without γ, 1×T. The basis is linear in its observations, so these are summed here: their products
// cancel to a small remainder, which single precision would not keep.
func (c *compiler) exactMean(alpha, gates []float64, a1, a2 float64, radial, basis program.Reg, B []float64) program.Reg {
	w := make([]float64, len(alpha))
	for j, v := range alpha {
		w[j] = v * gates[j]
	}
	scaled := func(v []float64, by float64) []float64 {
		out := make([]float64, len(v))
		for i, x := range v {
			out[i] = by * x
		}
		return out
	}
	parts := []program.Part{{X: radial, M: scaled(w, a1)}}
	if basis != program.None {
		Q := c.Rows(basis)
		sum := make([]float64, Q)
		for j, v := range w {
			for q := range Q {
				sum[q] += v * B[j*Q+q]
			}
		}
		parts = append(parts, program.Part{X: basis, M: scaled(sum, a2)})
	}
	return c.Affine(1, nil, parts...)
}
