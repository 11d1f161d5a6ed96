// Package stack makes the prior mean of a model: several prior dynamics, each fitted to all
// flights and once more for every fold, and the weights with which they are added up
// (model.Component).
//
// The candidates are the difference equation of the chosen shape, the linear difference
// equation, constant velocity, and the direct linear map with history. Component 0 is one
// that extrapolates, constant velocity or a linear equation: that with the least error on the
// worst windows. Components that do not, fade towards it with the leverage of the start.
// The others have weights
//
//	w_jk(τ) ≥ 0      Σ_j w_jk(τ) ≤ 1
//
// by channel, horizon and condition (readout, with history or without), which minimise the
// squared error of what the folds hold out (stacked regression, Breiman 1996). Every fold
// and horizon counts as much as any other: squares are taken over the least mean square of
// any candidate there. So a candidate that diverges on some windows of one fold loses its
// weight, however good it is elsewhere.
package stack
