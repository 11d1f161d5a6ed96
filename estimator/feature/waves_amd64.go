package feature

import "github.com/tphakala/simd/cpu"

var vector = cpu.X86.AVX2 && cpu.X86.FMA

// wavesAVX2 is Phi.wave for half frequencies, of which omega holds d rows of stride
// numbers. It tells whether no angle is beyond farthest; if not, what it wrote is
// worth nothing.
//
//go:noescape
func wavesAVX2(trig, phi, dphi, rate, omega, z, dz *float64, half, stride, d int, unit, gate, dgate float64) (ok bool)

// wavesBackAVX2 is Phi.back for half frequencies; without dbar it writes the adjoint
// of the angles alone.
//
//go:noescape
func wavesBackAVX2(bar, dbar, trig, rate *float64, half int, gate, dgate float64) (amp float64)

// wavesAlongAVX2 sets theta and dtheta (half) to the adjoints of the angles and of their
// rates, where those of the features are a·w, and of their derivative b·w + c·row.
//
//go:noescape
func wavesAlongAVX2(theta, dtheta, trig, rate, w, row *float64, half int, gate, dgate, a, b, c float64) (amp float64)

// wavesSumAVX2 is Phi.sum for half frequencies.
//
//go:noescape
func wavesSumAVX2(dst, trig, rate *float64, half int, x, y float64)

// turnBackAVX2 adds omega (d rows of stride numbers) times theta (half) to zbar (d).
//
//go:noescape
func turnBackAVX2(zbar, omega, theta *float64, half, stride, d int)
