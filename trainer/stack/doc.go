// Package stack makes the prior mean of a model: several prior dynamics, each fitted to all
// flights and once more for every fold, and the weights with which they are added up
// (model.Component).
//
// The candidates are the difference equation of the chosen shape, the linear difference
// equation, constant velocity, the direct linear map with history, and nets in the linear
// equation or on a chain of links. Component 0 is one that extrapolates, constant velocity, or a
// linear equation or a chain with or without nets: that with the least error on the worst windows. Components that do not,
// fade towards it with the leverage of the start, and where an input leaves its range or changes faster than in the training data (reach).
// The others have weights
//
//	w_jk(τ) ≥ 0      Σ_j w_jk(τ) ≤ 1
//
// by channel, horizon and condition (readout, with all history or the least that is read), which minimise the
// squared error of what the folds hold out (stacked regression, Breiman 1996), drawn towards
// weights by horizon that follow from the errors of the candidates alone, over all channels:
// what folds of few flights prefer for channels one by one does not hold on the next
// flight. Every fold and horizon counts as much as any other:
// squares are taken over the least mean square of any candidate there, and windows of high
// leverage count less. So a candidate that diverges on some windows of one fold loses its
// weight, however good it is elsewhere.
//
// A direct map of the residuals of an equation of motion is a candidate as their sum, weighed like any other. The equation alone, and that sum
// once more, are then weighed against the stack of all others, channel by channel: few parameters err alike on all manoeuvres.
// In the stack the map is added to the equation, whose weight is that of both.
package stack
