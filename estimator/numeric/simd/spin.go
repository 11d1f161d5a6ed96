package simd

// Spin makes as many multiply-adds as the unit can, none of which waits for
// another or for memory, and returns their number: what the processor's peak is
// measured by.
func (u Unit) Spin(rounds int) (multiplyAdds int) {
	if rounds < 1 {
		return 0
	}
	return rounds * u.spin(rounds)
}

// spinGo is Spin in Go, which makes them one by one.
func spinGo(rounds int) int {
	var a, b, c, d, e, f, g, h float32
	for range rounds {
		a, b, c, d = a*0.5+1, b*0.5+1, c*0.5+1, d*0.5+1
		e, f, g, h = e*0.5+1, f*0.5+1, g*0.5+1, h*0.5+1
	}
	if a+b+c+d+e+f+g+h < 0 {
		return 0 // never: so that the sums are wanted
	}
	return 8
}
