package direct

import "gonum.org/v1/gonum/blas/blas64"

// Leverage returns that of the last Run, with the input up to the end of the horizon:
//
//	‖L⁻¹ (c − mean)/std‖²/C'
//
// of the columns c of degree 1. It is about 1 for a row of the training data, and grows
// with the distance from them in any direction: of the state, the history or the input. It
// is 0 where the level has no factor. Unless nil, gradient (K) becomes its derivative by x0.
func (d *Map) Leverage(gradient []float64) float64 {
	l := d.level
	n := len(l.Mean)
	clear(gradient)
	if n == 0 {
		return 0
	}
	d.plan(d.horizon, false)
	c, w := d.tangent[:n], d.whitened[:n]
	for i, v := range d.column[1 : 1+n] {
		c[i] = (v - l.Mean[i]) / l.Std[i]
	}
	leverage, o := 0.0, 0
	for i := range w {
		w[i] = dot(l.Factor[o:o+i+1], c)
		leverage += w[i] * w[i]
		o += i + 1
	}
	if gradient != nil {
		d.addLeverageGradient(gradient, w)
	}
	return leverage / float64(n)
}

// addLeverageGradient adds the derivative of the leverage by x0 to gradient (K).
func (d *Map) addLeverageGradient(gradient, whitened []float64) {
	m, l, K, n := d.m, d.level, len(d.x0), len(whitened)
	bar, o := d.adjoint[:n], 0
	clear(bar)
	for i, w := range whitened {
		blas64.Axpy(2*w/float64(n), vector(l.Factor[o:o+i+1]), vector(bar[:i+1]))
		o += i + 1
	}
	for i, std := range l.Std {
		bar[i] /= std
	}
	for i, of := range m.Lift.Of {
		gradient[of] += bar[i] * d.slope[i]
	}
	row := bar[m.linear(l):]
	for range l.Rows {
		for k := range K {
			gradient[k] -= row[k]
		}
		row = row[K+len(m.UMean):]
	}
}
