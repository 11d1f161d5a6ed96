// Package trainer turns flight logs into a model: data check, windows, held-out
// split, an ensemble of fits, calibration, comparison with the simple
// predictors, self-checks, report.
//
// Data flow one way through its folders:
//
//	flightlog → datacheck → window → rows → objective/posterior → fit → (here) → model
//	                                                              evaluate → report
package trainer
