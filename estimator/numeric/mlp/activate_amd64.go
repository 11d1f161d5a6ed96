package mlp

import "github.com/tphakala/simd/cpu"

var vector = cpu.X86.AVX2 && cpu.X86.FMA

// activateAVX2 replaces each of n numbers y by (a t + b)/(t + 2), t = e^(c y) − 1.
//
//go:noescape
func activateAVX2(y *float64, n int, c, a, b float64)
