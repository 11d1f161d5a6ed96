package direct

import (
	"math"

	"github.com/tphakala/simd/f64"
)

// Leverage returns that of the last Run, with the input up to the end of the horizon:
//
//	(‖c'‖² − ‖G c'‖²)/(s C')      c' = (c − mean)/std
//
// of all columns c but the constant, G being the factor of the level and s its rest. It is
// about 1 for a row of the training data, and grows with the distance from them in any
// direction: of the state, the history, the input or their products. It is 0 where the level
// has no factor.
func (d *Map) Leverage() float64 {
	if len(d.level.Mean) == 0 {
		return 0
	}
	d.plan(d.horizon, false)
	return d.leverage()
}

// StartLeverage is Leverage as if the input at the start were held: it depends on nothing
// after the start.
func (d *Map) StartLeverage() float64 {
	if len(d.level.Mean) == 0 {
		return 0
	}
	P := len(d.u0)
	for plan := d.column[1+d.m.Lift.Dim()+P : 1+d.m.linear(d.level)]; len(plan) > 0; plan = plan[P:] {
		d.standardise(plan[:P], d.u0)
	}
	return d.leverage()
}

// StartLeverageGradient writes the derivatives of the last StartLeverage by x0 to byStart (K) and by
// the input at the start to byInput (P). It is for once, before any other leverage.
func (d *Map) StartLeverageGradient(byStart, byInput []float64) {
	clear(byStart)
	clear(byInput)
	if len(d.level.Mean) == 0 {
		return
	}
	d.addLeverageGradient(byStart)
	P := len(byInput)
	for i, bar := range d.adjoint[d.m.Lift.Dim():d.m.linear(d.level)] {
		byInput[i%P] += bar / d.m.UStd[i%P]
	}
}

// leverage returns that of the columns, and leaves c' in adjoint, G c' in whitened.
func (d *Map) leverage() float64 {
	l := d.level
	n := len(l.Mean)
	c, sum := d.whiteColumns(), 0.0
	for _, v := range c {
		sum += v * v
	}
	for i := range len(l.Factor) / n {
		w := dot(l.Factor[i*n:(i+1)*n], c)
		d.whitened[i] = w
		sum -= w * w
	}
	return math.Max(sum, 0) / (l.Rest * float64(n))
}

// whiteColumns returns c' of the columns, in adjoint.
func (d *Map) whiteColumns() []float64 {
	l := d.level
	d.products(d.column)
	c := d.adjoint[:len(l.Mean)]
	for i, v := range d.column[1 : 1+len(c)] {
		c[i] = (v - l.Mean[i]) / l.Std[i]
	}
	return c
}

// addLeverageGradient adds the derivative by x0 of the leverage before it to gradient (K).
func (d *Map) addLeverageGradient(gradient []float64) {
	m, l, K := d.m, d.level, len(d.x0)
	n := len(l.Mean)
	bar := d.adjoint[:n]
	for i := range len(l.Factor) / n {
		f64.AddScaled(bar, -d.whitened[i], l.Factor[i*n:(i+1)*n])
	}
	for i, std := range l.Std {
		bar[i] *= 2 / (l.Rest * float64(n) * std)
	}
	if l.Degree == 2 {
		linear, at := d.productBase()
		addProductAdjoint(bar[:len(linear)], bar[at-1:], linear)
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

// addProductAdjoint adds the adjoints of the products of columns, by rows of the upper
// triangle, to those of the columns.
func addProductAdjoint(bar, products, columns []float64) {
	at := 0
	for i, a := range columns {
		for j := i; j < len(columns); j++ {
			bar[i] += products[at] * columns[j]
			bar[j] += products[at] * a
			at++
		}
	}
}
