// Package baseline makes the simple predictors that a learned model has to beat:
//
//	hold      x0
//	velocity  x0 + v0 t for a channel whose derivative is measured, else x0
//	linear    z⁺ = A z + B ū + c by least squares on the lifted state, rolled out
//
// They are fitted on the training log alone, scored on the same windows as the
// model, and the linear one is stored with it.
package baseline
