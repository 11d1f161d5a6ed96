package speed

import "github.com/dgm-robotics/dgm/estimator/numeric/simd"

func vectorRound(u simd.Unit, rounds int) int {
	if u == simd.AVX512 {
		multiplyAddAVX512(rounds)
		return 10 * 16
	}
	multiplyAddAVX2(rounds)
	return 10 * 8
}

func multiplyAddAVX2(rounds int)

func multiplyAddAVX512(rounds int)
