//go:build !amd64 && !arm64

package speed

import "github.com/dgm-robotics/dgm/estimator/numeric/simd"

func vectorRound(_ simd.Unit, rounds int) int { return plainRound(rounds) }
