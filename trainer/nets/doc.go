// Package nets trains the ensemble: every member draws batches of windows, follows the
// gradient of the objective, and conditions its posterior on the rows of all windows with
// the nets frozen.
package nets
