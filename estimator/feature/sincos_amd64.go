package feature

import "github.com/tphakala/simd/cpu"

var vector = cpu.X86.AVX2 && cpu.X86.FMA

// sincosAVX2 writes sine and cosine of fours times four angles, none beyond farthest.
//
//go:noescape
func sincosAVX2(sin, cos, theta *float64, fours int)
