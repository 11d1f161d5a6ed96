package matmul

import "github.com/tphakala/simd/cpu"

var fast = cpu.X86.AVX2 && cpu.X86.FMA

// kernel12 sets tiles × 4 rows of c, 12 columns wide and stride numbers apart, to
// alpha·a·b, plus what plus points to unless nil, its rows ps apart. Number (i, q) of
// a is at i·rs + q·cs, row q < k of b at q·bs.
//
//go:noescape
func kernel12(tiles, k int, a *float64, rs, cs int, b *float64, bs int, c *float64, stride int, alpha float64, plus *float64, ps int)

// kernel8 is the same for n ≤ 8 columns: it touches no others.
//
//go:noescape
func kernel8(tiles, k int, a *float64, rs, cs int, b *float64, bs int, c *float64, stride int, alpha float64, plus *float64, ps, n int)

// kernel1 is the same for one row of n columns, as many as there are.
//
//go:noescape
func kernel1(n, k int, a *float64, cs int, b *float64, bs int, c *float64, alpha float64, plus *float64)

// pack12 writes k > 0 rows of 12 numbers, stride apart in src, one behind the other,
// row q times the number at scale + q·step.
//
//go:noescape
func pack12(k int, dst, src *float64, stride int, scale *float64, step int)

// pack8 is the same for rows of n ≤ 8 numbers, followed by zeros to make 8.
//
//go:noescape
func pack8(k int, dst, src *float64, stride int, scale *float64, step, n int)

// dots sets m > 0 numbers of dst to the inner products of rows of a and of b, n numbers
// each and as and bs apart.
//
//go:noescape
func dots(m, n int, dst, a *float64, as int, b *float64, bs int)

// linearCombination sets dst to a·x + b·y + c·z, n numbers each.
//
//go:noescape
func linearCombination(n int, dst *float64, a float64, x *float64, b float64, y *float64, c float64, z *float64)
