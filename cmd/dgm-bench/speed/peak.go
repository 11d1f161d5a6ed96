package speed

import "github.com/dgm-robotics/dgm/estimator/numeric/simd"

// multiplyAdds runs rounds of multiply-adds on a unit, none of which waits for
// another or for memory, and returns their number: the rate is the peak of a core.
func multiplyAdds(u simd.Unit, rounds int) int {
	if u == simd.Plain {
		return rounds * plainRound(rounds)
	}
	return rounds * vectorRound(u, rounds)
}

// plainRound makes them one by one and returns the number of a round.
func plainRound(rounds int) int {
	var a, b, c, d, e, f, g, h float32
	for range rounds {
		a, b, c, d = a*0.5+1, b*0.5+1, c*0.5+1, d*0.5+1
		e, f, g, h = e*0.5+1, f*0.5+1, g*0.5+1, h*0.5+1
	}
	if a+b+c+d+e+f+g+h < 0 {
		return 0 // never: so that the compiler keeps the sums
	}
	return 8
}
