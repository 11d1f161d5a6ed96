package derivative

import (
	"math"
)

// moments are the running second moments of y (a rate) and x (a candidate)
// around their means.
type moments struct {
	n          int
	my, mx     float64
	yy, xx, xy float64
}

// about returns the moments of those values that are no further than limit from the
// line with a slope through (my, mx), which is about their mean: sums of squares of
// what is left cancel nothing.
func about(ys, xs []float64, my, mx, slope, limit float64) moments {
	var n, sy, sx, yy, xx, xy float64
	for k, y := range ys {
		dy, dx := y-my, xs[k]-mx
		if math.Abs(dy-slope*dx) <= limit {
			n++
			sy += dy
			sx += dx
			yy += dy * dy
			xx += dx * dx
			xy += dx * dy
		}
	}
	if n == 0 {
		return moments{}
	}
	return moments{n: int(n), my: my + sy/n, mx: mx + sx/n, yy: max(0, yy-sy*sy/n), xx: max(0, xx-sx*sx/n), xy: xy - sx*sy/n}
}

// merge adds the values of o (Chan, Golub and LeVeque 1979).
func (m *moments) merge(o *moments) {
	if o.n == 0 {
		return
	}
	a, b := float64(m.n), float64(o.n)
	dy, dx, w := o.my-m.my, o.mx-m.mx, a*b/(a+b)
	m.yy += o.yy + w*dy*dy
	m.xx += o.xx + w*dx*dx
	m.xy += o.xy + w*dx*dy
	m.my += dy * b / (a + b)
	m.mx += dx * b / (a + b)
	m.n += o.n
}
