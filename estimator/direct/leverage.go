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

// StartLeverages is StartLeverage as a function of the input at the start alone: mᵀ Q m of its
// monomials m, which the columns are sums of.
type StartLeverages struct {
	d        *Map
	form     []float64 // n×n: Q
	columns  []float64 // n×C', of c' by the monomials
	whitened []float64 // n×r, of G c'
	n        int       // monomials of the last Set
	v, m     []float64 // P, n
}

// NewStartLeverages takes the memory for a map.
func NewStartLeverages(d *Map) *StartLeverages {
	P := len(d.u0)
	n := 1 + P + P*(P+1)/2
	return &StartLeverages{d: d, form: make([]float64, n*n), columns: make([]float64, n*len(d.adjoint)), whitened: make([]float64, n*len(d.whitened)), v: make([]float64, P), m: make([]float64, n)}
}

// Set reads start and history of the map's last Run, whose input it forgets.
func (s *StartLeverages) Set() {
	l, P := s.d.level, len(s.v)
	C := len(l.Mean)
	if s.n = 1 + P; l.Degree == 2 {
		s.n = len(s.m)
	}
	if C == 0 {
		return
	}
	column := func(i int) []float64 { return s.columns[i*C : (i+1)*C] }
	// at writes c' where two inputs are moved by an amount to dst.
	at := func(dst []float64, p, q int, by float64) {
		clear(s.v)
		if p >= 0 {
			s.v[p] += by
		}
		if q >= 0 {
			s.v[q] += by
		}
		copy(dst, s.d.heldColumns(s.v))
	}
	at(column(0), -1, -1, 0)
	for p := range P { // a polynomial of the second degree is known by these values
		linear := column(1 + p)
		at(linear, p, -1, 1)
		f64.Sub(linear, linear, column(0))
	}
	i := 1 + P
	for p := 0; p < P && l.Degree == 2; p++ {
		for q := p; q < P; q++ {
			second := column(i)
			at(second, p, q, 1)
			f64.Sub(second, second, column(0))
			f64.Sub(second, second, column(1+p))
			f64.Sub(second, second, column(1+q))
			i++
		}
	}
	i = 1 + P
	for p := 0; p < P && l.Degree == 2; p++ { // v_p² is half of that at 2, and is in that at 1
		f64.Scale(column(i), column(i), 0.5)
		f64.Sub(column(1+p), column(1+p), column(i))
		i += P - p
	}
	s.setForm(C)
}

// setForm sets the form from the columns.
func (s *StartLeverages) setForm(C int) {
	l := s.d.level
	r := len(l.Factor) / C
	for i := range s.n {
		for j := range r {
			s.whitened[i*r+j] = f64.DotProduct(l.Factor[j*C:(j+1)*C], s.columns[i*C:(i+1)*C])
		}
	}
	for i := range s.n {
		for j := range s.n {
			s.form[i*s.n+j] = (f64.DotProduct(s.columns[i*C:(i+1)*C], s.columns[j*C:(j+1)*C]) - f64.DotProduct(s.whitened[i*r:(i+1)*r], s.whitened[j*r:(j+1)*r])) / (l.Rest * float64(C))
		}
	}
}

// At returns the leverage with an input u0 (P) at the start.
func (s *StartLeverages) At(u0 []float64) float64 {
	if len(s.d.level.Mean) == 0 {
		return 0
	}
	P := len(s.v)
	s.d.standardise(s.v, u0)
	s.m[0] = 1
	at := 1 + copy(s.m[1:], s.v)
	for p := 0; p < P && s.n > at; p++ {
		for q := p; q < P; q++ {
			s.m[at] = s.v[p] * s.v[q]
			at++
		}
	}
	sum := 0.0
	for i, v := range s.m[:s.n] {
		sum += v * dot(s.form[i*s.n:(i+1)*s.n], s.m)
	}
	return math.Max(sum, 0)
}

// heldColumns returns c' where an input, standardised, is held from the start on. It is valid
// until the next.
func (d *Map) heldColumns(v []float64) []float64 {
	for inputs := d.column[1+d.m.Lift.Dim() : 1+d.m.linear(d.level)]; len(inputs) > 0; inputs = inputs[len(v):] {
		copy(inputs, v)
	}
	return d.whiteColumns()
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
