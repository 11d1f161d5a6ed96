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
