// Package matmul multiplies dense matrices of the sizes that a training has:
// tens to thousands of rows, about a hundred columns.
//
// Training spends most of its time in such products, and what gonum computes two
// numbers at a time with separate multiplication and addition, a processor with
// AVX2 and FMA computes four at a time in one instruction. The product follows
// Goto and van de Geijn (2008), "Anatomy of High-Performance Matrix
// Multiplication": blocks of both factors are packed into panels that a small
// kernel, kernel_amd64.s, streams through registers. Elsewhere gonum does the
// work; tests compare both.
//
// Sums are added in an order that depends on the shapes alone: the same call
// gives the same bits on the same kind of processor.
package matmul
