// Package speed measures what a prediction costs: the plain predictor, the fast
// one, and what both replace, samples of the learned dynamics that are integrated.
package speed
