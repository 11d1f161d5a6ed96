package speed

import "github.com/dgm-robotics/dgm/estimator/numeric/simd"

func vectorRound(_ simd.Unit, rounds int) int {
	multiplyAddNEON(rounds)
	return 12 * 4
}

func multiplyAddNEON(rounds int)
