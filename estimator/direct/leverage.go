package direct

import "github.com/tphakala/simd/f64"

// Leverage returns that of the last Run, with the input up to the end of the horizon:
//
//	‖L⁻¹ (c − mean)/std‖²/C'
//
// of the columns c of degree 1. It is about 1 for a row of the training data, and grows
// with the distance from them in any direction: of the state, the history or the input. It
// is 0 where the level has no factor.
func (d *Map) Leverage() float64 {
	if len(d.level.Mean) == 0 {
		return 0
	}
	d.plan(d.horizon, false)
	return d.leverage()
}

// StartLeverage is Leverage as if the input at the start were held: it depends on nothing
// after the start. It writes its derivative by x0 to gradient (K).
func (d *Map) StartLeverage(gradient []float64) float64 {
	clear(gradient)
	if len(d.level.Mean) == 0 {
		return 0
	}
	P := len(d.u0)
	for plan := d.column[1+d.m.Lift.Dim()+P : 1+d.m.linear(d.level)]; len(plan) > 0; plan = plan[P:] {
		d.standardise(plan[:P], d.u0)
	}
	leverage := d.leverage()
	d.addLeverageGradient(gradient)
	return leverage
}

// leverage returns that of the columns, and leaves L⁻¹ (c − mean)/std in whitened.
func (d *Map) leverage() (sum float64) {
	l := d.level
	n := len(l.Mean)
	c := d.adjoint[:n]
	for i, v := range d.column[1 : 1+n] {
		c[i] = (v - l.Mean[i]) / l.Std[i]
	}
	o := 0
	for i := range n {
		w := dot(l.Factor[o:o+i+1], c)
		d.whitened[i] = w
		sum += w * w
		o += i + 1
	}
	return sum / float64(n)
}

// addLeverageGradient adds the derivative by x0 of the leverage before it to gradient (K).
func (d *Map) addLeverageGradient(gradient []float64) {
	m, l, K := d.m, d.level, len(d.x0)
	n := len(l.Mean)
	bar, o := d.adjoint[:n], 0
	clear(bar)
	for i, w := range d.whitened[:n] {
		f64.AddScaled(bar[:i+1], 2*w/float64(n), l.Factor[o:o+i+1])
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
