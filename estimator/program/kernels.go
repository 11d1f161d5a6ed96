package program

// Kernels on rows. A factor is a row of the same length, or one number for all of it.

func fillRow[T Float](dst []T, x T) {
	for i := range dst {
		dst[i] = x
	}
}

func sum[T Float](x []T) (s T) {
	for _, v := range x {
		s += v
	}
	return s
}

// addProduct adds s·a·b to dst; a is a factor.
func addProduct[T Float](dst []T, s T, a, b []T) {
	if len(a) == 1 {
		addScaled(dst, s*a[0], b)
		return
	}
	a, b = a[:len(dst)], b[:len(dst)]
	if s == 1 {
		for i := range dst {
			dst[i] += a[i] * b[i]
		}
		return
	}
	for i := range dst {
		dst[i] += s * a[i] * b[i]
	}
}

// addScaled adds s·x to dst.
func addScaled[T Float](dst []T, s T, x []T) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] += s * x[i]
	}
}

// dotProduct adds the sum of s·a·b to dst[0] where dst is one number, else s·a·b by number.
func addReduced[T Float](dst []T, s T, a, b []T) {
	if len(dst) == len(b) {
		addProduct(dst, s, a, b)
		return
	}
	t := T(0)
	for i, v := range b {
		t += a[i%len(a)] * v
	}
	dst[0] += s * t
}
