package ode

// interpolated stores every requested time of the accepted step from t to tNew,
// from row next on, and returns the next row that is still open. The state at
// t + s h is
//
//	c0 + s (c1 + (1−s) (c2 + s (c3 + (1−s) c4)))
//
// of order 4 and continuously differentiable over steps: Hairer, Nørsett &
// Wanner I, section II.6.
func (d *Dopri5) interpolated(dst, times []float64, next int, t, tNew, h float64) int {
	ready := false
	for ; next < len(times); next++ {
		at := times[next]
		if (tNew-at)*h < 0 {
			break
		}
		if at == tNew {
			d.store(dst, next, d.y)
			continue
		}
		if !ready {
			d.interpolant(h)
			ready = true
		}
		s := (at - t) / h
		r := 1 - s
		row := dst[next*d.k : (next+1)*d.k]
		for k := range row {
			row[k] = d.c[0][k] + s*(d.c[1][k]+r*(d.c[2][k]+s*(d.c[3][k]+r*d.c[4][k])))
		}
	}
	return next
}

// interpolant sets the coefficients for the trial step in d.x, d.y, d.s.
func (d *Dopri5) interpolant(h float64) {
	for k := range d.x {
		rise := d.y[k] - d.x[k]
		bend := h*d.s[0][k] - rise
		var sum float64
		for j, w := range dense {
			sum += w * d.s[j][k]
		}
		d.c[0][k] = d.x[k]
		d.c[1][k] = rise
		d.c[2][k] = bend
		d.c[3][k] = rise - h*d.s[6][k] - bend
		d.c[4][k] = h * sum
	}
}

// reached stores x for all times that equal at, from row next on, and returns the next
// row that is still open.
func (d *Dopri5) reached(dst, times []float64, next int, at float64, x []float64) int {
	for ; next < len(times) && times[next] == at; next++ {
		d.store(dst, next, x)
	}
	return next
}

func (d *Dopri5) store(dst []float64, row int, x []float64) {
	if dst != nil {
		copy(dst[row*d.k:(row+1)*d.k], x)
	}
}
