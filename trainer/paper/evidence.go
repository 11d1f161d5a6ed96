package paper

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
	"github.com/dgm-robotics/dgm/trainer/cores"
)

// Bounds of the precision of a prior: of groups of the net, which stay, for they may be
// needed when others have converged, and of the terms of a polynomial, which are left out
// beyond theirs.
const (
	mostOfNet  = 1e3
	mostOfTerm = 1e4
)

// updateHyperparameters updates the precision of the prior and the noise as MacKay (1992) does:
//
//	γ_g = P_g − α_g tr(H⁻¹)_g      α_g ← γ_g / ‖θ_g‖²      σ_k² ← Σ e_k² / (N_k − γ_k)
//
// γ_k being the leverage of the rows of channel k. A precision falls to a third and rises
// to three times at most (ten times for a term), γ counts as 0.02 for each weight at least
// (0.001 for a term), σ² falls to a fifth and rises to twice at most: from far away both
// would diverge.
func (n *newton) updateHyperparameters() (ok bool) {
	n.system()
	if !n.factorise(0) {
		return false
	}
	P, K := len(n.Theta), n.d.K
	diagonal := make([]float64, P) // of H⁻¹ = L⁻ᵀL⁻¹
	for r := range P {
		for c, v := range n.inv[r*P : r*P+r+1] {
			diagonal[c] += v * v
		}
	}
	size, gamma, norm := make([]float64, len(n.Alpha)), make([]float64, len(n.Alpha)), make([]float64, len(n.Alpha))
	for i, g := range n.group {
		size[g]++
		gamma[g] += 1 - n.Alpha[g]*diagonal[i]
		norm[g] += n.Theta[i] * n.Theta[i]
	}
	n.Free = 0
	terms := len(n.Alpha) // the first of their groups
	if p := n.Poly.params(); p > 0 {
		terms = n.group[P-p]
	}
	for g, v := range gamma {
		n.Free += v
		if g < n.known() {
			continue // the prior of a known field's parameters is given
		}
		least, faster, most := 0.02*size[g], 3.0, mostOfNet
		if g >= terms {
			least, faster, most = 1e-3, 10, 2*mostOfTerm
		}
		want := math.Max(v, least) / math.Max(norm[g], 1e-12)
		n.Alpha[g] = math.Min(math.Max(want, n.Alpha[g]/3), n.Alpha[g]*faster)
		n.Alpha[g] = math.Min(n.Alpha[g], most)
	}
	n.factor.Pack(n.square(n.inv), true, true)
	leverage := make([]float64, len(n.e))
	cores.Each(2, func(i int) {
		const rows = 512 // at once
		U := make([]float64, rows*P)
		for from := i * rows; from < len(n.e); from += 2 * rows {
			to := min(from+rows, len(n.e))
			u := matmul.Matrix(to-from, P, U[:(to-from)*P])
			n.works[i].MulPacked(u, 1, false, matmul.Matrix(to-from, P, n.J[from*P:]), &n.factor, 0)
			matmul.Dots(leverage[from:to], u, u)
		}
	})
	squares, free := make([]float64, K), make([]float64, K)
	for i, v := range n.e {
		if v != 0 {
			free[i%K] += 1 - leverage[i]
			squares[i%K] += v * v
		}
	}
	for k := range K {
		if free[k] > 0 && squares[k] > 0 {
			ratio := math.Min(math.Max(squares[k]/free[k], 0.2), 2)
			n.Sigma[k] *= math.Sqrt(ratio)
		}
	}
	return true
}

// prune leaves out terms of the polynomial that have no evidence, and reports whether
// there were any. Memory of the sizes before is invalid then.
func (f *Flow) prune() bool {
	terms := f.Poly.params()
	if terms == 0 || f.Poly.dense {
		return false
	}
	net, first := len(f.Theta)-terms, len(f.Alpha)-terms
	precisions := f.Alpha[first:]
	kept, alpha := &polynomial{zero: f.Poly.zero}, slices.Clone(f.Alpha[:first])
	keep := func(i int) {
		kept.terms, kept.w = append(kept.terms, f.Poly.terms[i]), append(kept.w, f.Theta[net+i])
		alpha = append(alpha, precisions[i])
	}
	for i, a := range precisions {
		if a <= mostOfTerm {
			keep(i)
		}
	}
	if net == 0 && len(kept.w) == 0 {
		keep(floats.MinIdx(precisions)) // a field has one parameter at least
	}
	if len(kept.w) == terms {
		return false
	}
	f.Poly, f.Alpha = kept, alpha
	f.bind()
	return true
}

// setEvidence sets Evidence: −log of the Laplace approximation of the evidence, up to a
// constant.
//
//	½ Σ e²/σ² + Σ N_k log σ_k + ½ Σ α θ² + ½ logdet H − ½ Σ log α
func (n *newton) setEvidence() {
	n.Evidence = n.Cost
	for j := range n.group {
		n.Evidence += math.Log(n.L[j*len(n.group)+j])
	}
	for _, g := range n.group {
		n.Evidence -= 0.5 * math.Log(n.Alpha[g])
	}
	for _, tr := range n.d.Trajectories {
		for i, y := range tr.Y {
			if !math.IsNaN(y) {
				n.Evidence += math.Log(n.Sigma[i%n.d.K])
			}
		}
	}
}
