// Package simd is arithmetic on many points at once, in single precision: what
// the fast predictor spends its time in.
//
// A lane is one point of a horizon. A matrix over points is kept lane by lane,
// [row][width] with a width of 16 or 32: the numbers of a row stand side by side,
// so one instruction works on 4, 8 or 16 points, and no sum ever runs across lanes.
// What is multiplied with it is kept in panels of four rows, column after column
// ([panel][column][4]), so that every number that is loaded is used 4 or 16 times.
//
// There are three kernels, each for AVX2, AVX-512 and NEON in assembly and for any
// processor in Go: products of panels with lanes (Product, SumSquares), the random
// features with their mean (RandomFeatures), and the logistic function (Logistic). None of
// them branches on data. Which ones a processor has is what
// github.com/tphakala/simd/cpu detects; its variable SIMD_DISABLE ("all",
// "avx512", …) leaves some out.
//
// # Why assembly of its own
//
// The batched dot products of github.com/tphakala/simd load five vectors for four
// multiplications and end every row with a sum across the vector: 15 multiply-adds
// a nanosecond for rows of 50 numbers on average, where these panels reach 35
// (AVX2) and 61 (AVX-512) of a peak of 47 and 88 on the same core.
package simd
