// Package simd holds structure-of-arrays kernels on many points at once, in single
// precision: the inner loops of the fast predictor.
//
// A matrix over points is stored point by point, [row][width] with a width of 16: the
// numbers of a row are adjacent, so one instruction works on 4, 8 or 16 points, and no
// sum runs across points. The other factor is stored in panels of four rows, column
// after column ([panel][column][4]), so that every number that is loaded is used 4 or
// 16 times.
//
// There are four kernels, each for AVX2, AVX-512 and NEON in assembly and for any
// processor in Go: products of panels with points (Product, SumSquares), rows times a number
// for each point (AddScaled), random Fourier features with their mean (RandomFeatures), and
// the logistic function (Logistic). None
// of them branches on data. A fifth is in double precision, for training: sums of products of rows (AddTerms), for AVX2 and
// in Go. github.com/tphakala/simd/cpu detects the units of a
// processor; its variable SIMD_DISABLE ("all", "avx512", …) disables some.
//
// # Why its own assembly
//
// The batched dot products of github.com/tphakala/simd load five vectors for four
// multiplications and end every row with a sum across the vector; these panels reach
// more than twice their rate. Figures: docs/notes/numerics.md.
package simd
