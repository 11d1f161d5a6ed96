package direct

import "github.com/dgm-robotics/dgm/estimator/numeric/simd"

// LinearInInput reports whether the displacements of the last Run are linear in the input, as
// InputAt presumes.
func (b *Batched) LinearInInput() bool { return b.level().Degree == 1 }

// InputAt adds the derivatives of the displacement at time i of the last Evaluate by Width
// numbers of a plan from first on, of so many, to dst (K × Width); share returns how much of a
// time a row of the plan is held.
func (b *Batched) InputAt(dst []float32, i int, share func(row int, from, to float64) float64, first, numbers int) {
	l, m, t := b.level(), b.d.m, b.times[i]
	P, L, TK := len(m.UMean), m.Lift.Dim(), l.T*l.K
	// add adds the weights of an input's column (T·K, with so many numbers from time to time).
	add := func(lane int, weights []float64, stride int, factor float64) {
		if lane < 0 || lane >= simd.Width {
			return
		}
		low, high := weights[l.at[i]*stride:], weights[min(l.at[i]+1, l.T-1)*stride:]
		for k, w := range low[:l.K] {
			dst[k*simd.Width+lane] += simd.Single(factor * (w + l.share[i]*(high[k]-w)))
		}
	}
	for row := first / P; row*P < min(first+simd.Width, numbers); row++ {
		lane := row*P - first
		if row == 0 {
			for p, std := range m.UStd {
				add(lane+p, l.fixed[(1+L+p)*TK:], l.K, t/std)
			}
		}
		held := false
		for block := range l.plan / P {
			s := share(row, t*float64(block)/float64(m.Blocks), t*float64(block+1)/float64(m.Blocks))
			if s == 0 && held {
				break
			}
			if held = s > 0; !held {
				continue
			}
			for p, std := range m.UStd {
				add(lane+p, l.G[(1+block*P+p)*l.K:], l.V*l.K, t*s/std)
			}
		}
	}
}
