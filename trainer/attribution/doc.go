// Package attribution names the actuator or the sensor that changed in a flight, from what
// predictions over a short time leave.
//
// A fault is a change of what a query says or of what is measured: an input that acts with a
// part of its value, or later; a sensor with an offset. Its signature s is what the mean of the
// prediction would change by, found by predicting again with the changed query. With z what
// measurements are off by, over the predicted standard deviation, the evidence for a fault of
// any size a since a time τ is the log of a generalised likelihood ratio (Willsky & Jones 1976)
//
//	D = max over τ of (Σ s·z)² / (2 Σ s·s)      a = Σ s·z / Σ s·s
//
// with sums over the predictions that end after τ. Neighbours overlap and models err, so D of
// flights without a fault is no χ²: its tail over them (an exponential beyond the 90 % quantile
// of its largest values in blocks of time) sets the threshold for a stated rate of false alarms.
package attribution
