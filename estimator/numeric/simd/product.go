package simd

// Product writes the sum of the parts to dst: Rows rows of Width for each panel.
// Parts are left as they were.
func (u Unit) Product(dst []float32, panels int, parts []Part) {
	begin(panels, parts)
	if len(dst) < panels*Rows*Width {
		panic(badLength)
	}
	if panels > 0 {
		u.product(dst, panels, parts)
	}
}

// SumSquares adds to dst (Width) the squares of all rows of the sum of the parts.
func (u Unit) SumSquares(dst []float32, panels int, parts []Part) {
	begin(panels, parts)
	if len(dst) < Width {
		panic(badLength)
	}
	if panels > 0 {
		u.squares(dst, panels, parts)
	}
}

// begin sets the parts to their first panel and panics where there is less than
// the product would read.
func begin(panels int, parts []Part) {
	if len(parts) == 0 || panels < 0 {
		panic(badLength)
	}
	for i := range parts {
		p := &parts[i]
		numbers, columns := p.ends(panels)
		if p.K < 0 || p.Grow < 0 || p.Skip < 0 || len(p.L) < numbers || len(p.X) < columns*Width {
			panic(badLength)
		}
		p.at, p.k = 0, p.K
	}
}

// next sets a part to its next panel.
func (p *Part) next() {
	p.at += Rows*p.k + p.Skip
	p.k += p.Grow
}

// productGo is Product in Go.
func productGo(dst []float32, panels int, parts []Part) {
	for range panels {
		for lane := 0; lane < Width; lane += 2 {
			a := panelGo(parts, lane)
			for r := range Rows {
				dst[r*Width+lane], dst[r*Width+lane+1] = a[r], a[Rows+r]
			}
		}
		dst = dst[Rows*Width:]
		for i := range parts {
			parts[i].next()
		}
	}
}

// squaresGo is SumSquares in Go.
func squaresGo(dst []float32, panels int, parts []Part) {
	for range panels {
		for lane := 0; lane < Width; lane += 2 {
			a := panelGo(parts, lane)
			dst[lane] += a[0]*a[0] + a[1]*a[1] + a[2]*a[2] + a[3]*a[3]
			dst[lane+1] += a[4]*a[4] + a[5]*a[5] + a[6]*a[6] + a[7]*a[7]
		}
		for i := range parts {
			parts[i].next()
		}
	}
}

// panelGo returns four rows of two lanes of the sum of the parts: as many sums as
// the smallest processors have registers for.
func panelGo(parts []Part, lane int) (a [2 * Rows]float32) {
	var a0, a1, a2, a3, b0, b1, b2, b3 float32
	for i := range parts {
		p := &parts[i]
		if p.k == 0 {
			continue
		}
		l, x := p.L[p.at:p.at+Rows*p.k], p.X[lane:]
		for c := 0; len(l) >= Rows; c += Width {
			v, w := x[c], x[c+1]
			a0 += l[0] * v
			b0 += l[0] * w
			a1 += l[1] * v
			b1 += l[1] * w
			a2 += l[2] * v
			b2 += l[2] * w
			a3 += l[3] * v
			b3 += l[3] * w
			l = l[Rows:]
		}
	}
	return [2 * Rows]float32{a0, a1, a2, a3, b0, b1, b2, b3}
}
