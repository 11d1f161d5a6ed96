// Package excitation measures what keeps a model from being learned from logs, however many there are: inputs that follow from the
// state, and flights that repeat one trajectory.
package excitation
