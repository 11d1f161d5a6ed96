package feature

import "github.com/tphakala/simd/cpu"

var vector = cpu.X86.AVX2 && cpu.X86.FMA

// rffAVX2 is Phi.rff for half frequencies, of which omega holds d rows of stride
// numbers. It reports whether no angle is beyond maxAngle; if not, its output is
// not valid.
//
//go:noescape
func rffAVX2(trig, phi, dphi, rate, omega, z, dz *float64, half, stride, d int, unit, gate, dgate float64) (ok bool)

// rffAdjointAVX2 is Phi.angleAdjoint for half frequencies; without dbar it writes the adjoint
// of the angles alone.
//
//go:noescape
func rffAdjointAVX2(bar, dbar, trig, rate *float64, half int, gate, dgate float64) (amp float64)

// rffCombinedAVX2 sets theta and dtheta (half) to the adjoints of the angles and of their
// rates, where those of the features are a·w, and of their derivative b·w + c·row.
//
//go:noescape
func rffCombinedAVX2(theta, dtheta, trig, rate, w, row *float64, half int, gate, dgate, a, b, c float64) (amp float64)

// rffSumAVX2 is Phi.rffSum for half frequencies.
//
//go:noescape
func rffSumAVX2(dst, trig, rate *float64, half int, x, y float64)

// omegaTransposeAVX2 adds omega (d rows of stride numbers) times theta (half) to zbar (d).
//
//go:noescape
func omegaTransposeAVX2(zbar, omega, theta *float64, half, stride, d int)
