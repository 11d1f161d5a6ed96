// Package matmul multiplies dense matrices of the sizes that a training has:
// tens to thousands of rows, about a hundred columns.
//
// Training spends most of its time in such products, and what gonum computes two
// numbers at a time with separate multiplication and addition, a processor with
// AVX2 and FMA computes four at a time in one instruction. The product follows
// Goto and van de Geijn (2008), "Anatomy of High-Performance Matrix
// Multiplication": small kernels, kernel_amd64.s, keep a tile of the result in
// registers. The left factor is read where it stands, transposed or not; the right
// one is packed into panels of a tile's width where it serves many rows. Elsewhere
// gonum does the work; tests compare both.
//
// The kernels add sums in an order that depends on the inner dimension alone: a row of
// a product has the same bits whatever stands in the others, however many there are,
// on the same kind of processor. Where gonum does the work only Affine promises that.
// And gonum skips zeros of the left factor: NaN or an infinite number in the right one
// may not show there, where the kernels show it, for nought times these is NaN.
package matmul
