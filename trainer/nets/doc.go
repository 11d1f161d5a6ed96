// Package nets trains one member of the ensemble on windows of flights: draws
// batches, follows the gradient, and conditions the posterior that is exported.
package nets
