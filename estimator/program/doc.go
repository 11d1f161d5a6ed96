// Package program evaluates straight-line programs: lists of a dozen operations on registers,
// each with its value, its tangent and its adjoint. It knows no robot.
//
// A register has rows and columns. What its columns are the caller decides: points in time,
// steps of a roll-out, rows of a plan. A register of one column stands for all columns of an operation
// that has more. A Machine evaluates a program for so many lanes at once: plans, windows, start
// states; what depends on no input that differs by lane is evaluated once.
//
//	operation   value                                            file
//	Affine      y = Σ_i M_i x_i + c                              affine.go
//	Local       y(:,j) = M_j x(:,j), a matrix for every column   local.go
//	Products    y_r = Σ s a_i b_j                                products.go
//	Weigh       y = w ⊙ x + c, weights for rows and columns      weigh.go
//	Columns     y(:,j) = Σ_i x(:,i) m_ij                         columns.go
//	Gather      rows of other registers                          gather.go
//	Function    tanh, sigmoid, exp, log, √, … of every number    function.go
//	Clamp       bounds of every row                              clamp.go
//	SinCos      cosines, then sines of all rows                  sincos.go
//	Largest     the largest of groups of rows                    largest.go
//	Distances   squared distances from points                    distances.go
//	Repeat      a program n times, with a carried state          repeat.go
//
// The tangent of a program is evaluated beside its value for all directions of its inputs
// together; the adjoint takes one covector of the outputs back. With J the Jacobian of an
// operation at its operands x, they are ẏ = J ẋ and x̄ += Jᵀ ȳ (Griewank & Walther 2008, Evaluating
// Derivatives, chapters 3.1 and 3.2).
//
// Double precision is the reference; single precision runs the same list by the kernels of
// package simd.
package program
