// Package attribution names the actuator or the sensor that changed in a flight, from what
// predictions over a short time leave.
//
// A fault is a change of what a query says or of what is measured: an input that acts with a
// part of its value, or later; a sensor with an offset. Its signature is what the mean of the
// prediction would change by, found by predicting again with the changed query; of an input also with a query that changes after a part
// of the prediction.
//
// Let z be what measurements are off by, over the predicted standard deviation. Predictions overlap, share the errors of their starts,
// and forget in their own way what was measured long ago: the z of successive moments and of channels depend on each other. A regression of z on
// its exponential means over four spans (W), and the Cholesky factor L of the covariance of what it leaves, make innovations of it,
//
//	e = L⁻¹ (z − W past(z))      s = L⁻¹ (signature − W past(signature))
//
// and of the signature its signature s in them. For innovations that are independent the evidence for a fault of
// any size a since a time τ is the log of a generalised likelihood ratio (Willsky & Jones 1976)
//
//	D = max over τ of (Σ s·e)² / (2 Σ s·s)      a = Σ s·e / Σ s·s
//
// with sums over the predictions that end after τ. For one τ it is half a χ² if the model is exact. Models err, and what they err adds
// up over seconds, so each fault has a threshold for each of four ranges of the time since τ: the tail over flights without a
// fault (an exponential beyond the 90 % quantile of the largest values in blocks of time), extrapolated to a stated rate of false
// alarms. Of each half of these flights D is computed by a whitening that was fitted to the other half.
package attribution
