// Package matmul multiplies dense matrices of the sizes that a training has:
// tens to thousands of rows, about a hundred columns.
//
// Training spends most of its time in such products. gonum computes two numbers at a
// time with separate multiplication and addition; AVX2 with FMA computes four at a time
// in one instruction. The product follows
// Goto and van de Geijn (2008), "Anatomy of High-Performance Matrix
// Multiplication": small kernels, kernel_amd64.s, keep a tile of the result in
// registers. The left factor is read in place, transposed or not; the right
// one is packed into panels of a tile's width where it serves many rows. On other processors
// gonum computes; tests compare both.
//
// The kernels add sums in an order that depends on the inner dimension alone: a row of
// a product has the same bits whatever the other rows hold, however many there are, on
// the same kind of processor. Where gonum computes, only Affine guarantees that. gonum
// skips zeros of the left factor, so that NaN or an infinite number in the right one
// need not appear in its product; with the kernels it does, because 0 times these is NaN.
package matmul
